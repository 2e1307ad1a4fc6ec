/** Iceberg metadata: the history of each table is that of the lake's versions, at every moment and in every place. */
import assert from "node:assert/strict";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { rewriteIcebergMetadata } from "../../src/lake/iceberg/rewrite.ts";
import { stageIcebergMetadata } from "../../src/lake/iceberg/stage.ts";
import { fieldsOf, icebergTables, nameMapping } from "../../src/lake/iceberg/table-schema.ts";
import { icebergMetadataFaults } from "../../src/lake/iceberg/verify-metadata.ts";
import { vacuum } from "../../src/lake/maintenance/vacuum.ts";
import { currentManifest, currentPath, currentVersion, manifestPath, manifestText } from "../../src/lake/manifest.ts";
import { nextManifest, publish, withWriter } from "../../src/lake/writer/writer.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import { icebergFaults, icebergVersions, listIcebergFiles, readIceberg } from "../support/lakes/iceberg.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createLakeOfSevenDays, sevenDays } from "../support/lakes/seven-days.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const days = sevenDays;
const { lake: original, feeds } = await createLakeOfSevenDays(fileScope);

/** Copies the lake of seven days, and writes its metadata for the copy's place. */
async function copyOfSevenDays(scope: Scope): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(original, lake, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  await withWriter(lake, {}, () => rewriteIcebergMetadata(lake));
  return lake;
}

test("each version is a snapshot of every table, with exactly its files", async () => {
  assert.deepEqual(await icebergFaults(original), []);
  assert.deepEqual(
    await icebergVersions(original, "sold"),
    days.map((day) => `${day}.1`),
  );
  const metadata = await readIceberg(original, "snapshots");
  assert.deepEqual(
    metadata?.snapshots.map((snapshot) => snapshot["snapshot-id"]),
    days.map((day) => Number(`${day.replaceAll("-", "")}00001`)),
  );
});

test("a new day writes the manifest of its month and keeps those before", async () => {
  const written = (await listIcebergFiles(original)).filter((path) => /^iceberg\/deliveries\/metadata\/\d/.test(path));
  assert.deepEqual(
    written.map((path) => path.slice(-"2026-03.avro".length)),
    [...days.slice(0, 2).map(() => "2026-03.avro"), ...days.slice(2).map(() => "2026-04.avro")],
  );
});

test("field ids are unique and the same in every release", () => {
  for (const table of icebergTables) {
    const ids = [...JSON.stringify(nameMapping(fieldsOf(table))).matchAll(/"field-id":(\d+)/g)].map(([, id]) =>
      Number(id),
    );
    assert.equal(new Set(ids).size, ids.length, table);
    assert.ok(Math.max(...ids) < 2 ** 31 - 1000, table);
  }
  const known = JSON.parse(projectText("test/lake/field-ids.json")) as Record<string, object>;
  for (const table of icebergTables) {
    const ids = Object.fromEntries(fieldsOf(table).map(({ id, name }) => [name, id]));
    assert.deepEqual({ ...ids, ...known[table] }, ids, `${table}: ids of test/lake/field-ids.json`);
    assert.deepEqual(
      Object.keys(ids).filter((name) => !(name in (known[table] ?? {}))),
      [],
      `${table}: add new columns`,
    );
  }
});

test("a replay replaces the files of its days in one snapshot", async (t) => {
  const lake = await copyOfSevenDays(t);
  await ingestPath(lake, feeds, { replayFrom: days[5] ?? "", hasServingFiles: false });
  assert.deepEqual(await icebergFaults(lake), []);
  const replayed = (await readIceberg(lake, "deliveries"))?.snapshots.at(-1)?.summary;
  assert.equal(replayed?.operation, "overwrite");
  assert.deepEqual([replayed?.["added-data-files"], replayed?.["deleted-data-files"]], ["2", "2"]);
});

test("a copied lake gets the paths of its folder, or of a given location, and keeps the times of publishing", async (t) => {
  const before = await readIceberg(original, "builds");
  const lake = join(await temporaryFolder(t), "lake");
  await cp(original, lake, { recursive: true, verbatimSymlinks: true });
  const times = (metadata = before) => metadata?.snapshots.map((snapshot) => snapshot["timestamp-ms"]);
  for (const location of ["s3://bucket/lake", `file://${lake}`]) {
    await withWriter(lake, {}, () => rewriteIcebergMetadata(lake, location));
    const after = await readIceberg(lake, "builds");
    assert.equal(after?.location, `${location}/iceberg/builds`);
    assert.ok(
      after?.snapshots.every((snapshot) =>
        snapshot["manifest-list"].startsWith(`${location}/iceberg/builds/metadata/`),
      ),
    );
    assert.deepEqual(times(after), times());
  }
  await withWriter(lake, {}, () => rewriteIcebergMetadata(lake, "s3://bucket/lake"));
  await publishAgain(lake);
  assert.equal((await readIceberg(lake, "sold"))?.location, "s3://bucket/lake/iceberg/sold");
  assert.deepEqual(await icebergFaults(lake), []);
});

test("a publish in a copied lake writes the metadata for its folder", async (t) => {
  const lake = join(await temporaryFolder(t), "lake");
  await cp(original, lake, { recursive: true, verbatimSymlinks: true });
  await publishAgain(lake);
  assert.equal((await readIceberg(lake, "sold"))?.location, `file://${lake}/iceberg/sold`);
  assert.deepEqual(await icebergFaults(lake), []);
});

test("snapshots leave with the versions that vacuum removes, and every file that the metadata names exists", async (t) => {
  const lake = await copyOfSevenDays(t);
  const last = days.at(-1) ?? "";
  for (const [retention, versions] of [
    [{ versionDays: 3 }, days.slice(-3).map((day) => `${day}.1`)],
    [{ months: 1, versionDays: 2 }, [`${days.at(-2)}.1`, `${last}.1`, `${last}.2`]],
    [{ months: 1, versionDays: 0 }, [`${last}.2`]],
  ] as const) {
    await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now() + 7_200_000, 3_600_000));
    assert.deepEqual(await icebergFaults(lake), []);
    assert.deepEqual(await icebergVersions(lake, "tokens"), versions);
    const lists = (await listIcebergFiles(lake)).filter((path) => path.startsWith("iceberg/tokens/metadata/snap-"));
    assert.equal(lists.length, versions.length);
  }
});

test("metadata of a publish that was killed is completed if it was published, else removed", async (t) => {
  const lake = await copyOfSevenDays(t);
  const before = await icebergVersions(lake, "snapshots");
  for (const isPublished of [false, true]) {
    const version = await withWriter(lake, {}, async (writer) => {
      const manifest = nextManifest(writer, await currentManifest(lake), days.at(-1) ?? "");
      await writeFile(manifestPath(lake, manifest.version), manifestText(manifest));
      await stageIcebergMetadata(lake, manifest);
      if (isPublished) await writeFile(currentPath(lake), `${manifest.version}\n`);
      return manifest.version;
    });
    assert.deepEqual(await icebergVersions(lake, "snapshots"), before, "staged metadata is not visible");
    await withWriter(lake, {}, async () => undefined);
    assert.deepEqual(await icebergVersions(lake, "snapshots"), isPublished ? [...before, version] : before);
    assert.deepEqual(await icebergFaults(lake), []);
    assert.deepEqual(
      (await listIcebergFiles(lake)).filter((path) => path.endsWith(".new")),
      [],
    );
  }
});

test("a day that is ingested again after CURRENT went back gets a version of another name", async (t) => {
  const lake = await copyOfSevenDays(t);
  const [before = "", last = ""] = days.slice(-2);
  await writeFile(currentPath(lake), `${before}.1\n`);
  await withWriter(lake, {}, async () => undefined);
  await ingestPath(lake, join(feeds, last), { hasServingFiles: false });
  assert.equal(await currentVersion(lake), `${last}.2`);
  const versions = [...days.slice(0, -1), last].map((day) => `${day}.${day === last ? 2 : 1}`);
  assert.deepEqual([await icebergFaults(lake), await icebergVersions(lake, "sold")], [[], versions]);
});

test("a publish rewrites damaged or foreign metadata", async (t) => {
  const lake = await copyOfSevenDays(t);
  const folder = join(lake, "iceberg", "dealers", "metadata");
  const number = await readFile(join(folder, "version-hint.text"), "utf8");
  const [list = ""] = (await listIcebergFiles(lake)).filter((path) =>
    path.includes(`/snap-${days.at(-1)?.replaceAll("-", "")}`),
  );
  await writeFile(join(folder, `v${number}.metadata.json`), "{");
  await rm(join(lake, list));
  await rm(join(lake, "iceberg", "tokens", "metadata"), { recursive: true });
  await writeFile(
    join(lake, "iceberg", "sold", "metadata", "v9.metadata.json"),
    JSON.stringify({ location: "elsewhere", snapshots: [{}] }),
  );
  await publishAgain(lake);
  assert.deepEqual(await icebergFaults(lake), []);
});

/** The newest file of each kind of metadata, and a metadata file that a reader may have opened before. */
const kinds: Readonly<Record<string, RegExp>> = {
  "the hint": /version-hint\.text$/,
  "the metadata": /v7\.metadata\.json$/,
  "an earlier metadata file": /v6\.metadata\.json$/,
  "a manifest list": /snap-2026040[^/]*\.avro$/,
  "a manifest": /\/2026040[^/]*-2026-04\.avro$/,
};

const damages: Readonly<Record<string, (content: Buffer, at: number) => Buffer>> = {
  removed: () => Buffer.alloc(0),
  "cut short": (content) => content.subarray(0, content.length / 2),
  // All bits: some alone are padding of the compressed content.
  changed: (content, at) => Buffer.from(content.map((byte, index) => (index === at ? byte ^ 255 : byte))),
};

test("verify names the file of Iceberg metadata that is missing, cut short or changed", {
  skip: skipInShortRun,
}, async (t) => {
  const lake = join(await temporaryFolder(t), "lake");
  await cp(original, lake, { recursive: true, verbatimSymlinks: true });
  assert.deepEqual(await lakeFaults(lake), [], "a copy, whose metadata has the paths of the original");
  const published = (await currentManifest(lake)) ?? assert.fail("nothing is published");
  const files = (await listIcebergFiles(lake)).filter((path) => path.startsWith("iceberg/deliveries/"));
  for (const [kind, pattern] of Object.entries(kinds)) {
    const path = files.findLast((file) => pattern.test(file)) ?? assert.fail(kind);
    const content = await readFile(join(lake, path));
    const places = extentOf([0.01, 0.5, 0.99], [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]).map((part) =>
      Math.floor(part * content.length),
    );
    for (const [damage, change] of Object.entries(damages)) {
      if (damage === "changed" && kind === "an earlier metadata file") continue;
      for (const at of damage === "changed" ? places : [0]) {
        if (damage === "removed") await rm(join(lake, path));
        else await writeFile(join(lake, path), change(content, at));
        const faults = await icebergMetadataFaults(lake, published);
        assert.ok(
          faults.some((fault) => fault.startsWith(`${path}: `)),
          `${kind}, ${damage} at ${at}: ${faults.join("; ")}`,
        );
      }
    }
    await writeFile(join(lake, path), content);
  }
  assert.deepEqual(await icebergMetadataFaults(lake, published), []);
});

test("verify finds Iceberg metadata of another version, and data files that are not there", async (t) => {
  const lake = await copyOfSevenDays(t);
  const published = (await currentManifest(lake)) ?? assert.fail("nothing is published");
  const [file] = published.tables.sold;
  await rm(join(lake, file?.path ?? ""));
  assert.deepEqual(await icebergMetadataFaults(lake, published), [
    `${file?.path}: missing or changed: expected ${file?.bytes} bytes.`,
  ]);
  await writeFile(currentPath(lake), `${published.previous}\n`);
  const faults = await icebergMetadataFaults(lake, published);
  assert.equal(faults.length, icebergTables.length);
  assert.match(faults[0] ?? "", /metadata\.json: newest snapshot 2026-04-05\.1: expected 2026-04-04\.1; /);
  await writeFile(currentPath(lake), `${published.version}\n`);
  await rm(join(lake, "iceberg", "sold"), { recursive: true });
  assert.match(
    (await icebergMetadataFaults(lake, published)).join(),
    /iceberg\/sold\/metadata\/v0\.metadata\.json: missing/,
  );
  await rm(join(lake, "iceberg"), { recursive: true });
  assert.deepEqual(await icebergMetadataFaults(lake, published), [], "a lake without metadata");
});

/** Publishes the published version again, as `index` does. */
async function publishAgain(lake: string): Promise<void> {
  await withWriter(lake, {}, async (writer) => {
    const published = await currentManifest(lake);
    await publish(lake, nextManifest(writer, published, published?.as_of ?? ""));
  });
}
