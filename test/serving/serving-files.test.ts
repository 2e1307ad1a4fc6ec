/** Serving files: building, damage, rebuilding and repair. */
import assert from "node:assert/strict";
import { readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "../../src/base/files.ts";
import { textIn } from "../../src/base/json.ts";
import { indexLake } from "../../src/cli/commands/index-lake.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { classifyFault } from "../../src/db/engine-faults.ts";
import { literal, sql } from "../../src/db/sql.ts";
import {
  currentManifest,
  type Manifest,
  manifestPath,
  manifestText,
  type ServingFile,
} from "../../src/lake/manifest.ts";
import { listingRow } from "../../src/lake/served-columns.ts";
import { rebuildInThread } from "../../src/serving/files/rebuild-in-thread.ts";
import { neededFiles } from "../../src/serving/files/serving-parts.ts";
import { verifyServingFiles } from "../../src/serving/files/verify-serving-files.ts";
import type { LakeVersion } from "../../src/serving/lake-version.ts";
import { RowFile, type UnpackedRow } from "../../src/serving/rows/row-store.ts";
import { eventually } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { changeByte, listFilesAnew } from "../support/lakes/contents.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const original = await createLakeOfEveryState(fileScope);

/** Copies a lake with listings in every state. */
const copyLake = (scope: Scope): Promise<string> => temporaryCopy(scope, original.lake);

const manifestOf = async (lake: string): Promise<Manifest> =>
  (await currentManifest(lake)) ?? assert.fail("nothing is published");

const fileOf = (manifest: Manifest, kind: ServingFile["kind"]): ServingFile =>
  manifest.serving.find((candidate) => candidate.kind === kind) ?? assert.fail(`no file of ${kind}`);

/** The listings that are looked up: in the short run the first two in each state, and a few of the others. */
const lookedUp = original.listings.filter(
  ({ state }, index, all) =>
    index % extentOf(16, 1) === 0 || all.filter((other) => other.state === state).indexOf(all[index] ?? {}) < 2,
);

/** Days of the published month and of the one before. */
const pastDays = ["2026-04-02", "2026-03-28"];

/** Returns pages, facets, and look-ups of listings by id and VIN. */
async function allAnswers(version: LakeVersion): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  const paths = [
    ...[
      "/v1/listings?make=honda",
      "/v1/listings?sort=-price&fields=default,features",
      "/v1/listings?inventory_status=sold",
      ...pastDays.map((day) => `/v1/listings?snapshot_date=${day}&sort=-days_on_market&fields=default,features`),
    ],
    "/v1/facets?facets=make,price",
    ...pastDays.map((day) => `/v1/facets?facets=make,days_on_market&snapshot_date=${day}`),
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

test("a rebuild in a thread ends with its signal at any moment, and does not end the process", async (scope) => {
  const manifest = await manifestOf(original.lake);
  const into = await temporaryFolder(scope);
  const files = neededFiles(manifest);
  for (const ms of extentOf([0, 700, 1000, 1300], [0, 300, 600, 700, 800, 900, 1000, 1200, 1400, 1600])) {
    const ending = new AbortController();
    const order = { lake: original.lake, manifest, files, into };
    const rebuilding = rebuildInThread(order, { threads: 1 }, ending.signal).catch((thrown: unknown) => thrown);
    setTimeout(() => ending.abort(new Error("closed")), ms);
    assert.match(String(await rebuilding), /^Error: closed$|^undefined$/, `${ms} ms`);
  }
});

test("a rebuild whose thread ends without a message ends too", async (scope) => {
  const manifest = await manifestOf(original.lake);
  const order = { lake: original.lake, manifest, files: neededFiles(manifest), into: await temporaryFolder(scope) };
  process.once("worker", (worker) => void worker.terminate());
  const rebuilding = rebuildInThread(order, { threads: 1 }, new AbortController().signal);
  await assert.rejects(rebuilding, /^Error: Serving files cannot be rebuilt: the thread has ended$/);
});

test("a publisher builds an index for each month and a row file for each Parquet file of listings, once per run", async () => {
  const manifest = await manifestOf(original.lake);
  const states = new Set(original.listings.map(({ state }) => state));
  assert.deepEqual([...states].sort(), ["active", "ended", "missing", "sold"]);
  assert.deepEqual(
    manifest.serving.map(({ kind }) => kind).filter((kind) => kind === "index"),
    ["index", "index"],
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

/** Kinds of damage to a serving file. */
const damages: Readonly<Record<string, (path: string, file: ServingFile) => Promise<unknown>>> = {
  missing: (path) => rm(path),
  truncated: (path, { bytes }) => truncate(path, bytes - 4096),
  changed: (path, { bytes }) => changeByte(path, Math.floor(bytes / 2)),
};

/** Kinds of serving files: the reported part, the state without it, and which of the listed files it covers. */
const parts: readonly (readonly [
  name: string,
  served: LakeVersion["served"],
  kind: ServingFile["kind"],
  at: number,
])[] = [
  ["search index", { index: false, rows: true }, "index", 0],
  ["search index of 2026-03", { index: true, rows: true }, "index", 1],
  ["row store", { index: true, rows: false }, "rows", 0],
];

/** The short run has each part and each kind of damage once. */
const cases = parts.flatMap((part, n) =>
  Object.entries(damages).map(
    ([what, damage], index) => [...part, what, damage, n === index ? false : skipInShortRun] as const,
  ),
);

for (const [name, served, kind, at, what, damage, skip] of cases) {
  test(`a ${what} file of the ${name} is rebuilt outside the lake, the fault is reported once, and carquet index repairs it`, {
    skip,
  }, async (scope) => {
    const lake = await copyLake(scope);
    const file = (await manifestOf(lake)).serving.filter((one) => one.kind === kind)[at] ?? assert.fail(`no ${name}`);
    await damage(join(lake, file.path), file);
    const reported: string[] = [];
    const version = await openVersion(scope, lake, { onRebuild: (message) => reported.push(message) });
    assert.deepEqual(await allAnswers(version), expected);
    assert.deepEqual(version.served, served);
    assert.deepEqual(
      reported.map((message) => message.split(": ")[0]),
      [name],
    );
    assert.deepEqual(
      version.faults.filter((fault) => !fault.startsWith("damaged file")),
      [`${name} not in use`],
    );
    assert.equal((await indexLake({ lake })).built, 1);
    // The repair does not depend on the kind of damage.
    if (what !== "changed") return;
    const repaired = await openVersion(scope, lake);
    assert.deepEqual(repaired.served, { index: true, rows: true });
    assert.deepEqual(await allAnswers(repaired), expected);
    assert.equal((await indexLake({ lake })).built, 0, "every file is built");
  });
}

/** The bytes before the content of a block: its length and checksum. */
const headerBytes = 8;

/** Returns where a block begins: in its group of 4, whose start in units of 16 bytes the table at the end has. */
function blockStart(file: Buffer, number: number): number {
  const groups = Math.ceil(file.readUInt32LE(file.length - 8) / 4);
  const table = file.length - 8 - 4 * (groups + 1);
  let at = 16 * file.readUInt32LE(table + 4 * Math.floor(number / 4));
  for (let skipped = number % 4; skipped > 0; skipped -= 1) at += headerBytes + file.readUInt32LE(at);
  return at;
}

const flip = (file: Buffer, at: number): number => file.writeUInt8(file.readUInt8(at) ^ 1, at);

/** Changes the row files of a lake. */
async function changeRows(lake: string, change: (file: Buffer) => void): Promise<void> {
  for (const { kind, path } of (await manifestOf(lake)).serving) {
    if (kind === "index") continue;
    const file = await readFile(join(lake, path));
    change(file);
    await writeFile(join(lake, path), file);
  }
}

const rowsDiffer = /^serving\/\S+: \d+ of \d+ rows differ from files\/listings/m;
const differsFromChecksum = /^serving\/\S+: .*matches its checksum/m;

for (const [what, change, isOpened, fault] of [
  ["a row with a wrong checksum", (file: Buffer) => flip(file, headerBytes), true, rowsDiffer],
  // The dictionary of a small file lies behind it.
  ["a row without content", (file: Buffer) => file.writeUInt32LE(0, 0), false, differsFromChecksum],
  [
    "a row in another position",
    (file: Buffer) => {
      const second = blockStart(file, 1);
      file.set(Buffer.concat([file.subarray(second, blockStart(file, 2)), file.subarray(0, second)]));
    },
    true,
    rowsDiffer,
  ],
  // The last block is the dictionary, before the table of groups.
  [
    "a damaged dictionary",
    (file: Buffer) => flip(file, headerBytes + blockStart(file, file.readUInt32LE(file.length - 8) - 1)),
    false,
    differsFromChecksum,
  ],
  [
    "a damaged table of blocks",
    (file: Buffer) => flip(file, file.length - 12),
    false,
    /^serving\/\S+: .*intact table/m,
  ],
] as const) {
  test(`${what} is not served: ${isOpened ? "requests of it are refused" : "the file is rebuilt"}`, async (scope) => {
    const lake = await copyLake(scope);
    await changeRows(lake, change);
    await listFilesAnew(lake);
    const reported: string[] = [];
    const version = await openVersion(scope, lake, { onRebuild: (message) => reported.push(message) });
    if (isOpened) await assert.rejects(allAnswers(version), { code: "data_unavailable" });
    else assert.deepEqual(await allAnswers(version), expected);
    assert.equal(reported.length, isOpened ? 0 : 1, reported.join("\n"));
    const faults = await verifyServingFiles(lake, await manifestOf(lake), { threads: 1 }, () => undefined);
    assert.match(faults.join("\n"), fault);
  });
}

/** Returns copies of a row file: one byte of each is another, or those after it are missing. */
const damagedCopies = (whole: Buffer): readonly Buffer[] =>
  Array.from({ length: 60 }, (_, n) => Math.floor((n / 60) * whole.length)).flatMap((at) => {
    const changed = Buffer.from(whole);
    flip(changed, at);
    return [changed, whole.subarray(0, at)];
  });

test("damage of a row file hides no listing: its look-up is refused", async (scope) => {
  const manifest = await manifestOf(original.lake);
  const path = join(await temporaryFolder(scope), "rows");
  let damages = 0;
  const orDamaged = (work: () => void): void => {
    try {
      work();
    } catch (thrown) {
      if (classifyFault(thrown) !== "damaged") throw thrown;
      damages += 1;
    }
  };
  for (const { source, of } of neededFiles(manifest).filter(({ kind }) => kind === "rows")) {
    const { rows } = "file" in of ? of.file : assert.fail("no rows");
    const read = (work: (file: RowFile) => void): void => {
      const file = new RowFile(path, rows);
      work(file);
      file.close();
    };
    const listed = manifest.serving.find((file) => file.kind === "rows" && file.source === source);
    const whole = await readFile(join(original.lake, listed?.path ?? ""));
    /** How many rows each id and VIN has. */
    const counts = new Map<string, number>();
    await writeFile(path, whole);
    read((file) => {
      const all = Array.from({ length: rows }, (_, position) => file.rowAt(position));
      const valuesOf = ({ row }: UnpackedRow) => Object.values(listingRow.decode(row, ["id", "vin"])).map(String);
      for (const value of all.flatMap(valuesOf)) counts.set(value, 1 + (counts.get(value) ?? 0));
    });
    for (const damaged of damagedCopies(whole)) {
      await writeFile(path, damaged);
      orDamaged(() =>
        read((file) => {
          for (const [value, count] of counts)
            orDamaged(() => assert.equal(file.find(value.length === 17 ? "vin" : "id", [value]).length, count, value));
        }),
      );
    }
  }
  assert.ok(damages > 0, "no damage was met");
});

test("a row file that is found damaged in service is rebuilt, and requests that meet the damage are refused until then", async (scope) => {
  const lake = await copyLake(scope);
  const file = fileOf(await manifestOf(lake), "rows");
  await changeByte(join(lake, file.path), Math.floor(file.bytes / 2));
  // At its start, a service hashes row files after they open.
  const client = await startService(scope, lake, { responseCacheBytes: 0 });
  const path = `/v1/listings/${textIn(original.listings[0] ?? {}, "id")}`;
  const first = await client.get(path);
  const refused = "data_unavailable";
  if (first.status !== 200) assert.equal((first.body as { error: { code: string } }).error.code, refused);
  await eventually("the file is rebuilt", async () => {
    const { reasons } = (await client.get("/readyz")).body as { reasons: readonly string[] };
    return reasons.includes("row store not in use");
  });
  const intact = (await answerPath(await openVersion(scope, original.lake), path)) as { data: unknown };
  assert.deepEqual(((await client.get(path)).body as { data: unknown }).data, intact.data);
});

test("serving files of another format are not used", { skip: skipInShortRun }, async (scope) => {
  const lake = await copyLake(scope);
  const manifest = await manifestOf(lake);
  const serving = manifest.serving.map((file) => ({ ...file, format: "another" }));
  await replaceFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, serving }));
  const version = await openVersion(scope, lake);
  assert.deepEqual(version.served, { index: false, rows: false });
  assert.deepEqual(await allAnswers(version), expected);
  assert.equal((await indexLake({ lake })).built, serving.length);
  assert.deepEqual((await openVersion(scope, lake)).served, { index: true, rows: true });
});

test("a service has a missing index rebuilt, and adopts the version that carquet index publishes", async (scope) => {
  const lake = await copyLake(scope);
  const { version: newest, serving: files } = await manifestOf(lake);
  const { path } = files.find(({ kind }) => kind === "index") ?? assert.fail("no index");
  await rm(join(lake, path));
  const client = await startService(scope, lake);
  const page = () => client.getBody("searchListings", "/v1/listings?make=honda");
  const serving = async (): Promise<unknown> => ((await client.get("/readyz")).body as { serving: unknown }).serving;
  await eventually("the newest version is served", async () => (await page()).meta.data_version === newest);
  const before = (await page()).pagination.total;
  assert.ok(before > 0);
  assert.deepEqual(await serving(), { index: false, rows: true, fallbacks: 1 });
  const { version } = await indexLake({ lake });
  await eventually("the new version is served", async () => (await page()).meta.data_version === version);
  assert.equal((await page()).pagination.total, before);
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

for (const at of [0, 1])
  test(`verification compares the search index of ${at === 0 ? "today" : "an earlier month"} with the Parquet files`, async (scope) => {
    const lake = await copyLake(scope);
    const file = (await manifestOf(lake)).serving.filter(({ kind }) => kind === "index")[at] ?? assert.fail("no index");
    const database = await DuckDatabase.open();
    await database.using(async (session) => {
      await session.run(sql`ATTACH ${literal(join(lake, file.path))} AS changed`);
      await session.run(sql`UPDATE changed.listings SET price = price + 1 WHERE position = 0`);
      await session.run(sql`DETACH changed`);
    });
    database.close();
    await listFilesAnew(lake);
    const faults = await verifyServingFiles(lake, await manifestOf(lake), { threads: 1 }, () => undefined);
    assert.deepEqual(faults, [`${file.path}: its table listings differs from the Parquet files`]);
  });

test("the index of a month is built when the month is over, and kept from then on", {
  skip: skipInShortRun,
}, async (scope) => {
  const feeds = await temporaryFolder(scope);
  const lake = join(await temporaryFolder(scope), "lake");
  const earlier: (string | undefined)[] = [];
  const priceOn = (day: string, n: number): number => 20_000 + 100 * n + Number(day.slice(-2));
  for (const day of ["2026-03-31", "2026-04-01", "2026-04-02"]) {
    const inventory = [1, 2, 3].map((n) => ({
      vin: vinOf(n),
      dealer_id: dealerIdOf(1),
      make: "Honda",
      model: "Civic",
      price: priceOn(day, n),
    }));
    await writeFeeds(feeds, day, { dealers: [{ dealer_id: dealerIdOf(1), name: "North" }], inventory });
    await ingestPath(lake, join(feeds, day));
    const manifest = await manifestOf(lake);
    const indexes = manifest.serving.filter(({ kind }) => kind === "index");
    assert.equal(indexes.length, day < "2026-04-01" ? 1 : 2);
    earlier.push(indexes[1]?.path);
    const version = await openVersion(scope, lake);
    for (const past of Object.keys(manifest.days)) {
      const listings = version.activeOn(past);
      const order = { by: "sort", sort: "price" } as const;
      const { keys } = await listings.findPage({ filters: [], order, limit: 3, offset: 0 });
      const prices = await listings.read(keys, ["price"], (row) => listingRow.decode(row, ["price"]).price);
      assert.deepEqual(
        prices,
        [1, 2, 3].map((n) => priceOn(past, n)),
        `${past} on ${day}`,
      );
    }
  }
  const [, first, second] = earlier;
  assert.ok(first !== undefined);
  assert.equal(second, first);
});
