import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { projectPath, projectText } from "../../src/base/project.ts";
import { lakeOf } from "../support/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import { serviceOf } from "../support/service.ts";

/** Where requests lie beside their answers over the sample: those that the document shows, and others. */
const folders = ["schemas/examples", "test/golden"].map(projectPath);

/** `npm run golden` writes the answers instead of comparing them. */
const isWriting = process.env.GOLDEN === "write";

const { lake } = await lakeOf(wholeFile);
const client = await serviceOf(wholeFile, lake);

const requests = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".url"))
    .map((file) => join(folder, file.slice(0, -".url".length))),
);

for (const path of requests) {
  const request = readFileSync(`${path}.url`, "utf8").trim();
  test(`the sample answers ${request} as it did`, async () => {
    const answer = `${JSON.stringify((await client.get(request)).body, null, 2)}\n`;
    if (isWriting) writeFileSync(`${path}.json`, answer);
    const golden = existsSync(`${path}.json`) ? readFileSync(`${path}.json`, "utf8") : "";
    if (golden === answer) return rmSync(`${path}.changed`, { force: true });
    writeFileSync(`${path}.changed`, answer);
    assert.fail(`${path}.json is not the answer, which is ${path}.changed; npm run golden takes it over`);
  });
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
