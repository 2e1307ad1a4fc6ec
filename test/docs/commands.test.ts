/**
 * Runs the commands of README.md and docs/ in order, each page in its own terminal, and compares the outputs that they show.
 *
 * A block `sh` is run: every command must end with code 0, every response must have a status below 300; the flag `status=400` expects that status,
 * `no-test` names commands that are not run, each with its reason in the table below, `no-test=systemd` a whole block that is not run, with its
 * reason under `systemd`. A block with the flag `output` shows the output of the command before it: `json` an excerpt of it (with `shape`, of its
 * keys), all others the whole text, or its first lines and a line `...`. With `chart=<name>`, the whole output is drawn and compared with that
 * image in docs/images/analysts. A block `sql` is run on the lake.
 *
 * `npm run golden` rewrites the texts and the charts.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import { renderChart } from "../../bench/report/svg-chart.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { skipInShortRun } from "../support/extent.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { createLake, queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { type AnswerRow, answerCharts } from "./answer-charts.ts";
import { differences, linesShown } from "./excerpt.ts";
import { type FencedBlock, fencedBlocks, flagOf, pages, rewriteBlocks } from "./markdown.ts";
import { Terminal, type TerminalResult } from "./terminal.ts";

/** Pages whose commands start without a lake, or with the demo lake; all others start with that of the sample delivery. */
const startEmpty: ReadonlySet<string> = new Set(["docs/ingest.md"]);
const startWithDemo: ReadonlySet<string> = new Set([
  ...["README.md", "docs/getting-started.md", "docs/analysts.md", "docs/open-from-elsewhere.md"],
]);

/** The page that `npm test` runs: that with the most commands of the API. `CARQUET_TESTS=every` runs all. */
const shortRun: ReadonlySet<string> = new Set(["docs/api.md"]);

const isWriting = process.env.GOLDEN === "write";

/** Commands that are not run, and why. */
const notRun: Readonly<Record<string, string>> = {
  "npm run -s carquet -- ingest --queue feeds": "the run of a scheduler; test/deploy runs it as the systemd unit does",
  "npm run -s carquet -- run --sources sources.yaml --queue feeds": "serves until it is stopped; test/sources runs it",
  "npm run bench -- --listings 1000000": "takes hours; test/bench runs the suite's parts",
  "npm run bench -- --listings 200000 --quick --against HEAD~1": "takes long, and needs an earlier commit",
  engines: "needs the other engines; test/other-engines runs the recipes",
  interactive: "needs the duckdb program and a person; test/lake opens catalog.duckdb in another DuckDB",
  bucket: "needs an object store; test/lake checks the metadata for another location",
  container: "needs a container engine; test/deploy runs the steps of the image, and the image",
  systemd: "changes the machine; test/deploy checks the units and runs the ingest script",
  clients: "needs the generators; test/clients runs them, and the clients",
  postgres: "needs a server; test/accounts runs both engines, and ledger copy",
  sbom: "not a command of carquet; test/cli compares the list with the lock file",
  package: "needs the registry of npm; test/deploy installs and starts the package",
  suite: "is the run of this test",
  remote: "needs a web server or a bucket; test/replication follows and pushes to both",
};

const isSkipped = ({ flags }: FencedBlock): boolean => flags.some((flag) => /^no-test(=|$)/.test(flag));
const isRun = (block: FencedBlock): boolean => block.language === "sh" && !isSkipped(block);

/** The commands of a block: continued lines are joined, quoted texts may have several lines, comments are left out. */
const commandsIn = ({ text }: FencedBlock): readonly string[] =>
  [
    ...text
      .replaceAll(/^\s*#.*$/gm, "")
      .replaceAll(/\\\n\s*/g, "")
      .matchAll(/(?:"[^"]*"|'[^']*'|[^"'\n])+/g),
  ]
    .map(([command]) => command.trim())
    .filter((command) => command !== "");

const chartsFolder = "docs/images/analysts";

const { lake } = await createLake(fileScope);

/** Runs the commands of a block; returns the result of the last one. */
async function runBlock(terminal: Terminal, block: FencedBlock): Promise<TerminalResult | undefined> {
  const status = flagOf(block, "status");
  let last: TerminalResult | undefined;
  for (const command of commandsIn(block)) {
    const message = `${block.location}: ${command}`;
    last = await terminal.run(command);
    assert.equal(last.code, 0, `${message}\n${last.out}${last.err}`);
    for (const found of last.statuses)
      assert.ok(status === undefined ? found < 300 : found === Number(status), `${message}: ${found} ${last.out}`);
  }
  return last;
}

/** Fails unless a block shows the output of the command before it. */
function checkOutput({ location, language, flags, text }: FencedBlock, result: TerminalResult | undefined): void {
  assert.ok(result, `${location}: no command before this output`);
  const compared = flags.includes("shape") ? "shape" : "values";
  if (language === "json")
    assert.deepEqual(differences(JSON.parse(text), JSON.parse(result.out), compared), [], location);
  else assert.equal(linesShown(text, result.out), text.trim(), location);
}

/** Fails unless an image is the chart of a command's output, a CSV. */
function checkChart(name: string, result: TerminalResult | undefined): void {
  const rows: readonly AnswerRow[] = parse(result?.out ?? "", { columns: true });
  const chart = answerCharts[name];
  assert.ok(chart, `no chart ${name} in test/docs/answer-charts.ts`);
  const drawn = renderChart(chart(rows));
  const image = projectPath(`${chartsFolder}/${name}.svg`);
  if (isWriting) writeFileSync(image, drawn);
  assert.ok(existsSync(image) && readFileSync(image, "utf8") === drawn, `${image}: run npm run golden`);
}

/** The lakes of a page, by their paths in its terminal. */
async function lakesOf(page: string): Promise<Readonly<Record<string, string>>> {
  if (startWithDemo.has(page)) return { "data/lake": await demoLake() };
  return startEmpty.has(page) ? {} : { "data/lake-sample": lake };
}

/** Runs the blocks of a page in order; returns the texts that its outputs should show. */
async function runPage(terminal: Terminal, blocks: readonly FencedBlock[]): Promise<ReadonlyMap<FencedBlock, string>> {
  const texts = new Map<FencedBlock, string>();
  let last: TerminalResult | undefined;
  for (const block of blocks) {
    const chart = flagOf(block, "chart");
    if (isRun(block)) last = await runBlock(terminal, block);
    else if (block.flags.includes("output")) {
      if (isWriting && block.language !== "json") texts.set(block, linesShown(block.text, last?.out ?? ""));
      else checkOutput(block, last);
      if (chart !== undefined) checkChart(chart, last);
    } else if (block.language === "sql")
      assert.notDeepEqual(await queryLake(terminal.lake, block.text), [], block.location);
  }
  return texts;
}

describe("the commands of a page work in order", { concurrency: 3 }, () => {
  for (const page of pages) {
    const blocks = fencedBlocks(page);
    if (!blocks.some(isRun) && !blocks.some(({ language }) => language === "sql")) continue;
    test(page, { skip: !isWriting && !shortRun.has(page) && skipInShortRun }, async (scope) => {
      const terminal = await Terminal.open(scope, await lakesOf(page));
      const texts = await runPage(terminal, blocks);
      if (texts.size > 0) rewriteBlocks(page, texts);
      await terminal.stop();
    });
  }
});

test("every chart is drawn from an answer, and is the only image of its name", () => {
  const drawn = pages.flatMap(fencedBlocks).flatMap((block) => flagOf(block, "chart") ?? []);
  assert.deepEqual([...drawn].sort(), Object.keys(answerCharts).sort());
  assert.deepEqual(readdirSync(projectPath(chartsFolder)).sort(), drawn.map((name) => `${name}.svg`).sort());
});

test("every command that is not run has a reason, and every reason a command", () => {
  const skipped = pages.flatMap(fencedBlocks).filter(isSkipped);
  const named = skipped.flatMap((block) => flagOf(block, "no-test") ?? commandsIn(block));
  assert.deepEqual([...new Set(named)].sort(), Object.keys(notRun).sort());
});

test("every script that the documentation runs with npm exists", () => {
  const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(projectPath("package.json"), "utf8"),
  );
  const lifecycle = ["start", "test"];
  const named = pages.flatMap((page) => [
    ...readFileSync(projectPath(page), "utf8").matchAll(/npm (?:run (?:-s )?([\w:]+)|(start|test)\b)/g),
  ]);
  const unknown = named.flatMap(([, script, short]) => {
    const name = script ?? short ?? "";
    return name in scripts || lifecycle.includes(name) ? [] : [name];
  });
  assert.deepEqual([named.length > 0, unknown], [true, []]);
});
