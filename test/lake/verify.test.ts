/** Verification of a lake, which finds each kind of damage. */
import assert from "node:assert/strict";
import { open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { sha256Of } from "../../src/base/files.ts";
import { verify } from "../../src/lake/maintenance/verify.ts";
import { currentManifest, type LakeFile, manifestPath, manifestText } from "../../src/lake/manifest.ts";
import { verifyMarkets } from "../support/campaigns/healthy-markets.ts";
import { Chance } from "../support/chance.ts";
import { carquetHere } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import { createLake, temporaryCopy } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const sample = await createLake(fileScope);

/** Copies the sample's lake; returns it with one of its files. */
async function copyOfLake(t: TestContext, table: "listings" | "past_listings" | "builds" | "feeds" = "listings") {
  const lake = await temporaryCopy(t, sample.lake);
  const manifest = await currentManifest(lake);
  const file: LakeFile | undefined = manifest?.tables[table][0];
  assert.ok(manifest !== undefined && file !== undefined);
  return { lake, manifest, file, path: join(lake, file.path) };
}

test("an intact lake has no faults, and each file is checked once", async () => {
  const manifest = await currentManifest(sample.lake);
  assert.ok(manifest !== undefined);
  const files = [...Object.values(manifest.tables).flat(), ...manifest.serving];
  const checked: string[] = [];
  const faults = await verify(sample.lake, manifest, { threads: 1 }, (path, index, count) => {
    checked.push(path);
    assert.deepEqual([index, count], [checked.length, files.length]);
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(checked.sort(), files.map(({ path }) => path).sort());
});

test("a changed byte is found at any position", async (t) => {
  const { lake, file, path } = await copyOfLake(t);
  for (const position of [4, Math.floor(file.bytes / 2), file.bytes - 5]) {
    const whole = await readFile(path);
    const handle = await open(path, "r+");
    await handle.write(Buffer.from([(whole[position] ?? 0) ^ 1]), 0, 1, position);
    await handle.close();
    assert.deepEqual(await lakeFaults(lake), [
      `${file.path}: invalid content: expected SHA-256 ${file.sha256}, as the manifest lists, found ${await sha256Of(path)}.`,
    ]);
    await writeFile(path, whole);
  }
  assert.deepEqual(await lakeFaults(lake), []);
});

for (const table of ["past_listings", "builds", "feeds"] as const) {
  test(`a missing file of ${table} is found`, async (t) => {
    const { lake, file, path } = await copyOfLake(t, table);
    await rm(path);
    const faults = await lakeFaults(lake);
    assert.equal(faults.length, 1);
    assert.ok(faults[0]?.startsWith(`${file.path}: `), faults[0]);
  });
}

test("a truncated file is found", async (t) => {
  const { lake, file, path } = await copyOfLake(t);
  await truncate(path, file.bytes - 1);
  assert.deepEqual(await lakeFaults(lake), [
    `${file.path}: invalid size: expected ${file.bytes} bytes, found ${file.bytes - 1}.`,
  ]);
});

test("every fault is reported, not only the first", async (t) => {
  const { lake, manifest } = await copyOfLake(t);
  for (const file of manifest.tables.builds) await rm(join(lake, file.path));
  assert.equal((await lakeFaults(lake)).length, 2);
});

test("a wrong row count in the manifest is found", async (t) => {
  const { lake, manifest, file } = await copyOfLake(t);
  const tables = { ...manifest.tables, listings: [{ ...file, rows: file.rows + 1 }] };
  await writeFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, tables }));
  assert.ok((await lakeFaults(lake)).includes(`${file.path}: ${file.rows} rows: expected ${file.rows + 1}`));
});

test("listings without their build or dealer are found", async (t) => {
  const { lake, manifest } = await copyOfLake(t);
  const tables = {
    ...manifest.tables,
    builds: manifest.tables.builds.slice(1),
    dealers: manifest.tables.dealers.slice(1),
  };
  await writeFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, tables }));
  const faults = (await lakeFaults(lake)).join("; ");
  assert.match(faults, /\d+ listings whose build does not exist/);
  assert.match(faults, /\d+ listings whose dealer does not exist/);
});

test("a VIN that is active twice is found", async (t) => {
  const { lake, manifest } = await copyOfLake(t);
  const { listings } = manifest.tables;
  const tables = { ...manifest.tables, listings: [...listings, ...listings] };
  await writeFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, tables }));
  assert.deepEqual(await lakeFaults(lake), [
    "206 VINs with two active listings",
    "206 VINs with two active listings on a day",
    "2 days with another number of listings",
  ]);
});

test("random small markets have no faults after any command", { skip: skipInShortRun }, async () => {
  const markets = extentOf(1, 20);
  assert.equal(await verifyMarkets(markets, new Chance(20_261_123)), 5 * markets);
});

test("carquet verify says that serving/ is missing, and finds no fault in the rest", async (t) => {
  const { lake } = await copyOfLake(t);
  await rm(join(lake, "serving"), { recursive: true });
  const { code, out } = await carquetHere(["verify", "--lake", lake]);
  assert.deepEqual(
    [code, out.replaceAll(lake, "LAKE")],
    [
      0,
      "LAKE: version 2026-11-19.1 has no faults.\nLAKE: serving/ is missing: a service rebuilds it outside the lake until carquet index builds it.\n",
    ],
  );
});
