/** The folder of the published version: a table's folder, read whole, is right; any DuckDB opens the catalog without Carquet. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, link, mkdir, readdir, readlink, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Batch } from "../../src/ingest/batch.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { currentManifest, currentVersion } from "../../src/lake/manifest.ts";
import { rewritePaths, versionFolderFaults, writeVersionFolder } from "../../src/lake/writer/version-folder.ts";
import { nextManifest, publish, withWriter } from "../../src/lake/writer/writer.ts";
import { skipInShortRun } from "../support/extent.ts";
import { changeByte, lakeFaults } from "../support/lakes/contents.ts";
import { ingestPath, queryLake, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLakeOfSevenDays, sevenDays } from "../support/lakes/seven-days.ts";
import { differingFolders } from "../support/lakes/version-folder.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const days = sevenDays;
const { lake: original, feeds } = await createLakeOfSevenDays(fileScope);

/** Copies the lake. The catalog of the copy has the paths of the original. */
const copyOf = (scope: Scope): Promise<string> => temporaryCopy(scope, original);

test("a table's folder read whole has the rows of the published version after each day, also after a replay", {
  skip: skipInShortRun,
}, async (t) => {
  const lake = join(await temporaryFolder(t), "lake");
  for (const day of days) {
    await ingestPath(lake, join(feeds, day), { hasServingFiles: false });
    assert.deepEqual(await differingFolders(lake), [], day);
  }
  const tables = (await currentManifest(lake))?.tables;
  const march = tables?.feeds.filter(({ partition }) => partition === "2026-03");
  assert.equal(march?.length, 1, "a closed month is one file");
  await ingestPath(lake, feeds, { replayFrom: days[5] ?? "", hasServingFiles: false });
  assert.equal(await currentVersion(lake), `${days.at(-1)}.2`);
  assert.deepEqual(await differingFolders(lake), []);
  await assert.rejects(ingestPath(lake, feeds, { replayFrom: days[6] ?? "" }), /which was itself replayed/);
  await ingestPath(lake, feeds, { replayFrom: days[5] ?? "", hasServingFiles: false });
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
});

const foldersIn = async (lake: string): Promise<readonly string[]> =>
  (await readdir(join(lake, "versions"))).filter((name) => !/\.(json|sql)$/.test(name)).sort();

test("only the published version and the one before it have a folder, and links to no other file", async (t) => {
  const lake = await copyOf(t);
  const folders = () => foldersIn(lake);
  const both = [`${days.at(-2)}.1`, `${days.at(-1)}.1`];
  assert.deepEqual(await folders(), both);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await folders(), both, "after a writer that published nothing");
  await withWriter(lake, {}, (writer) =>
    vacuum(writer, { months: 1, versionDays: 0 }, Date.now() + 7_200_000, 3_600_000),
  );
  assert.deepEqual(await folders(), [`${days.at(-1)}.2`]);
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
});

test("readers of the version that a batch replaces keep its folder until the next writer", async (t) => {
  const lake = await copyOf(t);
  const last = days.at(-1) ?? "";
  await withWriter(lake, {}, async (writer) => {
    const second = nextManifest(writer, await currentManifest(lake), last);
    const third = { ...second, version: `${last}.3`, sequence: 3, previous: second.version };
    const batch = new Batch(lake);
    for (const day of [second, third]) await batch.add(day);
    await batch.publish();
  });
  assert.deepEqual(await foldersIn(lake), [`${last}.1`, `${last}.3`]);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await foldersIn(lake), [`${last}.3`]);
});

test("verify finds a wrong folder, and the next writer repairs a wrong link", async (t) => {
  const lake = await copyOf(t);
  const listings = join(lake, "current", "listings");
  const [name = ""] = await readdir(listings);
  const fault = async (): Promise<string> => (await lakeFaults(lake)).join("; ");
  await writeFile(join(listings, "more.parquet"), "more");
  assert.match(await fault(), /^versions\/\S+\/listings\/more.parquet: not a file of the version$/);
  await rm(join(listings, "more.parquet"));
  await rename(join(listings, name), join(lake, "moved"));
  assert.match(await fault(), /another file: expected files\/listings\//);
  await cp(join(lake, "moved"), join(listings, name));
  assert.equal(await fault(), "", "a copy counts like a link");
  await changeByte(join(listings, name), 100);
  assert.match(await fault(), /another file: expected files\/listings\//);
  const folder = join(lake, await readlink(join(lake, "current")));
  await rename(folder, `${folder}-moved`);
  assert.match(await fault(), /^current: links to versions\/\S+, which does not exist$/);
  await rename(`${folder}-moved`, folder);
  await unlink(join(lake, "current"));
  await symlink("elsewhere", join(lake, "current"));
  assert.match(await fault(), /^current: links to elsewhere: expected versions\//);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual([await fault(), await differingFolders(lake)], ["", []]);
});

test("the open folder stays whole while it is written again, and a writer completes what a killed one has left", async (t) => {
  const lake = await copyOf(t);
  await withWriter(lake, {}, () => rewritePaths(lake));
  const manifest = (await currentManifest(lake)) ?? assert.fail("no version");
  const both = await foldersIn(lake);
  const folder = join(lake, "versions", manifest.version);
  await mkdir(join(lake, "ICEBERG_LOCATION"));
  await assert.rejects(writeVersionFolder(lake, manifest), /EISDIR/);
  await rm(join(lake, "ICEBERG_LOCATION"), { recursive: true });
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await foldersIn(lake), both);
  await rename(folder, `${folder}.old`);
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual(await foldersIn(lake), both);
  assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
});

test("verify finds no fault in the folder of a version that is replaced meanwhile", async (t) => {
  const lake = await copyOf(t);
  const manifest = (await currentManifest(lake)) ?? assert.fail("no version");
  await withWriter(lake, {}, (writer) => publish(lake, nextManifest(writer, manifest, manifest.as_of)));
  assert.deepEqual(await versionFolderFaults(lake, manifest), []);
});

test("the next writer repairs copies that followed links or left them out", async (t) => {
  const followed = join(await temporaryFolder(t), "lake");
  await cp(original, followed, { recursive: true, dereference: true });
  const without = await copyOf(t);
  for (const name of ["current", "catalog.duckdb", `versions/${days.at(-1)}.1`])
    await rm(join(without, name), { recursive: true });
  assert.deepEqual(await lakeFaults(without), [], "a backup may omit files that follow from the manifest");
  for (const lake of [followed, without]) {
    await withWriter(lake, {}, async () => undefined);
    assert.equal(await readlink(join(lake, "current")), `versions/${days.at(-1)}.1`);
    assert.deepEqual([await differingFolders(lake), await lakeFaults(lake)], [[], []]);
  }
});

test("a damaged or lost file stops no publish, and the views that need it fail by name", async (t) => {
  const lake = await copyOf(t);
  for (const { path } of (await currentManifest(lake))?.tables.sold ?? []) await writeFile(join(lake, path), "damaged");
  for (const { path } of (await currentManifest(lake))?.tables.dealers ?? []) await rm(join(lake, path));
  await withWriter(lake, {}, () => rewritePaths(lake));
  const views = await queryCatalog(lake, "SELECT view_name FROM duckdb_views() WHERE NOT internal");
  for (const name of ["builds", "feeds", "sold", "dealers", "active"]) assert.ok(views.includes(name), name);
  await queryCatalog(lake, "FROM builds");
  for (const name of ["sold", "dealers", "active"])
    await assert.rejects(queryCatalog(lake, `FROM ${name}`), new RegExp(`VIEW "${name}" cannot be read: `));
});

/** Asks a catalog in another process, with another working directory and DuckDB's defaults. */
async function queryCatalog(lake: string, ...queries: readonly string[]): Promise<string> {
  const script = `
    const { DuckDBInstance } = require(${JSON.stringify(createRequire(import.meta.url).resolve("@duckdb/node-api"))});
    (async () => {
      const [path, name, ...queries] = process.argv.slice(1);
      const memory = await DuckDBInstance.create(name === "" ? path : ":memory:", name === "" ? { access_mode: "READ_ONLY" } : {});
      const connection = await memory.connect();
      if (name !== "") await connection.run("ATTACH '" + path + "' AS " + name + " (READ_ONLY)");
      const answers = [];
      for (const query of queries) answers.push((await connection.runAndReadAll(query)).getRowsJson());
      process.stdout.write(JSON.stringify(answers));
    })();`;
  const name = queries.some((query) => query.includes("FROM market.")) ? "market" : "";
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["-e", script, join(lake, "catalog.duckdb"), name, ...queries],
    { cwd: "/" },
  );
  return stdout;
}

test("any DuckDB opens catalog.duckdb without Carquet, and answers as carquet sql does", async (t) => {
  const lake = await copyOf(t);
  await withWriter(lake, {}, () => rewritePaths(lake));
  const views = await queryLake(lake, "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1");
  const relations = [
    ...views.map(({ view_name }) => String(view_name)),
    `snapshot('${days[3]}')`,
    `between_days('${days[1]}', '${days[4]}')`,
  ];
  assert.ok(relations.length > 20);
  const question = (relation: string): string =>
    `SELECT count(*)::VARCHAR AS n, sum(hash(rows))::VARCHAR AS content FROM ${relation} AS rows`;
  const expected: unknown[] = [];
  for (const relation of relations)
    expected.push((await queryLake(lake, question(relation))).map((row) => Object.values(row)));
  assert.deepEqual(JSON.parse(await queryCatalog(lake, ...relations.map(question))), expected);
  const attached = relations.map((relation) => question(`market.${relation}`));
  assert.deepEqual(JSON.parse(await queryCatalog(lake, ...attached)), expected, "attached, without USE");
  await assert.rejects(queryCatalog(lake, "FROM snapshot('2027-01-01')"), /expected a day with a snapshot/);
});

test("the catalog describes every view and every column", async () => {
  const answers = await queryCatalog(
    original,
    "SELECT view_name FROM duckdb_views() WHERE NOT internal AND coalesce(comment, '') = ''",
    `SELECT table_name, column_name FROM duckdb_columns()
     WHERE table_name IN (SELECT view_name FROM duckdb_views() WHERE NOT internal) AND coalesce(comment, '') = ''`,
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'active' AND column_name = 'price_drops'",
  );
  assert.deepEqual(JSON.parse(answers), [[], [], [["How often the price has dropped."]]]);
});

test("a moved lake gets a catalog of its location by the command iceberg and by a publish", async (t) => {
  const lake = await copyOf(t);
  await withWriter(lake, {}, () => rewritePaths(lake));
  const moved = `${lake}-moved`;
  await rename(lake, moved);
  await assert.rejects(queryCatalog(moved, "SELECT count(*) FROM active"), /No files found/);
  await withWriter(moved, {}, () => rewritePaths(moved));
  assert.equal(await queryCatalog(moved, "SELECT count(*)::INTEGER FROM active"), "[[[4]]]");
});

test("files that other programs put beside a table's folder stay, and nothing else is in it", async (t) => {
  const lake = await copyOf(t);
  await mkdir(join(lake, "listings"));
  await writeFile(join(lake, "listings", "mine.parquet"), "mine");
  await link(join(lake, "CURRENT"), join(lake, "listings", "CURRENT"));
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual((await readdir(join(lake, "listings"))).sort(), ["CURRENT", "mine.parquet"]);
  for (const entry of await readdir(join(lake, "current"), { recursive: true, withFileTypes: true }))
    assert.ok(
      entry.isDirectory() || entry.parentPath.endsWith("/metadata") || /\.parquet$|^catalog\.duckdb$/.test(entry.name),
      entry.name,
    );
});
