/** Serving files: building, damage, fallback and repair. */
import assert from "node:assert/strict";
import { cp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "../../src/base/files.ts";
import { textIn } from "../../src/base/json.ts";
import { indexLake } from "../../src/cli/commands/index-lake.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { literal, sql } from "../../src/db/sql.ts";
import { SqliteEngine } from "../../src/db/sqlite.ts";
import { currentManifest, type Manifest, manifestPath, type ServingFile } from "../../src/lake/manifest.ts";
import type { LakeVersion } from "../../src/serving/lake-version.ts";
import { verifyServingFiles } from "../../src/serving/verify-serving-files.ts";
import { carquet, eventually } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { changeByte, listFilesAnew } from "../support/lakes/contents.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const original = await createLakeOfEveryState(fileScope);

/** Copies a lake with listings in every state. */
async function copyLake(scope: Scope): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(original.lake, lake, { recursive: true });
  return lake;
}

const manifestOf = async (lake: string): Promise<Manifest> =>
  (await currentManifest(lake)) ?? assert.fail("nothing is published");

const fileOf = (manifest: Manifest, kind: ServingFile["kind"]): ServingFile =>
  manifest.serving.find((candidate) => candidate.kind === kind) ?? assert.fail(`no file of ${kind}`);

/** The listings that are looked up: the first two in each state, and in the short run every eighth of the others. */
const lookedUp = original.listings.filter(
  ({ state }, index, all) =>
    index % extentOf(8, 1) === 0 || all.filter((other) => other.state === state).indexOf(all[index] ?? {}) < 2,
);

/** Returns pages, facets, and look-ups of listings by id and VIN. */
async function allAnswers(version: LakeVersion): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  const paths = [
    ...[
      "/v1/listings?make=honda",
      "/v1/listings?sort=-price&fields=default,features",
      "/v1/listings?inventory_status=sold",
    ],
    "/v1/facets?facets=make,price",
    ...lookedUp.flatMap((row) => [
      `/v1/listings/${textIn(row, "id").replaceAll("-", "")}`,
      `/v1/vins/${textIn(row, "vin")}`,
    ]),
  ];
  for (const path of paths) {
    const body = (await answerPath(version, path)) as { data: unknown; pagination?: unknown };
    answers.set(path, { data: body.data, pagination: body.pagination });
  }
  return answers;
}

const expected = await allAnswers(await openVersion(fileScope, original.lake, { hasServingFiles: false }));

test("a publisher builds the index and one row file per Parquet file of listings, once per run", async () => {
  const manifest = await manifestOf(original.lake);
  const states = new Set(original.listings.map(({ state }) => state));
  assert.deepEqual([...states].sort(), ["active", "ended", "missing", "sold"]);
  assert.deepEqual(
    manifest.serving.map(({ kind }) => kind).filter((kind) => kind === "index"),
    ["index"],
  );
  for (const { path, bytes } of manifest.serving) {
    assert.equal((await stat(join(original.lake, path))).size, bytes);
    assert.match(
      path,
      new RegExp(`^serving/${manifest.version.replaceAll(".", "\\.")}-`),
      "built for the last day only",
    );
  }
  const version = await openVersion(fileScope, original.lake);
  assert.deepEqual(version.served, { index: true, rows: true });
  assert.deepEqual(await allAnswers(version), expected);
});

/** Damage to a serving file, and the kind that is then not used. */
const damages: readonly (readonly [
  what: string,
  kind: ServingFile["kind"],
  damage: (path: string, file: ServingFile) => Promise<unknown>,
])[] = [
  ["a missing index", "index", (path) => rm(path)],
  ["a truncated index", "index", (path, { bytes }) => truncate(path, bytes - 4096)],
  ["an index with a changed byte", "index", (path, { bytes }) => changeByte(path, Math.floor(bytes / 2))],
  ["a missing row file", "rows", (path) => rm(path)],
  ["a row file with a changed byte", "rows", (path, { bytes }) => changeByte(path, Math.floor(bytes / 2))],
  ["a truncated row file", "rows", (path, { bytes }) => truncate(path, bytes - 4096)],
];

for (const [what, kind, damage] of damages) {
  test(`with ${what}, Parquet answers, the fault is reported once, and carquet index repairs it`, async (scope) => {
    const lake = await copyLake(scope);
    const file = fileOf(await manifestOf(lake), kind);
    await damage(join(lake, file.path), file);
    const reported: string[] = [];
    const version = await openVersion(scope, lake, { onFallback: (message) => reported.push(message) });
    assert.deepEqual(await allAnswers(version), expected);
    assert.equal(version.served[kind], false);
    assert.equal(reported.length, 1, reported.join("\n"));
    assert.match(reported[0] ?? "", kind === "index" ? /^search index: / : /^row store: /);
    assert.equal((await indexLake({ lake })).built, 1);
    const repaired = await openVersion(scope, lake);
    assert.deepEqual(repaired.served, { index: true, rows: true });
    assert.deepEqual(await allAnswers(repaired), expected);
    assert.equal((await indexLake({ lake })).built, 0, "every file is built");
  });
}

/** Changes the row files of a lake by a statement, and lists them anew. */
async function changeRowFiles(lake: string, statement: string): Promise<void> {
  for (const { kind, path } of (await manifestOf(lake)).serving) {
    if (kind === "index") continue;
    const file = new SqliteEngine(join(lake, path));
    file.exec(statement);
    file.close();
  }
  await listFilesAnew(lake);
}

for (const [what, statement] of [
  ["a row with a wrong checksum", "UPDATE rows SET vin = '1HGCM82633A999999' WHERE vin = (SELECT min(vin) FROM rows)"],
  ["a row in another place", "UPDATE rows SET place = -1 WHERE place = 0; UPDATE rows SET place = 0 WHERE place = 1"],
  ["a Bloom filter with a wrong checksum", "UPDATE file SET vins = replace(vins, 'A', 'B')"],
] as const) {
  test(`${what} is not served, and Parquet answers`, async (scope) => {
    const lake = await copyLake(scope);
    await changeRowFiles(lake, statement);
    const reported: string[] = [];
    const version = await openVersion(scope, lake, { onFallback: (message) => reported.push(message) });
    assert.deepEqual(await allAnswers(version), expected);
    assert.equal(reported.length, 1, reported.join("\n"));
    assert.match(reported[0] ?? "", /checksum|Unknown row/);
    const faults = await verifyServingFiles(lake, await manifestOf(lake), { threads: 1 }, () => undefined);
    assert.match(faults.join("\n"), /^serving\/\S+: (\d+ of \d+ rows differ from listings|.*match their checksum)/m);
  });
}

test("serving files of another format are not used", async (scope) => {
  const lake = await copyLake(scope);
  const manifest = await manifestOf(lake);
  const serving = manifest.serving.map((file) => ({ ...file, format: "another" }));
  await replaceFile(manifestPath(lake, manifest.version), JSON.stringify({ ...manifest, serving }));
  const version = await openVersion(scope, lake);
  assert.deepEqual(version.served, { index: false, rows: false });
  assert.deepEqual(await allAnswers(version), expected);
  assert.equal((await indexLake({ lake })).built, serving.length);
  assert.deepEqual((await openVersion(scope, lake)).served, { index: true, rows: true });
});

test("a service whose index fails continues, and adopts the one that carquet index publishes", async (scope) => {
  const lake = await copyLake(scope);
  const { path } = fileOf(await manifestOf(lake), "index");
  await rm(join(lake, path));
  const client = await startService(scope, lake);
  const total = async (): Promise<number> =>
    (await client.getBody("searchListings", "/v1/listings?make=honda")).pagination.total;
  const before = await total();
  assert.ok(before > 0);
  const serving = async (): Promise<unknown> => ((await client.get("/readyz")).body as { serving: unknown }).serving;
  assert.deepEqual(await serving(), { index: false, rows: true, fallbacks: 1 });
  const { version } = JSON.parse((await carquet(["index", "--lake", lake, "--json"])).out);
  const served = async (): Promise<string> =>
    (await client.getBody("searchListings", "/v1/listings?limit=1")).meta.version;
  await eventually("the new version is served", async () => (await served()) === version);
  assert.equal(await total(), before);
  assert.deepEqual(await serving(), { index: true, rows: true, fallbacks: 1 });
});

test("a version with a Parquet file that differs from its manifest does not open", async (scope) => {
  for (const damage of ["size", "content"] as const) {
    const lake = await copyLake(scope);
    const manifest = await manifestOf(lake);
    const file = manifest.tables.builds[0] ?? assert.fail("no builds");
    const path = join(lake, file.path);
    if (damage === "size") await writeFile(path, Buffer.concat([await readFile(path), Buffer.from("x")]));
    else await changeByte(path, 100);
    await assert.rejects(openVersion(scope, lake), damage === "size" ? /expected \d+ bytes/ : /SHA-256/);
  }
});

test("carquet verify compares the search index with the current snapshot", async (scope) => {
  const lake = await copyLake(scope);
  const { path } = fileOf(await manifestOf(lake), "index");
  const database = await DuckDatabase.open();
  await database.using(async (session) => {
    await session.run(sql`ATTACH ${literal(join(lake, path))} AS changed`);
    await session.run(sql`UPDATE changed.listings SET price = price + 1 WHERE position = 0`);
    await session.run(sql`DETACH changed`);
  });
  database.close();
  await listFilesAnew(lake);
  const { code, out } = await carquet(["verify", "--lake", lake]);
  assert.equal(code, 1);
  assert.match(out, /^serving\/\S+: statistics of numbers differ from the current snapshot$/m);
});
