import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deliver, deliverFiles, dealerIdOf as idOf, vinOf } from "../support/lakes/feeds.ts";
import { ingestPath, lakeOf, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { refusing } from "../support/lakes/refusals.ts";
import { wholeFile } from "../support/scope.ts";

const { lake, refuses, takesTheNextDay } = await refusing(wholeFile);

const goodFeeds = async (t: TestContext): Promise<string> =>
  deliver(await temporaryFolder(t), "feeds", { inventory: [{ vin: vinOf(1), dealer_id: idOf(1) }] });

const foreignFolder = async (t: TestContext): Promise<string> =>
  deliverFiles(await temporaryFolder(t), "feeds", { "prices.xlsx": "PK", "stock.csv": "vin\n" });

interface Misplaced {
  readonly path: string | ((t: TestContext) => Promise<string>);
  readonly day: string;
  readonly says: RegExp;
}

const misplaced: Readonly<Record<string, Misplaced>> = {
  "a day that is already in": { path: samplePath, day: "2026-11-18", says: /^Cannot ingest 2026-11-18: .* 2026-11-18/ },
  "a day before the last": {
    path: goodFeeds,
    day: "2026-11-17",
    says: /^Cannot ingest 2026-11-17: the lake is at 2026-11-18/,
  },
  "a day that has no folder": {
    path: samplePath,
    day: "2026-11-20",
    says: /: no folder for 2026-11-20: expected one of 2026-11-18, 2026-11-19/,
  },
  "a day that no calendar has": {
    path: samplePath,
    day: "2026-02-30",
    says: /"2026-02-30" for --day: expected YYYY-MM-DD/,
  },
  "a path that is not there": { path: "/nowhere/feeds", day: "2026-11-19", says: /^\/nowhere\/feeds: no such file or/ },
  "an empty folder": {
    path: temporaryFolder,
    day: "2026-11-19",
    says: /: no feed files: expected dealers, options/,
  },
  "a folder without feeds": { path: foreignFolder, day: "2026-11-19", says: /: no feed files: .* as \.csv, \.csv\.gz/ },
  "a file of no known kind": {
    path: join(samplePath, "README.md"),
    day: "2026-11-19",
    says: /README\.md: unknown file format: expected \.csv/,
  },
};

for (const [what, { path, day, says }] of Object.entries(misplaced)) {
  test(`refused with nothing changed: ${what}`, async (t) => {
    await refuses(says, typeof path === "string" ? path : await path(t), day);
  });
}

test("refused with nothing changed: feeds of a day that nobody named", async (t) => {
  await refuses(/unknown day: expected --day YYYY-MM-DD/, await goodFeeds(t));
});

/** What has a feed's name and cannot be read; it must neither hang nor end the process. */
const unreadable: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "a folder of a file's name": (path) => mkdir(path),
  "a link that leads nowhere": (path) => symlink("/nowhere/inventory.csv", path),
};

for (const [what, make] of Object.entries(unreadable)) {
  for (const file of ["inventory.csv", "inventory.csv.gz", "inventory.ndjson", "inventory.parquet"]) {
    test(`refused with nothing changed: ${what}, ${file}`, { timeout: 5_000 }, async (t) => {
      const day = await deliverFiles(await temporaryFolder(t), "2026-11-19", {});
      await make(join(day, file));
      await refuses(new RegExp(`${file.replaceAll(".", "\\.")}\\b`), day);
    });
  }
}

test("a lake that nothing has come into yet takes a broken day for nothing", async (t) => {
  const fresh = join(await temporaryFolder(t), "lake");
  const folder = await temporaryFolder(t);
  await deliverFiles(folder, "2026-11-18", { "inventory.csv": "vin\n" });
  await assert.rejects(ingestPath(fresh, folder), /missing column "dealer_id"/);
  const [account] = await ingestPath(fresh, samplePath, { day: "2026-11-18" });
  assert.equal(account?.version, "2026-11-18.1");
});

test("a column that the feed does not have is ignored, and said to be", async (t) => {
  const folder = await temporaryFolder(t);
  await deliver(folder, "2026-11-18", {
    dealers: [{ dealer_id: idOf(1), name: "Almaden", mood: "good" }],
    inventory: [{ vin: vinOf(1), dealer_id: idOf(1), mood: "fine", price: 20_000 }],
  });
  const { accounts } = await lakeOf(t, folder);
  assert.equal(accounts[0]?.listed, 1);
  assert.deepEqual(accounts[0]?.remarks, [
    'dealers.csv: ignored column "mood": not a field of dealers.',
    'inventory.csv: ignored column "mood": not a field of inventory.',
  ]);
});

test("of several days the good ones before a broken one are published", async (t) => {
  const fresh = join(await temporaryFolder(t), "lake");
  const folder = await temporaryFolder(t);
  await deliver(folder, "2026-11-18", { inventory: [] });
  await deliverFiles(folder, "2026-11-19", { "inventory.csv": "" });
  await assert.rejects(ingestPath(fresh, folder), /inventory\.csv.* empty file/);
  await assert.rejects(ingestPath(fresh, folder, { day: "2026-11-18" }), /Cannot ingest 2026-11-18: the lake is at/);
});

test("after all these refusals the next good day is published, and nothing is left over", async () => {
  await takesTheNextDay();
  assert.equal((await ingestPath(lake, await emptyDay(), { day: "2026-11-20" }))[0]?.active, 206);
});

const emptyDay = async (): Promise<string> => deliver(await temporaryFolder(wholeFile), "feeds", { inventory: [] });
