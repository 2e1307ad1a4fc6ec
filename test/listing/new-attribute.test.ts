/** Adds two attributes to a copy of the project, in three files, and requests them from the copy. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { skipInShortRun } from "../support/extent.ts";
import { csvOf, dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import type { AnswerRequest, LakeAnswers } from "./print-answers.ts";

/** The product and its child program, without the oracle, which lists every parameter. */
const copiedPaths = [
  ...["bin", "clients", "src", "schemas", "data", "package.json", "tsconfig.json"],
  ...["test/listing/print-answers.ts", "test/support/versions.ts", "test/support/scope.ts"],
];

/** One attribute of builds and one of listings, each with the row that it follows. */
const newAttributes = { engine_aspiration: "assembly_country", title_status: "pricing" } as const;
const names = Object.keys(newAttributes);

const copy = await realpath(await temporaryFolder(fileScope));

const run = async (command: string, ...args: readonly string[]): Promise<string> => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(CARQUET|NODE_TEST)_/.test(key)));
  const result = await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 2 ** 26 }).catch(
    (failed: Error & { readonly stdout?: string }) => assert.fail(`${failed.message}\n${failed.stdout ?? ""}`),
  );
  return result.stdout;
};

/** Runs the copy's answers, compiled, with the index and from Parquet only. */
async function answersOfCopy(request: AnswerRequest): Promise<readonly LakeAnswers[]> {
  const compiled = (await run(process.execPath, "bin/compile.cjs", "src", "test")).trim();
  const program = join(compiled, "test/listing/print-answers.js");
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

/**
 * Copies the entries of `engine` in the document for another attribute: two parameters, a field, a facet, a build
 * property.
 */
const addToDocument = (text: string, name: string): string =>
  [
    [/^( +- \{\$ref: "#\/components\/parameters\/(exclude_)?)engine"\}\n/gm, `$&$1${name}"}\n`],
    [/^( {4}(?:exclude_)?)engine(:\n +name: (?:exclude_)?)engine(\n(?: {6}.*\n)+)/gm, `$&\n$1${name}$2${name}$3`],
    [/^( +)engine: \{type: \[string, "null"\].*\}\n/gm, `$&$1${name}: {type: [string, "null"]}\n`],
    [/\bengine, /g, `engine, ${name}, `],
  ].reduce((document, [what, by]) => replaceAllOrFail(document, what as RegExp, by as string), text);

/** Copies the project and adds the attributes to the document, the schema and the feed. */
async function addAttributes(): Promise<void> {
  for (const path of copiedPaths) await cp(projectPath(path), join(copy, path), { recursive: true });
  await symlink(await realpath(projectPath("node_modules")), join(copy, "node_modules"));
  for (const [name, last] of Object.entries(newAttributes)) {
    await edit("schemas/openapi.yaml", (text) => addToDocument(text, name));
    const row = `  ${name}: { type: "VARCHAR", feed: "spelled", search: "category" },\n`;
    await edit("src/listing/schema.ts", (text) =>
      replaceAllOrFail(text, new RegExp(`^  ${last}: .*\n`, "m"), `$&${row}`),
    );
    const field = JSON.stringify({ type: "string", maxLength: 64 });
    await edit("schemas/feed.json", (text) => replaceAllOrFail(text, /"model_code": \{/, `"${name}": ${field}, $&`));
  }
  await run("npm", "run", "-s", "generate");
}

if (!skipInShortRun) await addAttributes();

test("a new attribute compiles with one row of the schema", { skip: skipInShortRun }, async () => {
  await run(process.execPath, "node_modules/typescript/bin/tsc", "--noEmit");
});

test("a searched attribute that the document lacks does not compile", { skip: skipInShortRun }, async (t) => {
  const schema = await readFile(join(copy, "src/listing/schema.ts"), "utf8");
  t.after(() => writeFile(join(copy, "src/listing/schema.ts"), schema));
  const attribute = `undocumented: { type: "VARCHAR", feed: "field", search: "category" }, `;
  const sort = `unsorted: { type: "INTEGER", feed: "field", search: "number", range: "unranged", sort: "unsorted" }, `;
  const history = `untold: { type: "INTEGER", feed: "history" }, unruled: { type: "INTEGER", feed: "rule" }, `;
  await writeFile(
    join(copy, "src/listing/schema.ts"),
    replaceAllOrFail(schema, /^const listings = \{\n/m, `$&${attribute}${sort}${history}\n`),
  );
  const compilation = promisify(execFile)(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"], {
    cwd: copy,
  });
  const { stdout } = await compilation.then(
    () => assert.fail("it compiles"),
    (failed: { readonly stdout: string }) => failed,
  );
  const errors: readonly RegExp[] = [
    /query\/filters\.ts.*undocumented/,
    /query\/filters\.ts.*unranged/,
    /listing\/sorts\.ts/,
    /ingest\/lifecycle\/.*untold/,
    /ingest\/lifecycle\/.*unruled/,
  ];
  const lines = stdout.replaceAll("\n  ", " ");
  for (const error of errors) assert.match(lines, error);
});

const cars = [
  { engine_aspiration: "Turbocharged", title_status: "Clean" },
  { engine_aspiration: "turbocharged", title_status: "Salvage" },
  { engine_aspiration: "Turbocharged", title_status: "clean" },
  { engine_aspiration: "Supercharged", title_status: "" },
  { engine_aspiration: "", title_status: "Clean" },
].map((car, n) => ({
  vin: vinOf(n),
  dealer_id: dealerIdOf(1),
  make: "Honda",
  model: "Civic",
  price: 20_000 + n,
  ...car,
}));

/** The numbers of the cars that a search finds, by price, with their served attributes. */
const numberedListings = (body: unknown): readonly (readonly unknown[])[] => {
  const { data } = body as { readonly data: readonly Readonly<Record<string, unknown>>[] };
  return data.map((listing) => [Number(String(listing.vin).slice(-6)), ...names.map((name) => listing[name])]);
};
const numbersIn = (body: unknown): readonly unknown[] => numberedListings(body).map(([number]) => number);

test("a new attribute is read, served, filtered, excluded and counted, with the index and from Parquet alike", {
  skip: skipInShortRun,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const dealers = csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }]);
  await writeFeedFiles(folder, "2026-03-20", { "dealers.csv": dealers, "inventory.csv": csvOf("inventory", cars) });
  const search = `/v1/listings?sort=price&fields=${names.join()}`;
  const both = await answersOfCopy({
    lake: join(folder, "lake"),
    feeds: join(folder, "2026-03-20"),
    paths: [
      search,
      ...["engine_aspiration=TURBOCHARGED", "exclude_engine_aspiration=turbocharged"].map(
        (query) => `${search}&${query}`,
      ),
      ...["title_status=clean", "exclude_title_status=clean,salvage"].map((query) => `${search}&${query}`),
      `${search}&engine_aspiration=turbocharged&title_status=clean`,
      `/v1/facets?facets=${names.join()}`,
      "/v1/facets?facets=title_status&engine_aspiration=turbocharged",
      `/v1/vins/${vinOf(1)}`,
    ],
  });
  assert.deepEqual(
    both.map(({ hasIndex }) => hasIndex),
    [true, false],
  );
  assert.deepEqual(both[0]?.bodies, both[1]?.bodies);
  const [all, turbo, notTurbo, clean, neither, combined, facets, narrowed, vin] = both[0]?.bodies ?? [];
  assert.deepEqual(numberedListings(all), [
    [0, "Turbocharged", "Clean"],
    [1, "Turbocharged", "Salvage"],
    [2, "Turbocharged", "Clean"],
    [3, "Supercharged", null],
    [4, null, "Clean"],
  ]);
  assert.deepEqual([turbo, notTurbo, clean, neither, combined].map(numbersIn), [
    [0, 1, 2],
    [3, 4],
    [0, 2, 4],
    [3],
    [0, 2],
  ]);
  const buckets = (body: unknown): unknown => (body as { readonly data: { readonly facets: unknown } }).data.facets;
  assert.deepEqual(buckets(facets), {
    engine_aspiration: [
      { value: "Turbocharged", count: 3 },
      { value: "Supercharged", count: 1 },
    ],
    title_status: [
      { value: "Clean", count: 3 },
      { value: "Salvage", count: 1 },
    ],
  });
  assert.deepEqual(buckets(narrowed), {
    title_status: [
      { value: "Clean", count: 2 },
      { value: "Salvage", count: 1 },
    ],
  });
  const { build } = (vin as { readonly data: { readonly build: Readonly<Record<string, unknown>> } }).data;
  assert.deepEqual([build.engine_aspiration, build.title_status], ["Turbocharged", "Salvage"]);
});

test("a lake from before a new attribute answers null for it, with and without an index", {
  skip: skipInShortRun,
}, async (t) => {
  const { lake } = await createLake(t);
  await run(process.execPath, "bin/carquet.cjs", "index", "--lake", lake);
  const paths = [
    `/v1/listings?fields=${names.join()}`,
    `/v1/facets?facets=${names.join()}`,
    "/v1/listings?title_status=clean",
  ];
  const both = await answersOfCopy({ lake, paths });
  assert.deepEqual(
    both.map(({ hasIndex }) => hasIndex),
    [true, false],
  );
  for (const { bodies } of both) {
    const [listings, facets, none] = bodies;
    assert.ok(numberedListings(listings).length > 0);
    for (const [, ...values] of numberedListings(listings)) assert.deepEqual(values, [null, null]);
    const counted = (facets as { readonly data: { readonly facets: unknown } }).data.facets;
    assert.deepEqual(counted, { engine_aspiration: [], title_status: [] });
    assert.deepEqual(numberedListings(none), []);
  }
});
