/** Golden answers: requests and their stored answers over the sample. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { sampleService } from "../support/http/service.ts";
import { openBothWays } from "../support/implementations.ts";
import { fileScope } from "../support/scope.ts";

/** Folders with requests beside their golden answers over the sample: the document's examples, and others. */
const folders = ["schemas/examples", "test/golden"].map(projectPath);

/** `npm run golden` writes the answers of the serving files, and compares those of the Parquet files. */
const isWriting = process.env.GOLDEN === "write";

const { lake, client } = await sampleService();
const both = await openBothWays(fileScope, lake);

const requests = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".url"))
    .map((file) => join(folder, file.slice(0, -".url".length))),
);

for (const path of requests) {
  const request = readFileSync(`${path}.url`, "utf8").trim();
  test(`the sample answers ${request} as before, from serving files and from Parquet files`, async () => {
    const { status, body } = await client.get(request);
    if (isWriting) writeFileSync(`${path}.json`, textOf(body));
    assertGolden(path, body);
    // Some refusals are those of a service.
    if (status === 200) assertGolden(path, (await both.parquet.get(request)).body);
  });
}

test("both answered from their files", both.assertNoFallback);

const textOf = (body: unknown): string => `${JSON.stringify(body, null, 2)}\n`;

/** Fails if an answer differs from the golden one, and writes it beside that. */
function assertGolden(path: string, body: unknown): void {
  const golden = existsSync(`${path}.json`) ? readFileSync(`${path}.json`, "utf8") : "";
  if (golden === textOf(body)) {
    rmSync(`${path}.changed`, { force: true });
    return;
  }
  writeFileSync(`${path}.changed`, textOf(body));
  assert.fail(`${path}.json differs from ${path}.changed: if the change is intended, run npm run golden.`);
}

test("every golden answer has a request", () => {
  const answers = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => join(folder, file.slice(0, -".json".length))),
  );
  assert.deepEqual(answers.sort(), [...requests].sort());
});

/** Examples of the document that are not golden: they depend on the clock, on chance or on the document itself. */
const notGolden = ["usage", "search", "searches", "document"];

test("the document's other examples of answers are golden", () => {
  const { components } = parse(projectText("schemas/openapi.yaml"));
  const examples = Object.entries<{ readonly externalValue?: string }>(components.examples);
  const golden = examples.filter(([, { externalValue }]) => externalValue !== undefined);
  for (const [key, { externalValue }] of golden) assert.equal(externalValue, `examples/${key}.json`);
  assert.deepEqual(
    golden.map(([key]) => projectPath(`schemas/examples/${key}`)).sort(),
    requests.filter((path) => path.startsWith(projectPath("schemas/examples"))).sort(),
  );
  assert.deepEqual(
    examples.filter((example) => !golden.includes(example)).map(([key]) => key),
    notGolden,
  );
});
