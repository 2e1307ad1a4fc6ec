/** Corrections of feeds that were ingested: they replace a file of their day, and the lake is replayed from it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { queueCorrection } from "../../src/ingest/corrections.ts";
import { correctHeldFeed, decideFeed, isUndecided, undoDecision } from "../../src/ingest/held-feeds.ts";
import type { IngestOptions } from "../../src/ingest/ingest.ts";
import { countDaysToIngest, countQueue, ingestQueue, type QueueEvent } from "../../src/ingest/queue.ts";
import { readFeedDecisions, recordDecision, withdrawDecision } from "../../src/lake/feed-decisions.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { carquetHere } from "../support/command-line.ts";
import { dealerIdOf, vinOf, writeFeedFiles, writeFeeds } from "../support/lakes/feeds.ts";
import { copyLake, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";
import { openVersion } from "../support/versions.ts";

const days = ["2026-03-01", "2026-03-02", "2026-03-03"] as const;
const dealer_id = dealerIdOf(1);
const held = { dealer_id, day: days[1] };
const file = "inventory.csv";
const at = new Date("2026-03-02T12:00:00Z");

/** In one thread, which needs less processor time for a small lake. */
const light: IngestOptions = { hasServingFiles: false, threads: 1 };

const range = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);
const carsOf = (numbers: readonly number[]) => numbers.map((number) => ({ vin: vinOf(number), dealer_id }));

/** What ingest does with the queue of a folder, beside its lake. */
function queueIn(root: string) {
  const lake = join(root, "lake");
  const queue = join(root, "queue");
  const deliver = (day: string, last: number) =>
    writeFeeds(join(queue, "waiting"), day, {
      dealers: [{ dealer_id, name: "North" }],
      inventory: carsOf(range(last)),
    });
  const run = async (options: IngestOptions = {}): Promise<readonly QueueEvent[]> => {
    const events: QueueEvent[] = [];
    await ingestQueue(lake, queue, { ...light, ...options, onDelivery: (event) => events.push(event) });
    return events;
  };
  return { lake, queue, deliver, run };
}

const original = await temporaryFolder(fileScope);
{
  const { deliver, run } = queueIn(original);
  await deliver(days[0], 12);
  await deliver(days[1], 3);
  await run();
}

/** A queue whose second day has a collapsed feed, and its lake. */
async function heldQueue(scope: Scope) {
  const root = await temporaryFolder(scope);
  await copyLake(original, root);
  const { lake, queue, deliver, run } = queueIn(root);
  /** Writes a file with the first cars; returns its path. */
  const written = async (last: number): Promise<string> =>
    join(
      await writeFeeds(await temporaryFolder(scope), days[1], {
        dealers: [{ dealer_id, name: "North" }],
        inventory: carsOf(range(last)),
      }),
      file,
    );
  const correct = async (path: string, name = "fixed.csv") =>
    correctHeldFeed({ lake, queue }, (await openVersion(scope, lake)).feeds, held, { file, name, path, at });
  const verdicts = async () =>
    (await queryLake(lake, "SELECT verdict, vins FROM feeds ORDER BY delivery_date")).map(
      ({ verdict, vins }) => `${verdict} ${vins}`,
    );
  return { lake, queue, deliver, run, written, correct, verdicts };
}

test("a correction replays the lake from its day with the new file, keeps the old one, and is undone by it", async (scope) => {
  const { lake, queue, deliver, run, written, correct, verdicts } = await heldQueue(scope);
  await deliver(days[2], 11);
  await run();
  assert.deepEqual(await verdicts(), ["accepted 12", "collapsed 3", "accepted 11"]);
  const decision = await correct(await written(10));
  assert.deepEqual(decision, { ...held, vins: 3, decision: "correct", at: at.toISOString(), file });
  assert.deepEqual(await readFeedDecisions(lake), [decision]);
  assert.deepEqual([isUndecided(undefined, queue), isUndecided(decision, queue)], [true, false]);
  assert.equal((await countQueue(queue)).waiting, 1);
  assert.equal(await countDaysToIngest(queue), 2, "the corrected day and the one after it");

  assert.deepEqual(await run(), [{ day: days[1], outcome: "corrected" }]);
  assert.deepEqual(await verdicts(), ["accepted 12", "accepted 10", "accepted 11"]);
  assert.equal((await countQueue(queue)).waiting, 0);
  assert.equal(isUndecided(decision, queue), true, "a feed that were held all the same would wait for a decision");
  const before = readFileSync(join(queue, "replaced", days[1], `1-${file}`), "utf8");
  assert.equal(before.trim().split("\n").length, 4);
  assert.deepEqual(await run(), []);

  assert.deepEqual(await undoDecision({ lake, queue }, held), decision);
  assert.deepEqual(await readFeedDecisions(lake), []);
  assert.deepEqual(await run(), [{ day: days[1], outcome: "corrected" }]);
  assert.deepEqual(await verdicts(), ["accepted 12", "collapsed 3", "accepted 11"]);
});

test("a correction that waits is withdrawn, and the next ingest does nothing", async (scope) => {
  const { lake, queue, run, written, correct } = await heldQueue(scope);
  await correct(await written(10));
  await undoDecision({ lake, queue }, held);
  const version = await currentManifest(lake);
  assert.deepEqual(await run(), []);
  assert.deepEqual(await currentManifest(lake), version);
});

test("another decision about a feed withdraws its correction that waits, which a command without the queue refuses", async (scope) => {
  const { lake, queue, run, written, correct, verdicts } = await heldQueue(scope);
  await correct(await written(10));
  const { feeds } = await openVersion(scope, lake);
  const decision = { decision: "reject", at } as const;
  await assert.rejects(
    decideFeed({ lake, queue: undefined }, feeds, held, decision),
    /has a correction: expected "carquet correct --undo --queue <dir>" before another decision\.$/,
  );
  await decideFeed({ lake, queue }, feeds, held, decision);
  assert.deepEqual(await run(), []);
  assert.deepEqual(await verdicts(), ["accepted 12", "collapsed 3"]);
  assert.deepEqual(
    (await readFeedDecisions(lake)).map(({ decision }) => decision),
    ["reject"],
  );

  await correct(await written(10));
  await assert.rejects(
    run({
      onStep: () => {
        throw new Error("killed");
      },
    }),
    /killed/,
  );
  await assert.rejects(
    decideFeed({ lake, queue }, feeds, held, decision),
    /is being ingested: expected one that waits/,
  );
});

test("a correction by another file withdraws the one before, unless another feed has it", async (scope) => {
  const { lake, queue, written, correct } = await heldQueue(scope);
  const path = await written(10);
  const other = { dealer_id: dealerIdOf(2), day: days[1] };
  const inventory = join(queue, "corrected", days[1], file);
  for (const isShared of [true, false]) {
    await correct(path);
    if (isShared) await recordDecision(lake, { ...other, vins: 3, decision: "correct", at: at.toISOString(), file });
    const { feeds } = await openVersion(scope, lake);
    await correctHeldFeed({ lake, queue }, feeds, held, { file: "dealers.csv", name: "dealers.csv", path, at });
    assert.equal(existsSync(inventory), isShared);
    if (isShared) await withdrawDecision(lake, other);
  }
});

test("a correction that cannot be read is refused with the reason, the lake stays as it was, and later days are ingested", async (scope) => {
  const { lake, queue, deliver, run, written, correct, verdicts } = await heldQueue(scope);
  const good = await written(10);
  // A fetch replaced a file of the same name.
  await writeFeedFiles(join(queue, "superseded"), days[1], { [`1-${file}`]: await readFile(good) });
  const path = join(await temporaryFolder(scope), "broken.parquet");
  await assert.rejects(
    correct(good, "fixed.parquet"),
    /^UserError: Invalid file "fixed\.parquet": expected one of the format of inventory\.csv\.$/,
  );
  await writeFile(path, 'vin,dealer_id\n"unended');
  const decision = await correct(path);
  await deliver(days[2], 11);
  const events = await run();
  assert.deepEqual(
    events.map(({ day, outcome }) => [day, outcome]),
    [
      [days[2], "ingested"],
      [days[1], "refused"],
    ],
  );
  assert.match(events[1]?.reason ?? "", /^inventory\.csv/);
  assert.match(readFileSync(join(queue, "refused", `${days[1]}.txt`), "utf8"), /^inventory\.csv/);
  assert.deepEqual(await verdicts(), ["accepted 12", "collapsed 3", "accepted 11"]);
  assert.equal(isUndecided(decision, queue), true);
  await undoDecision({ lake, queue }, held);
  assert.deepEqual(await run(), []);
});

test("an ingest that was cut off repeats the replay of a correction; one that came meanwhile follows", async (scope) => {
  const { queue, run, written, correct, verdicts } = await heldQueue(scope);
  await correct(await written(10));
  const onStep = (_day: string, step: number): void => {
    if (step === 5) throw new Error("killed");
  };
  await assert.rejects(run({ onStep }), /killed/);
  assert.ok(existsSync(join(queue, "correcting", days[1], file)));
  await correct(await written(9));
  assert.deepEqual(await run(), [{ day: days[1], outcome: "corrected" }]);
  assert.deepEqual(await verdicts(), ["accepted 12", "accepted 10"]);
  assert.deepEqual(await run(), [{ day: days[1], outcome: "corrected" }]);
  assert.deepEqual(await verdicts(), ["accepted 12", "accepted 9"]);
});

test("what is copied as a correction lies beside the folder that an ingest claims, and is removed if it cannot be copied", async (scope) => {
  const { queue, correct } = await heldQueue(scope);
  await assert.rejects(correct(join(queue, "nowhere.csv")), /ENOENT/);
  assert.deepEqual(readdirSync(join(queue, "corrected")), []);
});

test("only a file of an ingested delivery is corrected", async (scope) => {
  const { lake, queue, written } = await heldQueue(scope);
  const correction = { name: file, path: await written(10) };
  for (const [day, name, message] of [
    [
      days[1],
      "../../../inventory.csv",
      /No file "\.\.\/\.\.\/\.\.\/inventory\.csv" in the delivery of 2026-03-02: expected one of .*"inventory\.csv"/,
    ],
    [days[2], file, /2026-03-03: not found: expected the delivery of 2026-03-03/],
    ["../waiting", file, /not found: expected the delivery of \.\.\/waiting/],
  ] as const)
    await assert.rejects(queueCorrection(queue, { day, file: name }, correction), message);
  const { feeds } = await openVersion(scope, lake);
  await assert.rejects(
    correctHeldFeed({ lake, queue: undefined }, feeds, held, { file, ...correction, at }),
    /Cannot correct a feed without a queue/,
  );
});

test("carquet correct queues a file for one of several mapped files, and one that cannot be read is refused alone", async (scope) => {
  const root = await temporaryFolder(scope);
  const lake = join(root, "lake");
  const queue = join(root, "queue");
  const mapping = { version: 1, fields: { vin: "vin" }, dealer: { key: ["seller"], fields: { name: ["seller"] } } };
  const cars = (seller: string, first: number, last: number): string =>
    `vin,seller\n${range(last)
      .slice(first - 1)
      .map((number) => `${vinOf(number)},${seller}\n`)
      .join("")}`;
  for (const [day, last] of [
    [days[0], 12],
    [days[1], 3],
  ] as const)
    await writeFeedFiles(join(queue, "waiting"), day, {
      "lot/mapping.json": JSON.stringify(mapping),
      "lot/north.csv": cars("North", 1, last),
      "lot/south.csv": cars("South", 21, 32),
    });
  const run = async () => {
    const events: QueueEvent[] = [];
    const onDelivery = (event: QueueEvent): unknown => events.push(event);
    await ingestQueue(lake, queue, { ...light, onDelivery }).catch(() => undefined);
    return events.map(({ outcome }) => outcome);
  };
  await run();
  const verdictOf = async () =>
    (
      await queryLake(
        lake,
        `SELECT dealer_id, verdict, vins FROM feeds WHERE delivery_date = '${days[1]}' ORDER BY vins`,
      )
    )[0] ?? {};
  const { dealer_id: dealer, verdict } = await verdictOf();
  assert.equal(verdict, "collapsed");
  const path = join(root, "new.csv");
  const args = ["correct", String(dealer), "--lake", lake, "--queue", queue, "--file", "lot/north.csv", "--with", path];
  await writeFile(path, 'vin,seller\n"unended');
  assert.match(
    (await carquetHere(args)).out,
    /^The next ingest of the queue replays the lake from 2026-03-02 with .*new\.csv\.\n$/,
  );
  assert.deepEqual(await run(), ["refused"]);
  assert.equal((await verdictOf()).vins, 3);
  await writeFile(path, cars("North", 1, 11));
  await carquetHere(args);
  assert.deepEqual(await run(), ["corrected"]);
  const corrected = await verdictOf();
  assert.deepEqual([corrected.dealer_id, corrected.verdict, corrected.vins], [dealer, "accepted", 11]);
  const { code, err } = await carquetHere(args.slice(0, 6));
  assert.deepEqual(
    [code, err],
    [2, "carquet: Missing --file or --with: expected the replaced file and the new one.\n"],
  );
});
