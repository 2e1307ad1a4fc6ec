/** Feeds of a wrong day, at a wrong path or under a wrong name, which are refused. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { assertSameBothWays } from "../oracle/compare/both-ways.ts";
import { skipInShortRun } from "../support/extent.ts";
import { openBothWays } from "../support/implementations.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import { csvOf, dealerIdOf, type FeedRow, vinOf, writeFeedFiles, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, queryLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createRefusingLake } from "../support/lakes/refusing-lake.ts";
import { fileScope } from "../support/scope.ts";

const run = promisify(execFile);

const { lake, refuses, takesTheNextDay } = await createRefusingLake(fileScope);

const goodFeeds = async (t: TestContext): Promise<string> =>
  writeFeeds(await temporaryFolder(t), "feeds", { inventory: [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }] });

const folderWith =
  (file: string) =>
  async (t: TestContext): Promise<string> =>
    writeFeedFiles(await temporaryFolder(t), "feeds", { [file]: "PK", "stock.csv": "vin\n" });

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
  "a folder with a workbook": {
    path: folderWith("prices.xlsx"),
    day: "2026-11-19",
    says: /^prices\.xlsx: a workbook of a spreadsheet: expected its sheet as CSV\.$/,
  },
  "a folder without feeds": {
    path: folderWith("prices.pdf"),
    day: "2026-11-19",
    says: /: no feed files: .* as \.csv, \.csv\.gz/,
  },
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
const unreadable: Readonly<Record<string, readonly [create: (path: string) => Promise<unknown>, says: string]>> = {
  "a folder named like a file": [(path) => mkdir(path), ": a folder: expected a regular file."],
  "a dangling link": [(path) => symlink("/nowhere/inventory.csv", path), ": no such file or folder."],
  "a link to itself": [(path) => symlink(path, path), ": too many symbolic links."],
  "a link to a device": [(path) => symlink("/dev/zero", path), ": symbolic link out of its folder: expected"],
  "a FIFO": [(path) => run("mkfifo", [path]), ": a FIFO, socket or device: expected a regular file."],
  "a link out of the folder": [linkToSecret, ": symbolic link out of its folder: expected"],
};

/** Creates a link to a file beside the delivery's folder, whose content must not be shown. */
async function linkToSecret(path: string): Promise<void> {
  const secret = join(dirname(path), "..", "secret");
  await writeFile(secret, "vin,secret\nsecret,secret\n");
  await symlink(secret, path);
}

for (const [what, [create, says]] of Object.entries(unreadable)) {
  for (const file of ["inventory.csv", "inventory.csv.gz", "inventory.ndjson", "inventory.parquet"]) {
    test(`refused and the lake unchanged: ${what}, ${file}`, { timeout: 60_000 }, async (t) => {
      const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", {});
      await create(join(day, file));
      await refuses(new RegExp(`${file.replaceAll(".", "\\.")}${says}`), day);
    });
  }
}

test("refused and the lake unchanged: a link in place of a day's folder", async (t) => {
  const folder = await temporaryFolder(t);
  await symlink(join(samplePath, "2026-11-19"), join(folder, "2026-11-19"));
  await refuses(/2026-11-19: symbolic link out of its folder: expected/, folder);
});

test("a link within the delivery's folder, and to the path itself, is followed", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFeedFiles(folder, "2026-11-18", {
    "dealers.csv": csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "Almaden" }]),
    "stock.csv": csvOf("inventory", [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }]),
  });
  await symlink("stock.csv", join(folder, "2026-11-18", "inventory.csv"));
  await symlink(folder, join(folder, "feeds"));
  assert.equal((await createLake(t, join(folder, "feeds"))).reports[0]?.listed, 1);
});

async function parquetOf(row: FeedRow): Promise<Buffer> {
  const path = join(await temporaryFolder(fileScope), "row.parquet");
  const values = Object.entries(row).map(([column, value]) => `'${value}' AS ${column}`);
  await queryLake(lake, `COPY (SELECT ${values}) TO '${path}'`);
  return readFile(path);
}

/** Names that are patterns, options or escapes for the engine or a shell. */
const literalNames = [
  ...["inventory[1].csv", "inventory1.csv", "inventory[!a].ndjson", "inventorya*.parquet", "inventory?.ndjson.gz"],
  ...[
    "inventory'\"%20`$(x).csv",
    "inventory\n—.csv.gz",
    "INVENTORY.CSV.GZ",
    "inventory{a,b}.parquet",
    "inventory**.csv",
  ],
];

test("names are literal: of feed files, their folders and the lake", async (t) => {
  const folder = join(await temporaryFolder(t), "[dealer] *'%—");
  const day = await writeFeedFiles(join(folder, "price=5"), "2026-11-18", {
    "dealers.csv": csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "Almaden" }]),
  });
  const lake = join(folder, "lake [1]*");
  for (const [index, name] of literalNames.entries()) {
    const car = { vin: vinOf(index), dealer_id: dealerIdOf(1), price: 20_000 + index };
    const text = /ndjson/.test(name) ? `${JSON.stringify(car)}\n` : csvOf("inventory", [car]);
    const content = /gz$/i.test(name) ? gzipSync(text) : text;
    await writeFile(join(day, name), name.endsWith(".parquet") ? await parquetOf(car) : content);
  }
  const [report] = await ingestPath(lake, join(folder, "price=5"));
  assert.equal(report?.listed, literalNames.length);
  const rows = await queryLake(lake, "SELECT price - 20000 AS car FROM active ORDER BY vin");
  assert.deepEqual(
    rows.map((row) => row.car),
    literalNames.map((_, index) => index),
  );
  assert.deepEqual(await lakeFaults(lake), []);
  await assertSameBothWays(["/v1/listings?limit=20&sort=price"], await openBothWays(t, lake), "names");
});

test("refused and the lake unchanged: a name that the engine has no literal form for", async (t) => {
  const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", { "inventory\\[1].csv": "vin\n" });
  await refuses(/inventory\\\[1\]\.csv: expected no backslash/, day);
});

test("a lake's folder that the engine cannot name is refused", async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ["what?", "back\\slash"])
    await assert.rejects(
      ingestPath(join(folder, name), samplePath),
      /^UserError: Invalid lake folder .*: expected a path/,
    );
});

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

test("after these refusals the next valid day is published, and nothing is left over", {
  skip: skipInShortRun,
}, async () => {
  await takesTheNextDay();
  assert.equal((await ingestPath(lake, await emptyDay(), { day: "2026-11-20" }))[0]?.active, 206);
});

const emptyDay = async (): Promise<string> => writeFeeds(await temporaryFolder(fileScope), "feeds", { inventory: [] });
