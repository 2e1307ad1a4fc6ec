/** Generated files follow their sources, and generated validators agree with compiled ones. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { projectPath } from "../../src/base/project-files.ts";
import { createAjv } from "../../src/contract/build/compile.ts";
import { generatedFiles } from "../../src/contract/build/generated.ts";
import { operations, type Parameter } from "../../src/contract/document.ts";
import { validators } from "../../src/contract/generated/parameters.gen.js";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";

const largestBytes = 1_500_000;

for (const [path, text] of generatedFiles()) {
  test(`${path} is up to date with the schemas`, () => {
    assert.ok(readFileSync(projectPath(path), "utf8") === text, `${path} is out of date`);
    assert.ok(text.length < largestBytes, `${path} has ${text.length} characters`);
  });
}

test("the program is generated again only when a schema has changed", { skip: skipInShortRun }, async (scope) => {
  const copy = await temporaryFolder(scope);
  const copied = ["bin", "clients/typescript/src", "src/base", "src/contract", "schemas", "package.json"];
  for (const path of copied) await cp(projectPath(path), join(copy, path), { recursive: true });
  await symlink(await realpath(projectPath("node_modules")), join(copy, "node_modules"));
  const document = join(copy, "src/contract/generated/document.gen.json");
  const generate = async (): Promise<number> => {
    await promisify(execFile)(process.execPath, ["bin/generate.cjs"], { cwd: copy });
    return (await stat(document)).mtimeMs;
  };
  const first = await generate();
  assert.equal(await generate(), first);
  const schema = join(copy, "schemas/openapi.yaml");
  await writeFile(schema, (await readFile(schema, "utf8")).replace(/^ {2}title: .*/m, "  title: Changed"));
  assert.ok((await generate()) > first);
  assert.equal(JSON.parse(await readFile(document, "utf8")).info.title, "Changed");
  await rm(document);
  assert.ok((await generate()) > first, "a missing file is written again");
});

/** Values near the bounds of a parameter's schema, valid and invalid. */
function valuesFor({ schema }: Parameter): fc.Arbitrary<unknown> {
  const { items, minimum = 0, maximum = 0, maxLength = 0 } = { ...schema, ...schema.items };
  const words = [
    ...(schema.enum ?? []),
    ...(items?.enum ?? []),
    "2026-02-28",
    "2026-02-30",
    "2026-11-01T00:00:00Z",
    "🚗",
  ];
  const single = fc.oneof(
    fc.constantFrom<unknown>(...words, "", "ABC*", "0b8f6c1e-5d0a-5c3e-9a57-2f6d3b1c7e40", "02108"),
    fc.constantFrom<unknown>(
      minimum,
      minimum - 1,
      maximum,
      maximum + 1,
      minimum + 0.5,
      ...["x", "🚗", "\ud83d"].flatMap((text) => [text.repeat(maxLength), text.repeat(maxLength + 1)]),
    ),
    fc.string({ unit: "grapheme" }),
    fc.double(),
    fc.integer(),
  );
  const lengths = [schema.minItems, schema.maxItems].flatMap((length) => (length === undefined ? [] : [length]));
  return fc.oneof(
    single,
    fc.array(single),
    ...lengths.map((length) => fc.array(single, { minLength: length, maxLength: length + 1 })),
  );
}

describe("a generated validator agrees with one compiled from the document", () => {
  const ajv = createAjv();
  for (const { id, parameters } of operations.values()) {
    test(id, () => {
      for (const parameter of parameters) {
        const compiled = ajv.compile(parameter.schema);
        const generated = validators[id][parameter.in][parameter.name];
        assert.ok(generated, parameter.name);
        const assertAgreement = (value: unknown): void => {
          assert.equal(generated(value), compiled(value), `${parameter.name}: ${JSON.stringify(value)}`);
          assert.deepEqual(generated.errors?.[0], compiled.errors?.[0]);
        };
        fc.assert(fc.property(valuesFor(parameter), assertAgreement), { seed: 1, numRuns: extentOf(25, 200) });
      }
    });
  }
});
