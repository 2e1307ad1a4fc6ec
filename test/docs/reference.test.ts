/** Compares the generated parts of the documentation with the code. `npm run golden` rewrites them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { carquet } from "../support/command-line.ts";
import { topCommands } from "./command-list.ts";
import { pages, pageText } from "./markdown.ts";
import { references } from "./reference.ts";

const isWriting = process.env.GOLDEN === "write";
const end = "<!-- end of generated -->";

/** The generated parts of a page: the name and the text of each. */
const generatedParts = (page: string): readonly (readonly [name: string, text: string])[] =>
  [...pageText(page).matchAll(/<!-- generated: (\w+) -->\n\n(.*?)\n\n<!-- end of generated -->/gs)].map(
    ([, name = "", text = ""]) => [name, text],
  );

describe("a generated part of the documentation agrees with the code", () => {
  for (const page of pages)
    for (const [name, shown] of generatedParts(page))
      test(`${page}: ${name}`, () => {
        const generated = references[name]?.() ?? "";
        const marker = `<!-- generated: ${name} -->`;
        if (isWriting)
          writeFileSync(
            projectPath(page),
            pageText(page).replace(`${marker}\n\n${shown}\n\n${end}`, () => `${marker}\n\n${generated}\n\n${end}`),
          );
        else assert.equal(shown, generated, `${page}: run npm run golden`);
      });
});

test("every reference is in the documentation once", () => {
  const used = pages.flatMap(generatedParts).map(([name]) => name);
  assert.deepEqual([...used].sort(), Object.keys(references).sort());
});

test("the list of commands is that of the program", async () => {
  const { out } = await carquet(["--help"]);
  const named = [...out.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name ?? "").filter((name) => name !== "help");
  assert.deepEqual(
    topCommands.map((command) => command.name()),
    named,
  );
});

test("every environment variable that the service reads is documented", () => {
  const sources = readdirSync(projectPath("src"), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(ts|cjs)$/.test(path))
    .map((path) => readFileSync(join(projectPath("src"), path), "utf8"));
  const variables = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/process\.env\.(\w+)|\benv: "(\w+)"/g)].map(([, read, set]) => read ?? set ?? ""),
    ),
  );
  const page = pageText("docs/configuration.md");
  assert.ok(variables.size > 1);
  assert.deepEqual(
    [...variables].filter((variable) => !page.includes(`\`${variable}\``)),
    [],
  );
});
