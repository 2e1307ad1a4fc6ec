/**
 * The document beside `released.json`, on which clients rely, by oasdiff. What breaks clients fails here unless `npm run released` renews the copy,
 * which is a decision. The copy has no words for people.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { document } from "../../src/contract/document.ts";
import { toolPaths, unavailableReason } from "../clients/tools.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";

const releasedPath = projectPath("test/contract/released.json");

/** Parts of the document that promise nothing to clients. */
const wordsForPeople = new Set(["description", "summary", "example", "examples"]);

/** Removes words for people from a part of the document. Names of properties and parameters are not among them. */
function withoutWords(part: unknown, isNames = false): unknown {
  if (Array.isArray(part)) return part.map((item) => withoutWords(item));
  if (!isObject(part)) return part;
  const kept = Object.entries(part).filter(([name]) => isNames || !wordsForPeople.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, withoutWords(value, name === "properties" && !isNames)]),
  );
}

const textOf = (part: unknown): string => `${JSON.stringify(withoutWords(part), null, 1)}\n`;

if (process.env.RELEASED === "write") writeFileSync(releasedPath, textOf(document));

/** Returns what breaks clients of the released document in another text of it, one fault a line. */
async function breakingIn(text: string, folder: string): Promise<readonly string[]> {
  const path = join(folder, "document.json");
  writeFileSync(path, text);
  const { status, stdout, stderr } = spawnSync(
    toolPaths.oasdiff,
    ["breaking", "--format", "singleline", "--fail-on", "WARN", releasedPath, path],
    { encoding: "utf8" },
  );
  assert.ok(status === 0 || status === 1, stderr);
  return status === 0 ? [] : stdout.trim().split("\n");
}

const skip = unavailableReason("oasdiff", { commands: [] });

test("no client of the released document breaks: else, `npm run released` renews test/contract/released.json", {
  skip,
}, async (t) => {
  assert.deepEqual(await breakingIn(textOf(document), await temporaryFolder(t)), []);
});

/** Changes of the document that break clients, each as a text and what replaces it. */
const breaking: readonly (readonly [what: string, from: RegExp, to: string])[] = [
  ["a path that goes", /"\/v1\/trends"/, '"/v1/trend"'],
  ["a parameter that goes", /"name": "max_price"/, '"name": "price_max"'],
  ["a value that goes", /"-days_on_market",/, ""],
  ["a field that goes", /"price_before": \{/, '"price_earlier": {'],
];

test("a change that breaks clients is found", { skip }, async (t) => {
  const released = readFileSync(releasedPath, "utf8");
  const folder = await temporaryFolder(t);
  for (const [what, from, to] of breaking) {
    assert.match(released, from, what);
    assert.notDeepEqual(await breakingIn(released.replace(from, to), folder), [], what);
  }
  const widened = released.replace('"x-extensible-enum": [', '"x-extensible-enum": [\n "one_more",');
  assert.deepEqual(await breakingIn(widened, folder), [], "a further code of errors");
});
