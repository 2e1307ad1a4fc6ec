/** Adds two attributes to a copy of the project, in three files, and asks the copy for them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { csvOf, dealerIdOf, deliverFiles, vinOf } from "../support/lakes/feeds.ts";
import { fixtureLake } from "../support/lakes/fixtures.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";
import type { Answers, AskedPaths } from "./answers.ts";

/** The program, and what asks it: the tests' oracle has its own word on every parameter. */
const copied = [
  ...["src", "schemas", "data", "package.json", "tsconfig.json"],
  ...["test/listing/answers.ts", "test/support/versions.ts", "test/support/scope.ts"],
];

/** One attribute of builds, and one of listings. */
const added = { engine_aspiration: "assembly_country", title_status: "pricing" } as const;
const names = Object.keys(added);

const copy = await realpath(await temporaryFolder(wholeFile));

const run = async (command: string, ...args: readonly string[]): Promise<string> => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(CARQUET|NODE_TEST)_/.test(key)));
  const done = await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 2 ** 26 }).catch(
    (failed: Error & { readonly stdout?: string }) => assert.fail(`${failed.message}\n${failed.stdout ?? ""}`),
  );
  return done.stdout;
};

const runModule = (path: string, ...args: readonly string[]): Promise<string> =>
  run(process.execPath, "--import", "tsx", path, ...args);

/** What the copy answers, by the index and by Parquet alone. */
async function answers(asked: AskedPaths): Promise<readonly Answers[]> {
  return JSON.parse(await runModule("test/listing/answers.ts", JSON.stringify(asked)));
}

/** Replaces a text wherever it is, at least once. */
function replaced(text: string, what: RegExp, by: string): string {
  const changed = text.replace(what, by);
  assert.ok(changed !== text, `${what} is nowhere`);
  return changed;
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(join(copy, path), change(await readFile(join(copy, path), "utf8")));
}

/** Says of an attribute in the document what it says of `engine`: two parameters, a field, a facet, a property of builds. */
const documented = (text: string, name: string): string =>
  [
    [/^( +- \{\$ref: "#\/components\/parameters\/(exclude_)?)engine"\}\n/gm, `$&$1${name}"}\n`],
    [/^( {4}(?:exclude_)?)engine(:\n +name: (?:exclude_)?)engine(\n(?: {6}.*\n)+)/gm, `$&\n$1${name}$2${name}$3`],
    [/^( +)engine: \{type: \[string, "null"\]\}\n/gm, `$&$1${name}: {type: [string, "null"]}\n`],
    [/\bengine, /g, `engine, ${name}, `],
  ].reduce((document, [what, by]) => replaced(document, what as RegExp, by as string), text);

/** Copies the project and adds the attributes to the document, the schema and the feed. */
async function addAttributes(): Promise<void> {
  for (const path of copied) await cp(projectPath(path), join(copy, path), { recursive: true });
  await symlink(await realpath(projectPath("node_modules")), join(copy, "node_modules"));
  for (const [name, last] of Object.entries(added)) {
    await edit("schemas/openapi.yaml", (text) => documented(text, name));
    const row = `  ${name}: { type: "VARCHAR", feed: "spelled", search: "category" },\n`;
    await edit("src/listing/schema.ts", (text) => replaced(text, new RegExp(`^  ${last}: .*\n`, "m"), `$&${row}`));
    const field = JSON.stringify({ type: "string", maxLength: 64 });
    await edit("schemas/feed.json", (text) => replaced(text, /"model_code": \{/, `"${name}": ${field}, $&`));
  }
  await run("npm", "run", "-s", "generate");
}

await addAttributes();

test("a new attribute compiles with one row of the schema", async () => {
  await run(process.execPath, "node_modules/typescript/bin/tsc", "--noEmit");
});

test("a searched attribute that the document lacks does not compile", async (t) => {
  const schema = await readFile(join(copy, "src/listing/schema.ts"), "utf8");
  t.after(() => writeFile(join(copy, "src/listing/schema.ts"), schema));
  const attribute = `undocumented: { type: "VARCHAR", feed: "field", search: "category" }, `;
  const sort = `unsorted: { type: "INTEGER", feed: "field", search: "number", range: "unranged", sort: "unsorted" }, `;
  const history = `untold: { type: "INTEGER", feed: "history" }, unruled: { type: "INTEGER", feed: "rule" }, `;
  await writeFile(
    join(copy, "src/listing/schema.ts"),
    replaced(schema, /^const listings = \{\n/m, `$&${attribute}${sort}${history}\n`),
  );
  const done = promisify(execFile)(process.execPath, ["node_modules/typescript/bin/tsc", "--noEmit"], { cwd: copy });
  const { stdout } = await done.then(
    () => assert.fail("it compiles"),
    (failed: { readonly stdout: string }) => failed,
  );
  const complaints: readonly RegExp[] = [
    /query\/filters\.ts.*undocumented/,
    /query\/filters\.ts.*unranged/,
    /listing\/sorts\.ts/,
    /ingest\/lifecycle\/.*untold/,
    /ingest\/lifecycle\/.*unruled/,
  ];
  const lines = stdout.replaceAll("\n  ", " ");
  for (const complaint of complaints) assert.match(lines, complaint);
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

/** The numbers of the cars that a search finds, by price, and what it serves of them. */
const found = (body: unknown): readonly (readonly unknown[])[] => {
  const { data } = body as { readonly data: readonly Readonly<Record<string, unknown>>[] };
  return data.map((listing) => [Number(String(listing.vin).slice(-6)), ...names.map((name) => listing[name])]);
};
const numbersIn = (body: unknown): readonly unknown[] => found(body).map(([number]) => number);

test("a new attribute is read, served, matched, excluded and counted, by the index and by Parquet alike", async (t) => {
  const folder = await temporaryFolder(t);
  const dealers = csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }]);
  await deliverFiles(folder, "2026-03-20", { "dealers.csv": dealers, "inventory.csv": csvOf("inventory", cars) });
  const search = `/v1/listings?sort=price&fields=${names.join()}`;
  const both = await answers({
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
  const [all, turbo, notTurbo, clean, neither, together, facets, narrowed, vin] = both[0]?.bodies ?? [];
  assert.deepEqual(found(all), [
    [0, "Turbocharged", "Clean"],
    [1, "Turbocharged", "Salvage"],
    [2, "Turbocharged", "Clean"],
    [3, "Supercharged", null],
    [4, null, "Clean"],
  ]);
  assert.deepEqual([turbo, notTurbo, clean, neither, together].map(numbersIn), [
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

test("a lake from before a new attribute answers null for it, with and without an index", async (t) => {
  const lake = await fixtureLake(t, 1);
  await runModule("src/main.ts", "index", "--lake", lake);
  const paths = [
    `/v1/listings?fields=${names.join()}`,
    `/v1/facets?facets=${names.join()}`,
    "/v1/listings?title_status=clean",
  ];
  const both = await answers({ lake, paths });
  assert.deepEqual(
    both.map(({ hasIndex }) => hasIndex),
    [true, false],
  );
  for (const { bodies } of both) {
    const [listings, facets, none] = bodies;
    assert.ok(found(listings).length > 0);
    for (const [, ...values] of found(listings)) assert.deepEqual(values, [null, null]);
    const counted = (facets as { readonly data: { readonly facets: unknown } }).data.facets;
    assert.deepEqual(counted, { engine_aspiration: [], title_status: [] });
    assert.deepEqual(found(none), []);
  }
});
