/** Golden answers: requests and their stored answers over the sample, for both implementations. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { serveBothWays } from "../support/implementations.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

/** Folders with requests beside their golden answers over the sample: the document's examples, and others. */
const folders = ["schemas/examples", "test/golden"].map(projectPath);

/** `npm run golden` writes the answers of the first implementation, and compares those of the other. */
const isWriting = process.env.GOLDEN === "write";

const { lake } = await createLake(fileScope);
const implementations = await serveBothWays(fileScope, lake);

const requests = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".url"))
    .map((file) => join(folder, file.slice(0, -".url".length))),
);

/** Extension of the file for a differing answer, by implementation. */
const changedBy = { "the serving files": "changed", "the Parquet files": "parquet.changed" } as const;

for (const [index, { name, client, assertNoFallback }] of implementations.entries()) {
  for (const path of requests) {
    const request = readFileSync(`${path}.url`, "utf8").trim();
    test(`${name} of the sample answer ${request} as before`, async () => {
      const answer = `${JSON.stringify((await client.get(request)).body, null, 2)}\n`;
      if (isWriting && index === 0) writeFileSync(`${path}.json`, answer);
      const golden = existsSync(`${path}.json`) ? readFileSync(`${path}.json`, "utf8") : "";
      const changed = `${path}.${changedBy[name]}`;
      if (golden === answer) return rmSync(changed, { force: true });
      writeFileSync(changed, answer);
      assert.fail(`${path}.json differs from the answer ${changed}: if the change is intended, run npm run golden.`);
    });
  }

  test(`${name} answered every request`, assertNoFallback);
}

test("every golden answer has a request", () => {
  const answers = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => join(folder, file.slice(0, -".json".length))),
  );
  assert.deepEqual(answers.sort(), [...requests].sort());
});

/** Examples of the document that are not golden: they depend on the clock or on the document itself. */
const notGolden = ["usage", "document"];

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
