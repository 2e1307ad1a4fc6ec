/** `--json` of the commands that write and check a lake, and the retention of what an ingest of a queue leaves. */
import assert from "node:assert/strict";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { currentManifest } from "../../src/lake/manifest.ts";
import { carquetHere } from "../support/command-line.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";

/** Runs a command with --json; returns its code and its lines. */
async function linesOf(...args: readonly string[]) {
  const { code, out } = await carquetHere([...args, "--json"]);
  return {
    code,
    lines: out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  };
}

/** Returns an empty lake and a queue in which the days of the sample wait. */
async function sampleQueue(scope: Scope) {
  const folder = await temporaryFolder(scope);
  const queue = join(folder, "queue");
  for (const day of ["2026-11-18", "2026-11-19"])
    await cp(join(samplePath, day), join(queue, "waiting", day), { recursive: true });
  return { lake: join(folder, "lake"), queue };
}

test("an ingest prints a line for each day that it publishes, refuses or passes over, and one for what it removes", async (t) => {
  const { lake, queue } = await sampleQueue(t);
  const { code, lines } = await linesOf("ingest", "--queue", queue, "--lake", lake);
  assert.equal(code, 0);
  assert.deepEqual(
    lines.map(({ outcome, day, version, rows }) => [outcome, day, version, typeof rows]),
    [
      ["written", "2026-11-18", "2026-11-18.1", "number"],
      ["written", "2026-11-19", "2026-11-19.1", "number"],
      ["vacuumed", undefined, "2026-11-19.1", "undefined"],
    ],
  );
  assert.deepEqual(lines.at(-1)?.versions, [], "kept by default");
  await cp(join(samplePath, "2026-11-18"), join(queue, "waiting/2026-11-18"), { recursive: true });
  await writeFile(join(queue, "waiting/2026-11-18/more.txt"), "changed");
  const again = await linesOf("ingest", "--queue", queue, "--lake", lake);
  const [event] = again.lines;
  assert.deepEqual([event?.day, ["refused", "published before"].includes(event?.outcome)], ["2026-11-18", true]);
});

test("an ingest of a path or a queue publishes the day without a file that it refuses, fails in the end, and names the file", async (t) => {
  const mapping = { version: 1, fields: { vin: "vin" }, dealer: { key: ["seller"], fields: { name: ["seller"] } } };
  const day = "2026-03-01";
  for (const isQueue of [false, true]) {
    const folder = await temporaryFolder(t);
    const feed = await writeFeedFiles(join(folder, "queue/waiting"), day, {
      "lot/mapping.json": JSON.stringify(mapping),
      "lot/north.csv": `vin,seller\n${vinOf(1)},North\n`,
      "lot/south.csv": 'vin,seller\n"unended',
    });
    const lake = join(folder, "lake");
    const { code, err } = await carquetHere(
      isQueue ? ["ingest", "--queue", join(folder, "queue"), "--lake", lake] : ["ingest", feed, "--lake", lake],
    );
    assert.equal(code, 1);
    assert.match(err, /Published without 1 files: refused file: lot\/south\.csv/);
    assert.deepEqual((await currentManifest(lake))?.days, { [day]: 1 });
  }
});

test("the retention of an ingest is that of its settings", async (t) => {
  const { lake, queue } = await sampleQueue(t);
  const { lines } = await linesOf("ingest", "--queue", queue, "--lake", lake, "--versions", "0", "--grace", "0");
  assert.deepEqual(lines.at(-1)?.versions, ["2026-11-18.1"]);
});

test("verify and vacuum print their result as one line, with code 1 and the faults of a damaged lake", async (t) => {
  const { lake } = await createLake(t);
  assert.deepEqual(await linesOf("verify", "--lake", lake), {
    code: 0,
    lines: [{ version: "2026-11-19.1", faults: [], is_index_missing: false }],
  });
  assert.deepEqual((await linesOf("vacuum", "--lake", lake)).lines, [
    { outcome: "vacuumed", version: "2026-11-19.1", days: [], versions: [], files: 0 },
  ]);
  const { tables } = (await currentManifest(lake)) ?? assert.fail();
  await changeByte(join(lake, tables.listings[0]?.path ?? ""), 1000);
  const { code, lines } = await linesOf("verify", "--lake", lake);
  assert.deepEqual([code, lines.length, lines[0]?.faults.length], [1, 1, 1]);
});

test("map prints the columns, the rows and the mapping that it proposes", async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, "cars.csv");
  const vin = "1FTFW1E57JFB00001";
  await writeFile(
    file,
    `Vehicle VIN,Brand,Model,Yr,Selling Price\n${vin},Ford,F-150,2018,21500\n${vin},Ford,F-150,2018,x\n`,
  );
  const output = join(folder, "cars.json");
  const { code, lines } = await linesOf("map", file, "--output", output, "--accept-suggestions");
  const [{ columns, rows, mapping, written }] = lines;
  assert.deepEqual([code, lines.length, rows, written], [0, 1, 2, output]);
  assert.deepEqual(
    columns.map(({ column, state }: { column: string; state: string }) => [column, state !== ""]),
    ["Vehicle VIN", "Brand", "Model", "Yr", "Selling Price"].map((column) => [column, true]),
  );
  assert.ok(mapping !== null && typeof mapping === "object");
  const checked = await linesOf("map", "--mapping", output, "--check", file);
  assert.deepEqual([checked.lines[0]?.file, checked.lines[0]?.gone], [file, []]);
});
