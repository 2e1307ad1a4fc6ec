import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { implementationsOf } from "../support/implementations.ts";
import { lakeOf } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

/** Where requests lie beside their answers over the sample: those that the document shows, and others. */
const folders = ["schemas/examples", "test/golden"].map(projectPath);

/** `npm run golden` writes the answers of the first implementation, and compares those of the other with them. */
const isWriting = process.env.GOLDEN === "write";

const { lake } = await lakeOf(wholeFile);
const implementations = await implementationsOf(wholeFile, lake);

const requests = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".url"))
    .map((file) => join(folder, file.slice(0, -".url".length))),
);

/** How the file is called that an implementation writes its answer to where it is another one. */
const changedBy = { "the serving files": "changed", "the Parquet files": "parquet.changed" } as const;

for (const [place, { name, client, confirm }] of implementations.entries()) {
  for (const path of requests) {
    const request = readFileSync(`${path}.url`, "utf8").trim();
    test(`${name} of the sample answer ${request} as they did`, async () => {
      const answer = `${JSON.stringify((await client.get(request)).body, null, 2)}\n`;
      if (isWriting && place === 0) writeFileSync(`${path}.json`, answer);
      const golden = existsSync(`${path}.json`) ? readFileSync(`${path}.json`, "utf8") : "";
      const changed = `${path}.${changedBy[name]}`;
      if (golden === answer) return rmSync(changed, { force: true });
      writeFileSync(changed, answer);
      assert.fail(`${path}.json is not the answer, which is ${changed}; npm run golden takes it over`);
    });
  }

  test(`${name} have answered, and no others`, confirm);
}

test("every golden answer has its request", () => {
  const answers = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith(".json"))
      .map((file) => join(folder, file.slice(0, -".json".length))),
  );
  assert.deepEqual(answers.sort(), [...requests].sort());
});

/** What the document shows an invented answer for: what depends on the clock, and its own beginning. */
const invented = ["usage", "document"];

test("the document's examples of answers are golden ones, but for a few", () => {
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
    invented,
  );
});
