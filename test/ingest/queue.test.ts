/** The queue of deliveries never wedges. Runs alone, because tests change the user of its process and a function of the file system: @alone */
import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { queueCorrection } from "../../src/ingest/corrections.ts";
import type { MappedDay } from "../../src/ingest/feed/delivery.ts";
import { ingestQueue, type QueueEvent } from "../../src/ingest/queue.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const root = await temporaryFolder(fileScope);
const lake = join(root, "lake");
const queue = join(root, "queue");
const waiting = join(queue, "waiting");

/** Puts a delivery of some cars into the queue. */
const deliver = (day: string, ...cars: readonly number[]): Promise<string> =>
  writeFeeds(waiting, day, { inventory: cars.map((car) => ({ vin: vinOf(car), dealer_id: dealerIdOf(1) })) });

/** Empties the queue; returns the outcome of each delivery. */
async function run(mappedDay?: MappedDay): Promise<readonly QueueEvent[]> {
  const events: QueueEvent[] = [];
  await ingestQueue(lake, queue, {
    hasServingFiles: false,
    threads: 1,
    mappedDay,
    onDelivery: (event) => events.push(event),
  });
  return events;
}

const namesIn = (folder: string): readonly string[] => readdirSync(join(queue, folder)).sort();
const asOf = async (): Promise<string | undefined> => (await currentManifest(lake))?.as_of;

test("a queue without deliveries gets its folders, and nothing happens", async () => {
  mkdirSync(queue);
  assert.deepEqual(await run(), []);
  assert.deepEqual(readdirSync(queue).sort(), ["ingested", "refused", "waiting"]);
});

test("deliveries are ingested in the order of their days and moved; other names are left", async () => {
  await deliver("2026-11-19", 1, 2);
  await deliver("2026-11-18", 1);
  await deliver("2026-11-20.part", 1);
  assert.deepEqual(await run(), [
    { day: "2026-11-18", outcome: "ingested" },
    { day: "2026-11-19", outcome: "ingested" },
  ]);
  assert.deepEqual(namesIn("waiting"), ["2026-11-20.part"]);
  assert.deepEqual(namesIn("ingested"), ["2026-11-18", "2026-11-18.sha256", "2026-11-19", "2026-11-19.sha256"]);
});

test("a delivery that a killed run published but did not move is moved, and not ingested again", async () => {
  const before = await currentManifest(lake);
  renameSync(join(queue, "ingested", "2026-11-19"), join(waiting, "2026-11-19"));
  assert.deepEqual(await run(), [{ day: "2026-11-19", outcome: "published before" }]);
  assert.deepEqual(await currentManifest(lake), before);
  assert.ok(existsSync(join(queue, "ingested", "2026-11-19")));
});

test("late and corrected deliveries are set aside with the reason, and a later one is ingested", async () => {
  await deliver("2026-11-17", 1);
  await deliver("2026-11-19", 1, 2, 3);
  await deliver("2026-11-20", 1, 2);
  const events = await run();
  assert.deepEqual(
    events.map(({ day, outcome }) => [day, outcome]),
    [
      ["2026-11-17", "refused"],
      ["2026-11-19", "refused"],
      ["2026-11-20", "ingested"],
    ],
  );
  assert.deepEqual(namesIn("refused"), ["2026-11-17", "2026-11-17.txt", "2026-11-19", "2026-11-19.txt"]);
  const reason = readFileSync(join(queue, "refused/2026-11-19.txt"), "utf8");
  assert.match(reason, /^the lake is at 2026-11-19: expected a later day, or .*--replay-from 2026-11-19/);
  assert.equal(await asOf(), "2026-11-20");
});

test("a day waits for one before it to which a file is being added", async () => {
  const day = await deliver("2026-11-22", 1);
  const arriving = join(queue, "arriving", "2026-11-21");
  mkdirSync(arriving, { recursive: true });
  await assert.rejects(run(), /2026-11-22: waits for 2026-11-21, to which a file is being added/);
  assert.ok(existsSync(day));
  rmSync(join(queue, "arriving"), { recursive: true });
  rmSync(day, { recursive: true });
});

test("a second correction of a day is kept beside the first", async () => {
  await deliver("2026-11-19", 4);
  assert.equal((await run())[0]?.outcome, "refused");
  assert.ok(namesIn("refused").includes("2026-11-19.2") && namesIn("refused").includes("2026-11-19.2.txt"));
});

test("a late delivery without feed files is set aside too", async () => {
  mkdirSync(join(waiting, "2026-11-16"));
  assert.deepEqual(
    (await run()).map(({ outcome }) => outcome),
    ["refused"],
  );
});

test("a delivery that cannot be read stays with all later ones, until it is corrected", async () => {
  mkdirSync(join(waiting, "2026-11-21"));
  await deliver("2026-11-22", 1);
  await assert.rejects(run(), /2026-11-21: no feed files/);
  assert.deepEqual([await asOf(), existsSync(join(waiting, "2026-11-22"))], ["2026-11-20", true]);
  await deliver("2026-11-21", 1);
  assert.deepEqual(
    (await run()).map(({ day, outcome }) => `${day} ${outcome}`),
    ["2026-11-21 ingested", "2026-11-22 ingested"],
  );
});

test("a second ingest of a queue leaves the receipt of the running one, and a failed ingest leaves none", async () => {
  await deliver("2026-11-23", 1);
  const running = join(queue, "ingested", "2026-11-23.sha256");
  await withWriter(lake, { threads: 1 }, async () => {
    await assert.rejects(run(), /is locked by this process/);
    assert.ok(!existsSync(running));
    writeFileSync(running, "of the running ingest");
    await assert.rejects(run(), /is locked by this process/);
    assert.ok(existsSync(running));
  });
  for (const path of [running, join(waiting, "2026-11-23")]) rmSync(path, { recursive: true });
});

test("a mapping of another day than the delivery's folder is refused, and the delivery stays", async () => {
  await deliver("2026-11-23", 1);
  await assert.rejects(
    run({ file: "cars.json", day: "2026-11-22" }),
    /^UserError: cars.json: its day 2026-11-22 contradicts the folder 2026-11-23: expected a mapping of 2026-11-23, or without a day\.$/,
  );
  assert.ok(existsSync(join(waiting, "2026-11-23")));
  rmSync(join(waiting, "2026-11-23"), { recursive: true });
});

test("a delivery whose ingest fails after its publish is moved by the next run, and not ingested again", async () => {
  await deliver("2026-11-23", 1);
  const { symlink } = fs;
  Object.assign(fs, { symlink: () => Promise.reject(new Error("EIO")) });
  syncBuiltinESMExports();
  try {
    await assert.rejects(run(), /EIO/);
  } finally {
    Object.assign(fs, { symlink });
    syncBuiltinESMExports();
  }
  assert.equal(await asOf(), "2026-11-23");
  assert.deepEqual(await run(), [{ day: "2026-11-23", outcome: "published before" }]);
});

test("a delivery of another user, which cannot be moved, is ingested once and passed over from then on", async () => {
  await deliver("2026-11-24", 1);
  const user = process.getuid?.() === 0 ? 1000 : undefined;
  const own = (path: string): void => {
    if (user !== undefined) chownSync(path, user, user);
  };
  for (const path of [
    root,
    ...readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => join(root, name)),
  ])
    own(path);
  // Moving a folder changes its entry `..`.
  if (user === undefined) chmodSync(join(waiting, "2026-11-24"), 0o555);
  else chownSync(join(waiting, "2026-11-24"), 0, 0);
  if (user !== undefined) process.seteuid?.(user);
  try {
    const [event] = await run();
    assert.match(event?.notMoved ?? "", /EACCES/);
    assert.equal(event?.outcome, "ingested");
    await deliver("2026-11-25", 1);
    const events = await run();
    assert.deepEqual(
      events.map(({ day, outcome, notMoved }) => [day, outcome, notMoved === undefined]),
      [
        ["2026-11-24", "published before", false],
        ["2026-11-25", "ingested", true],
      ],
    );
  } finally {
    process.seteuid?.(process.getuid?.() ?? 0);
    chmodSync(join(waiting, "2026-11-24"), 0o755);
  }
});

test("the copy of a corrected file is on the disk before the correction replaces it", async (scope) => {
  const file = "inventory.csv";
  const cars = await writeFeeds(await temporaryFolder(scope), "2026-11-22", {
    inventory: [{ vin: vinOf(5), dealer_id: dealerIdOf(1) }],
  });
  await queueCorrection(queue, { day: "2026-11-22", file }, { name: file, path: join(cars, file) });
  const { open, rename } = fs;
  const steps: string[] = [];
  const noted = (step: string, path: unknown): void =>
    void (String(path).startsWith(queue) && steps.push(`${step} ${String(path).slice(queue.length + 1)}`));
  Object.assign(fs, {
    open: (...args: Parameters<typeof open>) => {
      noted("sync", args[0]);
      return open(...args);
    },
    rename: (...args: Parameters<typeof rename>) => {
      noted("rename to", args[1]);
      return rename(...args);
    },
  });
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    Object.assign(fs, { open, rename });
    syncBuiltinESMExports();
  }
  const kept = "replaced/2026-11-22";
  const isKept = (step: string): boolean => step.includes(kept);
  const replaced = steps.indexOf(`rename to ingested/2026-11-22/${file}`);
  assert.ok(replaced > 0, steps.join("\n"));
  assert.deepEqual(steps.slice(0, replaced).filter(isKept).slice(-3), [
    `sync ${kept}/1-${file}.part`,
    `rename to ${kept}/1-${file}`,
    `sync ${kept}`,
  ]);
});
