/** Feeds of a wrong day, at a wrong path or under a wrong name, which are refused. */
import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { dealerIdOf, vinOf, writeFeedFiles, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createRefusingLake } from "../support/lakes/refusing-lake.ts";
import { fileScope } from "../support/scope.ts";

const { lake, refuses, takesTheNextDay } = await createRefusingLake(fileScope);

const goodFeeds = async (t: TestContext): Promise<string> =>
  writeFeeds(await temporaryFolder(t), "feeds", { inventory: [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }] });

const foreignFolder = async (t: TestContext): Promise<string> =>
  writeFeedFiles(await temporaryFolder(t), "feeds", { "prices.xlsx": "PK", "stock.csv": "vin\n" });

interface MisplacedFeeds {
  readonly path: string | ((t: TestContext) => Promise<string>);
  readonly day: string;
  readonly says: RegExp;
}

const misplaced: Readonly<Record<string, MisplacedFeeds>> = {
  "a day that was ingested already": {
    path: samplePath,
    day: "2026-11-18",
    says: /^Cannot ingest 2026-11-18: .* 2026-11-18/,
  },
  "a day before the last one": {
    path: goodFeeds,
    day: "2026-11-17",
    says: /^Cannot ingest 2026-11-17: the lake is at 2026-11-18/,
  },
  "a day without a folder": {
    path: samplePath,
    day: "2026-11-20",
    says: /: no folder for 2026-11-20: expected one of 2026-11-18, 2026-11-19/,
  },
  "an impossible date": {
    path: samplePath,
    day: "2026-02-30",
    says: /"2026-02-30" for --day: expected YYYY-MM-DD/,
  },
  "a missing path": { path: "/nowhere/feeds", day: "2026-11-19", says: /^\/nowhere\/feeds: no such file or/ },
  "an empty folder": {
    path: temporaryFolder,
    day: "2026-11-19",
    says: /: no feed files: expected dealers, options/,
  },
  "a folder without feeds": { path: foreignFolder, day: "2026-11-19", says: /: no feed files: .* as \.csv, \.csv\.gz/ },
  "a file of an unknown kind": {
    path: join(samplePath, "README.md"),
    day: "2026-11-19",
    says: /README\.md: unknown file format: expected \.csv/,
  },
};

for (const [what, { path, day, says }] of Object.entries(misplaced)) {
  test(`refused and the lake unchanged: ${what}`, async (t) => {
    await refuses(says, typeof path === "string" ? path : await path(t), day);
  });
}

test("refused and the lake unchanged: feeds without a day", async (t) => {
  await refuses(/unknown day: expected --day YYYY-MM-DD/, await goodFeeds(t));
});

/** Unreadable entries with a feed's name; they must neither hang nor crash the process. */
const unreadable: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "a folder named like a file": (path) => mkdir(path),
  "a dangling link": (path) => symlink("/nowhere/inventory.csv", path),
};

for (const [what, create] of Object.entries(unreadable)) {
  for (const file of ["inventory.csv", "inventory.csv.gz", "inventory.ndjson", "inventory.parquet"]) {
    test(`refused and the lake unchanged: ${what}, ${file}`, { timeout: 5_000 }, async (t) => {
      const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", {});
      await create(join(day, file));
      await refuses(new RegExp(`${file.replaceAll(".", "\\.")}\\b`), day);
    });
  }
}

test("a broken first day leaves a lake empty", async (t) => {
  const fresh = join(await temporaryFolder(t), "lake");
  const folder = await temporaryFolder(t);
  await writeFeedFiles(folder, "2026-11-18", { "inventory.csv": "vin\n" });
  await assert.rejects(ingestPath(fresh, folder), /missing column "dealer_id"/);
  const [report] = await ingestPath(fresh, samplePath, { day: "2026-11-18" });
  assert.equal(report?.version, "2026-11-18.1");
});

test("an unknown column is ignored and reported", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFeeds(folder, "2026-11-18", {
    dealers: [{ dealer_id: dealerIdOf(1), name: "Almaden", mood: "good" }],
    inventory: [{ vin: vinOf(1), dealer_id: dealerIdOf(1), mood: "fine", price: 20_000 }],
  });
  const { reports } = await createLake(t, folder);
  assert.equal(reports[0]?.listed, 1);
  assert.deepEqual(reports[0]?.remarks, [
    'dealers.csv: ignored column "mood": not a field of dealers.',
    'inventory.csv: ignored column "mood": not a field of inventory.',
  ]);
});

test("of several days, those before a broken one are published", async (t) => {
  const fresh = join(await temporaryFolder(t), "lake");
  const folder = await temporaryFolder(t);
  await writeFeeds(folder, "2026-11-18", { inventory: [] });
  await writeFeedFiles(folder, "2026-11-19", { "inventory.csv": "" });
  await assert.rejects(ingestPath(fresh, folder), /inventory\.csv.* empty file/);
  await assert.rejects(ingestPath(fresh, folder, { day: "2026-11-18" }), /Cannot ingest 2026-11-18: the lake is at/);
});

test("after these refusals the next valid day is published, and nothing is left over", async () => {
  await takesTheNextDay();
  assert.equal((await ingestPath(lake, await emptyDay(), { day: "2026-11-20" }))[0]?.active, 206);
});

const emptyDay = async (): Promise<string> => writeFeeds(await temporaryFolder(fileScope), "feeds", { inventory: [] });
