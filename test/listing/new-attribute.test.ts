/** Adds attributes of each kind to a copy of the project, in three files, and requests them from the copy. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { isObject } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { skipInShortRun } from "../support/extent.ts";
import { csvOf, dealerIdOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { CheckedProgram } from "./checked-program.ts";
import { answers, cars, findings } from "./new-attribute-answers.ts";
import { documentChanges, newAttributes, newNames, wrongRows } from "./new-attributes.ts";
import type { AnswerRequest, LakeAnswers } from "./print-answers.ts";

/** The product and its child program, without the oracle, which lists every parameter. */
const copiedPaths = [
  ...["bin", "clients", "src", "schemas", "data", "package.json", "tsconfig.json"],
  ...["test/listing/print-answers.ts", "test/support/versions.ts", "test/support/scope.ts"],
];

const copy = await realpath(await temporaryFolder(fileScope));

const run = async (command: string, ...args: readonly string[]): Promise<string> => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(CARQUET|NODE_TEST)_/.test(key)));
  const result = await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 2 ** 26 }).catch(
    (failed: Error & { readonly stdout?: string }) => assert.fail(`${failed.message}\n${failed.stdout ?? ""}`),
  );
  return result.stdout;
};

/** Compiles the copy. Returns the folder of its modules. */
const compiledCopy = async (): Promise<string> =>
  (await run(process.execPath, "bin/compile.cjs", "src", "test")).trim();

/** Returns the copy's answers, from serving files and from what the service reads into memory without them. */
async function answersOfCopy(request: AnswerRequest): Promise<readonly LakeAnswers[]> {
  const program = join(await compiledCopy(), "test/listing/print-answers.js");
  return JSON.parse(await run(process.execPath, program, JSON.stringify(request)));
}

/** Replaces every match of a pattern; fails without a match. */
function replaceAllOrFail(text: string, what: RegExp, by: string): string {
  const changed = text.replace(what, by);
  assert.ok(changed !== text, `${what} has no match`);
  return changed;
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(join(copy, path), change(await readFile(join(copy, path), "utf8")));
}

/** Changes a document outside the schemas of vehicles that are valued, which have chosen attributes. */
function outsideValuations(document: string, change: (text: string) => string): string {
  const schemas: string[] = [];
  const masked = document.replaceAll(/^ {4}(?:ValuedSubject|ComparableListing):\n(?: {6}.*\n)+/gm, (schema) => {
    schemas.push(schema);
    return `    # schema ${schemas.length}\n`;
  });
  assert.equal(schemas.length, 2);
  return change(masked).replaceAll(/^ {4}# schema (\d)\n/gm, (_, number) => schemas[Number(number) - 1] ?? "");
}

/** Copies the project and adds the attributes to the document, the schema and the feed. */
async function addAttributes(): Promise<void> {
  for (const path of copiedPaths) await cp(projectPath(path), join(copy, path), { recursive: true });
  await symlink(await realpath(projectPath("node_modules")), join(copy, "node_modules"));
  for (const [name, attribute] of newAttributes) {
    await edit("schemas/openapi.yaml", (document) =>
      outsideValuations(document, (text) =>
        documentChanges(name, attribute).reduce((changed, [what, by]) => replaceAllOrFail(changed, what, by), text),
      ),
    );
    await edit("src/listing/schema.ts", (schema) =>
      replaceAllOrFail(schema, new RegExp(`^  ${attribute.after}: .*\\n`, "m"), `$&  ${name}: ${attribute.row},\n`),
    );
    const field = JSON.stringify(attribute.field);
    await edit("schemas/feed.json", (feed) =>
      replaceAllOrFail(
        feed,
        attribute.table === "dealers" ? /"line1": \{/ : /"model_code": \{/,
        `"${name}": ${field}, $&`,
      ),
    );
  }
  await run("npm", "run", "-s", "generate");
}

if (!skipInShortRun) await addAttributes();

test("a new attribute compiles with one row of the schema, unless nothing fills, searches or documents it", {
  skip: skipInShortRun,
}, async () => {
  const checked = new CheckedProgram(copy);
  assert.deepEqual(checked.errors(), []);
  const schema = await readFile(join(copy, "src/listing/schema.ts"), "utf8");
  const wrong = Object.entries(wrongRows).reduce((changed, [table, rows]) => {
    const lines = Object.entries(rows).map(([name, row]) => `  ${name}: ${row},\n`);
    return replaceAllOrFail(changed, new RegExp(`^const ${table} = \\{\n`, "m"), `$&${lines.join("")}`);
  }, schema);
  const errors = checked.errorsWith("src/listing/schema.ts", wrong, [
    ...["src/listing/schema.ts", "src/listing/sorts.ts", "src/query/filters.ts"],
    ...["src/ingest/lifecycle/lifecycle.ts", "src/ingest/lifecycle/delivered-listings.ts"],
  ]);
  const expected: readonly RegExp[] = [
    ...["fractional", "ruled", "listed", "remembered", "dated"].map((name) => new RegExp(`schema\\.ts: +${name}:`)),
    ...[/filters\.ts.*undocumented/, /filters\.ts.*unranged/, /sorts\.ts.*unsorted/],
    ...[/lifecycle\.ts.*untold/, /delivered-listings\.ts.*unruled/],
  ];
  for (const error of expected) assert.match(errors.join("\n"), error);
});

/** The listings that a search found. */
const listingsIn = (body: unknown): readonly Readonly<Record<string, unknown>>[] =>
  (body as { readonly data: readonly Readonly<Record<string, unknown>>[] }).data;

/** The part of a value that is named in another one. */
function partOf(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, index) => partOf(item, like[index]));
  if (!isObject(value) || !isObject(like)) return value;
  return Object.fromEntries(Object.keys(like).map((key) => [key, partOf(value[key], like[key])]));
}

test("new attributes are read, served, filtered, sorted, counted and measured", { skip: skipInShortRun }, async (t) => {
  const folder = await temporaryFolder(t);
  const dealers = [4.5, 3.9].map((rating, n) => ({
    dealer_id: dealerIdOf(1 + n),
    name: `No. ${n}`,
    state: "CA",
    rating,
  }));
  const files = { "dealers.csv": csvOf("dealers", dealers), "inventory.csv": csvOf("inventory", cars) };
  for (const day of ["2026-03-19", "2026-03-20"]) await writeFeedFiles(join(folder, "feeds"), day, files);
  const lake = join(folder, "lake");
  const searches = findings.map(
    ([query]) => `/v1/listings?make=honda${query.includes("sort=") ? "" : "&sort=price"}&${query}`,
  );
  const paths = [...searches, ...answers.map(([path]) => path)];
  const both = await answersOfCopy({ lake, feeds: join(folder, "feeds"), paths });
  assert.deepEqual(
    both.map(({ hasIndex }) => hasIndex),
    [true, false],
  );
  for (const { bodies } of both) {
    for (const [index, [query, numbers]] of findings.entries())
      assert.deepEqual(
        listingsIn(bodies[index]).map(({ vin }) => Number(String(vin).slice(-6))),
        numbers,
        query,
      );
    for (const [index, [path, expected]] of answers.entries())
      assert.deepEqual(partOf(listingsIn(bodies[findings.length + index]), expected), expected, path);
  }
  const columns =
    "(SELECT count(*)::INTEGER FROM builds) AS builds, horsepower, battery_kwh, rating, price_trend, warranties";
  const query = `SELECT ${columns} FROM active WHERE price = 20003`;
  const rows = await run(process.execPath, "bin/carquet.cjs", "sql", "--lake", lake, "--format", "json", query);
  const served = { horsepower: 306, battery_kwh: 99.9, rating: 4.5, price_trend: 12.75, warranties: ["Rust"] };
  assert.deepEqual(JSON.parse(rows), [{ builds: 15, ...served }]);
});

test("a new attribute is shown where its row says", { skip: skipInShortRun }, async () => {
  const compiled = await compiledCopy();
  const program = `
    import { facetDefinitions } from "${compiled}/src/web/shop/facets.js";
    import { tools } from "${compiled}/src/mcp/tools.js";
    console.log(JSON.stringify({ facets: facetDefinitions, parameters: tools[0].parameters }));`;
  const { facets, parameters } = JSON.parse(await run(process.execPath, "--input-type=module", "--eval", program));
  const added = facets.filter(({ name }: { readonly name: string }) => newNames.includes(name));
  assert.deepEqual(added, [
    { name: "battery_kwh", title: "Battery", parameters: ["min_battery", "max_battery"], isOpen: false },
    { name: "engine_aspiration", title: "Aspiration", parameters: ["engine_aspiration"], isOpen: false },
  ]);
  for (const name of ["engine_aspiration", "min_battery", "max_battery"]) assert.ok(parameters.includes(name), name);
});
