/**
 * The scripted questions, asked of `carquet mcp` on the demo market. Their calls and sizes are a table of `docs/agents.md`, which
 * `npm run golden` writes.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { spawnAgent } from "../support/agents.ts";
import { skipInShortRun } from "../support/extent.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { questions, valueAt } from "./scripted-questions.ts";

const page = "docs/agents.md";
const start = "<!-- questions -->";
const end = "<!-- end of questions -->";
const thousand = (characters: number): string => (Math.round(characters / 100) / 10).toFixed(1);

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

const isWriting = process.env.GOLDEN === "write";

test("twenty questions are answered by few calls and short answers", {
  skip: !isWriting && skipInShortRun,
}, async (t) => {
  const agent = await spawnAgent(t, await demoLake());
  const { tools } = await agent.client.listTools();
  const lines = ["| question | tools | calls | answers |", "| --- | --- | --- | --- |"];
  const sums = { calls: 0, answers: 0 };
  for (const { asked, answer } of questions) {
    const names: string[] = [];
    const size = { calls: 0, answers: 0 };
    await answer(async (tool, args) => {
      const { isError, text, body, characters } = await agent.call(tool, args);
      assert.equal(isError, false, `${asked} ${tool}: ${text}`);
      assert.equal(valueAt(body, "meta", "unmatched"), undefined, `${asked} ${tool}`);
      assert.ok(characters < 20_000, `${asked} ${tool}: ${characters} characters`);
      names.push(`\`${tool}\``);
      size.calls += sizeOf(args);
      size.answers += characters;
      return body;
    });
    lines.push(`| ${asked} | ${names.join(", ")} | ${thousand(size.calls)} | ${thousand(size.answers)} |`);
    sums.calls += size.calls;
    sums.answers += size.answers;
  }
  lines.push(`| The list of tools | | | ${thousand(sizeOf(tools))} |`);
  lines.push(`| All together | | ${thousand(sums.calls)} | ${thousand(sums.answers + sizeOf(tools))} |`);
  const text = projectText(page);
  const written = text.replace(new RegExp(`${start}[^]*${end}`), () => `${start}\n\n${lines.join("\n")}\n\n${end}`);
  if (isWriting) writeFileSync(projectPath(page), written);
  else assert.equal(text, written, `${page}: run npm run golden`);
});
