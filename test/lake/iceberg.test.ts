/** Iceberg metadata: that of each version lists its files, at every moment and in every location. */
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { icebergFiles } from "../../src/lake/iceberg/metadata.ts";
import { fieldsOf, idsOf } from "../../src/lake/iceberg/table-schema.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { currentManifest, currentPath, currentVersion, type Manifest } from "../../src/lake/manifest.ts";
import { type TableName, tableNames } from "../../src/lake/tables.ts";
import { openVersionFolder, rewritePaths, writeVersionFolder } from "../../src/lake/writer/version-folder.ts";
import { nextManifest, publish, withWriter } from "../../src/lake/writer/writer.ts";
import { extentOf, sampled } from "../support/extent.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import {
  icebergFaults,
  icebergVersion,
  type ManifestEntry,
  readAvro,
  readIceberg,
  readIcebergFiles,
} from "../support/lakes/iceberg.ts";
import { ingestPath, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLakeOfSevenDays, sevenDays } from "../support/lakes/seven-days.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const days = sevenDays;
const last = days.at(-1) ?? "";
const { lake: original, feeds } = await createLakeOfSevenDays(fileScope);

/** Copies the lake of seven days. Its metadata has the paths of the original. */
const copyOfSevenDays = (scope: Scope): Promise<string> => temporaryCopy(scope, original);

async function publishedManifest(lake: string): Promise<Manifest> {
  return (await currentManifest(lake)) ?? assert.fail("nothing is published");
}

/** Publishes the published version again, as `index` does. */
async function publishAgain(lake: string): Promise<void> {
  const published = await publishedManifest(lake);
  await withWriter(lake, {}, (writer) => publish(lake, nextManifest(writer, published, published.as_of)));
}

test("the metadata of every table lists the files of the published version, also after a replay and a vacuum", async (t) => {
  assert.deepEqual(await icebergFaults(original), []);
  const lake = await copyOfSevenDays(t);
  await ingestPath(lake, feeds, { replayFrom: days[5] ?? "", hasServingFiles: false });
  assert.deepEqual([await icebergFaults(lake), await icebergVersion(lake, "sold")], [[], `${last}.2`]);
  const retention = { months: 1, versionDays: 0 };
  await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now() + 7_200_000, 3_600_000));
  assert.deepEqual([await icebergFaults(lake), await icebergVersion(lake, "sold")], [[], `${last}.3`]);
});

test("the bounds of a file have the size of their type, a boolean of one byte", async (t) => {
  const manifest = await publishedManifest(original);
  const folder = await temporaryFolder(t);
  const file = { path: "files/x.parquet", partition: null, rows: 2, bytes: 1, sha256: "" };
  const boundsOf = async (table: TableName, min: string, max: string): Promise<readonly string[]> => {
    const tables = { ...manifest.tables, [table]: [{ ...file, min, max }] };
    const files = await icebergFiles({ ...manifest, tables }, table, "file:///lake");
    const [content] = files.values();
    await writeFile(join(folder, table), content ?? assert.fail());
    const [entry] = await readAvro<ManifestEntry>(join(folder, table));
    return [entry?.data_file.lower_bounds, entry?.data_file.upper_bounds].map(
      (bounds) => bounds?.[0]?.value.toString("hex") ?? "",
    );
  };
  assert.deepEqual(await boundsOf("price_effects", "0", "1"), ["00", "01"]);
  assert.deepEqual(await boundsOf("builds", "1", "258"), ["01000000", "02010000"]);
  assert.deepEqual(await boundsOf("feeds", "1970-01-01", "1970-01-02"), ["00000000", "01000000"]);
  assert.deepEqual(await boundsOf("listings", "A", "B"), ["41", "42"]);
});

test("a version's metadata has the same bytes when it is written again", async (t) => {
  const lake = await copyOfSevenDays(t);
  const manifest = await publishedManifest(lake);
  const before = await readIcebergFiles(lake, manifest.version);
  assert.equal(before.size, 4 * tableNames.length);
  const location = (await readIceberg(lake, "sold")).location.replace("/current/iceberg/sold", "");
  await withWriter(lake, {}, () => rewritePaths(lake, location));
  for (const [path, content] of await readIcebergFiles(lake, manifest.version))
    assert.ok(before.get(path)?.equals(content), path);
});

test("a later version is a later snapshot of the same table", async (t) => {
  const lake = await copyOfSevenDays(t);
  await withWriter(lake, {}, () => rewritePaths(lake));
  const before = await readIceberg(lake, "builds");
  assert.equal(before["current-snapshot-id"], Number(`${last.replaceAll("-", "")}00001`));
  await publishAgain(lake);
  const after = await readIceberg(lake, "builds");
  assert.equal(after["table-uuid"], before["table-uuid"]);
  for (const number of ["current-snapshot-id", "last-sequence-number", "last-updated-ms"] as const)
    assert.ok(after[number] > before[number], number);
});

test("a reader that opened a table before a publish reads the files of its version", async (t) => {
  const lake = await copyOfSevenDays(t);
  await withWriter(lake, {}, () => rewritePaths(lake));
  const { snapshots } = await readIceberg(lake, "builds");
  await publishAgain(lake);
  const list = (snapshots[0]?.["manifest-list"] ?? "").replace("file://", "");
  assert.ok((await readFile(list)).includes(`/versions/${last}.1/iceberg/builds/metadata/manifest.avro`));
});

test("field ids are unique and the same in every release", () => {
  const known = JSON.parse(projectText("test/lake/field-ids.json")) as Record<string, object>;
  for (const table of tableNames) {
    const all = idsOf(fieldsOf(table));
    assert.equal(new Set(all).size, all.length, table);
    assert.ok(Math.max(...all) < 2 ** 31 - 1000, table);
    const ids = Object.fromEntries(fieldsOf(table).map(({ id, name }) => [name, id]));
    assert.deepEqual({ ...ids, ...known[table] }, ids, `${table}: ids of test/lake/field-ids.json`);
    assert.deepEqual(
      Object.keys(ids).filter((name) => !(name in (known[table] ?? {}))),
      [],
      `${table}: add new columns`,
    );
  }
});

test("a copied lake gets the paths of its folder with the next publish, or of a given location from then on", async (t) => {
  const lake = await copyOfSevenDays(t);
  await publishAgain(lake);
  assert.equal((await readIceberg(lake, "sold")).location, `file://${lake}/current/iceberg/sold`);
  assert.deepEqual(await icebergFaults(lake), []);
  await withWriter(lake, {}, () => rewritePaths(lake, "s3://bucket/lake"));
  for (const version of [`${last}.2`, `${last}.3`]) {
    const { location, snapshots } = await readIceberg(lake, "builds");
    assert.equal(location, "s3://bucket/lake/current/iceberg/builds");
    const list = `s3://bucket/lake/versions/${version}/iceberg/builds/metadata/snapshot.avro`;
    assert.equal(snapshots[0]?.["manifest-list"], list);
    assert.deepEqual([await icebergFaults(lake), await lakeFaults(lake)], [[], []]);
    await publishAgain(lake);
  }
});

test("readers find the old version or the new one wherever a publish is killed", async (t) => {
  const lake = await copyOfSevenDays(t);
  const published = await publishedManifest(lake);
  const manifest = await withWriter(lake, {}, async (writer) => nextManifest(writer, published, last));
  await writeVersionFolder(lake, manifest);
  assert.equal(await icebergVersion(lake, "sold"), published.version);
  await withWriter(lake, {}, (writer) => publish(lake, nextManifest(writer, published, last)));
  await openVersionFolder(lake, published);
  await writeVersionFolder(lake, manifest);
  assert.equal(await icebergVersion(lake, "sold"), published.version, "killed after CURRENT was replaced");
  await withWriter(lake, {}, async () => undefined);
  assert.deepEqual([await icebergFaults(lake), await icebergVersion(lake, "sold")], [[], manifest.version]);
});

test("a day that is ingested again after CURRENT went back gets a version of another name", async (t) => {
  const lake = await copyOfSevenDays(t);
  await writeFile(currentPath(lake), `${days.at(-2)}.1\n`);
  await ingestPath(lake, join(feeds, last), { hasServingFiles: false });
  assert.equal(await currentVersion(lake), `${last}.2`);
  assert.deepEqual(await icebergFaults(lake), []);
});

const damages: Readonly<Record<string, (content: Buffer, at: number) => Buffer>> = {
  "cut short": (content) => content.subarray(0, content.length / 2),
  changed: (content, at) => Buffer.from(content.map((byte, index) => (index === at ? byte ^ 255 : byte))),
};

test("verify names the file of Iceberg metadata that is missing, cut short or changed, and the command repairs it", async (t) => {
  const lake = await copyOfSevenDays(t);
  assert.deepEqual(await lakeFaults(lake), [], "a copy, whose metadata has the paths of the original");
  const shares = extentOf([0.5], [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]);
  const files = await readIcebergFiles(lake, `${last}.1`);
  const isNamed = async (path: string): Promise<boolean> =>
    (await lakeFaults(lake)).some((fault) => fault.startsWith(`${path}: missing or changed: `));
  for (const [path, content] of sampled(
    [...files].filter(([name]) => name.includes("/feeds/")),
    2,
  )) {
    for (const [damage, change] of Object.entries(damages))
      for (const share of damage === "changed" ? shares : [0]) {
        await writeFile(join(lake, path), change(content, Math.floor(share * content.length)));
        assert.ok(await isNamed(path), `${path}, ${damage} at ${share}`);
      }
    await rm(join(lake, path));
    assert.ok(await isNamed(path), path);
  }
  await withWriter(lake, {}, () => rewritePaths(lake));
  assert.deepEqual(await lakeFaults(lake), []);
});
