/** When days are complete, what becomes of late and broken files, and how `carquet fetch` reports it. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { readFetchStatus } from "../../src/ingest/fetch-status.ts";
import { withQueueLock } from "../../src/sources/arrivals.ts";
import { carquetHere, parseLog } from "../support/command-line.ts";
import { fetchingIn } from "../support/feed-servers/fetching.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

/** Returns a queue of folder sources, and a function that delivers a file to one, at 6 o'clock of a day in New York. */
async function inboxes(scope: Scope) {
  const fetching = await fetchingIn(scope);
  const sourceOf = (name: string, files: string, more: object = {}) => ({
    [name]: { folder: { path: join(fetching.folder, "in", name) }, files, ...more },
  });
  const deliver = (path: string, content: string | Buffer, time = "2026-11-18T11:00:00Z"): void => {
    const target = join(fetching.folder, "in", path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
    utimesSync(target, new Date(time), new Date(time));
  };
  return { ...fetching, sourceOf, deliver };
}

test("a day is complete when all required files have arrived on it, else at its deadline; later files belong to the next day", async (t) => {
  const { folder, writeSources, sourceOf, deliver, fetch, filesIn } = await inboxes(t);
  const extra = { requiredFiles: 0 };
  writeSources({
    ...sourceOf("alpha", "*.csv", { requiredFiles: 2 }),
    ...sourceOf("beta", "*.csv"),
    ...sourceOf("more", "*.csv", extra),
  });
  mkdirSync(join(folder, "in/more"), { recursive: true });
  deliver("alpha/one.csv", "1");
  deliver("beta/stock.csv", "1");
  assert.deepEqual((await fetch("2026-11-18T12:00:00Z")).days, []);
  deliver("alpha/two.csv", "1");
  assert.deepEqual((await fetch("2026-11-18T12:15:00Z")).days, ["2026-11-18"]);
  assert.deepEqual(filesIn("waiting/2026-11-18"), ["alpha/one.csv", "alpha/two.csv", "beta/stock.csv"]);
  deliver("more/stock.csv", "1", "2026-11-18T12:20:00Z");
  deliver("alpha/one.csv", "late", "2026-11-18T12:20:00Z");
  deliver("beta/stock.csv", "1", "2026-11-18T12:20:00Z");
  assert.deepEqual((await fetch("2026-11-18T12:30:00Z")).days, []);
  assert.deepEqual(filesIn("arriving"), ["2026-11-19/alpha/one.csv", "2026-11-19/more/stock.csv"]);
  // Files of the day before do not count.
  deliver("alpha/two.csv", "2", "2026-11-19T11:00:00Z");
  deliver("beta/stock.csv", "2", "2026-11-19T11:00:00Z");
  assert.deepEqual((await fetch("2026-11-19T12:00:00Z")).days, []);
  assert.deepEqual((await fetch("2026-11-19T14:59:59Z")).days, []);
  assert.deepEqual((await fetch("2026-11-19T15:00:00Z")).days, ["2026-11-19"]);
  assert.deepEqual(filesIn("waiting/2026-11-19"), [
    "alpha/one.csv",
    "alpha/two.csv",
    "beta/stock.csv",
    "more/stock.csv",
  ]);
});

test("the day in a file's name is its day: a history becomes days, in order; one in the future is refused", async (t) => {
  const { writeSources, sourceOf, deliver, fetch, filesIn } = await inboxes(t);
  writeSources(sourceOf("alpha", "stock_%Y%m%d.csv"));
  for (const day of ["20261116", "20261117", "20261118", "20261119", "20261120", "20261399"])
    deliver(`alpha/stock_${day}.csv`, day);
  const { of, days } = await fetch();
  const future = "named for a day in the future: expected one up to 2026-11-19.";
  assert.deepEqual(of.alpha?.quarantined, {
    "stock_20261120.csv": future,
    "stock_20261399.csv": "no day in its name: expected %Y, %m and %d of a day.",
  });
  assert.deepEqual([of.alpha?.fetched, days], [4, ["2026-11-16", "2026-11-17", "2026-11-18"]]);
  assert.deepEqual(filesIn("arriving"), ["2026-11-19/alpha/stock_20261119.csv"]);
  assert.equal((await fetch("2026-11-20T13:00:00Z")).of.alpha?.fetched, 1);
});

test("a late or corrected file goes into its day until that is ingested, then to quarantine, which is reported once", async (t) => {
  const { queue, writeSources, sourceOf, deliver, fetch, filesIn, textOf } = await inboxes(t);
  writeSources(sourceOf("alpha", "*_%Y%m%d.csv"));
  for (const day of ["20261117", "20261118"]) deliver(`alpha/stock_${day}.csv`, day);
  assert.deepEqual((await fetch()).days, ["2026-11-17", "2026-11-18"]);
  deliver("alpha/stock_20261117.csv", "corrected", "2026-11-18T12:00:00Z");
  deliver("alpha/late_20261117.csv", "late", "2026-11-18T12:00:00Z");
  assert.deepEqual((await fetch()).days, ["2026-11-17"]);
  const path = "waiting/2026-11-17/alpha";
  assert.deepEqual(filesIn(path), ["late_20261117.csv", "stock_20261117.csv"]);
  assert.equal(textOf(`${path}/stock_20261117.csv`), "corrected");
  mkdirSync(join(queue, "ingested"));
  for (const day of ["2026-11-17", "2026-11-18"]) renameSync(join(queue, "waiting", day), join(queue, "ingested", day));
  for (const day of ["20261117", "20261118"]) {
    deliver(`alpha/stock_${day}.csv`, `again ${day}`, "2026-11-18T12:10:00Z");
    const reason = `late: 2026-11-${day.slice(6)} is ingested: expected a file of a day after 2026-11-18.`;
    assert.deepEqual((await fetch()).of.alpha?.quarantined, { [`stock_${day}.csv`]: reason });
    assert.deepEqual((await fetch()).of.alpha?.quarantined, {});
    assert.equal(textOf(`quarantine/2026-11-18/alpha/stock_${day}.csv.txt`), `${reason}\n`);
  }
  assert.deepEqual(filesIn("arriving"), []);
});

test("what is known of a file that its source lists no longer is kept for 90 days", async (t) => {
  const { folder, writeSources, sourceOf, deliver, fetch, textOf } = await inboxes(t);
  writeSources(sourceOf("alpha", "*_%Y%m%d.csv"));
  const deliverOn = (day: string): void => deliver(`alpha/stock_${day}.csv`, "vin,price", "2026-08-01T11:00:00Z");
  const known = (): readonly string[] => Object.keys(JSON.parse(textOf("sources/alpha.json"))).sort();
  for (const day of ["20260817", "20260818", "20260819"]) deliverOn(day);
  await fetch("2026-08-19T13:00:00Z");
  for (const day of ["20260818", "20260819"]) rmSync(join(folder, "in/alpha", `stock_${day}.csv`));
  deliverOn("20261117");
  await fetch("2026-11-17T13:00:00Z");
  assert.equal(known().length, 4);
  deliverOn("20261118");
  await fetch();
  assert.deepEqual(known(), ["stock_20260817.csv", "stock_20260819.csv", "stock_20261117.csv", "stock_20261118.csv"]);
});

test("a file that an ingest has begun with stays as it was", async (t) => {
  const { queue, writeSources, sourceOf, deliver, fetch } = await inboxes(t);
  writeSources(sourceOf("alpha", "stock_%Y%m%d.csv"));
  deliver("alpha/stock_20261117.csv", "first");
  await fetch();
  mkdirSync(join(queue, "ingested"));
  writeFileSync(join(queue, "ingested/2026-11-17.sha256"), "");
  deliver("alpha/stock_20261117.csv", "corrected", "2026-11-18T12:00:00Z");
  assert.match((await fetch()).of.alpha?.quarantined?.["stock_20261117.csv"] ?? "", /^late: 2026-11-17 is ingested/);
});

test("a day that is complete at its deadline names what it lacks, and a waiting one what it waits for", async (t) => {
  const { queue, writeSources, sourceOf, deliver, fetch } = await inboxes(t);
  writeSources({ ...sourceOf("alpha", "*/stock.csv", { requiredFiles: 3 }), ...sourceOf("beta", "*.csv") });
  const deliverAll = (dealers: readonly string[], time: string): void => {
    for (const dealer of dealers) deliver(`alpha/${dealer}/stock.csv`, time, time);
  };
  deliverAll(["north", "south", "west"], "2026-11-18T11:00:00Z");
  deliver("beta/stock.csv", "1");
  assert.deepEqual(
    (await fetch()).completed.map(({ missing }) => missing),
    [{}],
  );
  deliverAll(["south"], "2026-11-19T11:00:00Z");
  await fetch("2026-11-19T13:00:00Z");
  const missing = { alpha: "1 of 3 files, without north, west", beta: "0 of 1 files, without stock.csv" };
  const day = { day: "2026-11-19", deadline: "2026-11-19T15:00:00.000Z", missing };
  assert.deepEqual((await readFetchStatus(queue))?.waiting, [day]);
  assert.deepEqual((await fetch("2026-11-19T15:00:00Z")).completed, [day]);
  assert.deepEqual((await readFetchStatus(queue))?.completed, day);
});

test("a file without columns that the one before had is named; further columns are not", async (t) => {
  const { writeSources, sourceOf, deliver, fetch } = await inboxes(t);
  writeSources(sourceOf("alpha", "*_%Y%m%d.csv"));
  const days = [
    ["20261116", "vin,price,miles\nV1,1,1"],
    ["20261117", "vin,miles,Price,color\nV1,1,1,red"],
    ["20261118", "vin;preis;miles;color\nV1;1;1;red"],
  ] as const;
  const changed: unknown[] = [];
  for (const [day, text] of days) {
    deliver(`alpha/stock_${day}.csv`, text);
    deliver(`alpha/dealers_${day}.csv`, "name,city\nNorth,Boise");
    changed.push((await fetch()).of.alpha?.changed);
  }
  const message = 'stock_20261118.csv: columns gone: "price": expected those of the file before.';
  assert.deepEqual(changed, [[], [], [message]]);
});

test("a file has the mapping or preset of its source beside it, the folder of its dealer, or the name of its table", async (t) => {
  const { folder, writeSources, sourceOf, deliver, fetch, filesIn, textOf } = await inboxes(t);
  const mapping = '{"version": 1, "fields": {"vin": "vin"}, "dealer": {"key": ["d"], "fields": {"name": "d"}}}';
  writeFileSync(join(folder, "own.json"), mapping);
  writeSources({
    ...sourceOf("alpha", "*.csv", { mapping: "own.json", dealer: "4711" }),
    ...sourceOf("beta", "out/*/*.txt", { preset: "vauto" }),
    ...sourceOf("gamma", "*.csv", { preset: "carquet" }),
    ...sourceOf("delta", "*/inventory.csv", { preset: "carquet", requiredFiles: 2 }),
  });
  deliver("alpha/stock.csv", "1");
  for (const dealer of ["1", "2"]) {
    deliver(`beta/out/${dealer}/stock.txt`, dealer);
    deliver(`delta/${dealer}/inventory.csv`, dealer);
  }
  for (const name of ["dealers", "inventory", "stock"]) deliver(`gamma/${name}.csv`, name);
  const { of } = await fetch();
  const day = "waiting/2026-11-18";
  assert.deepEqual(filesIn(day), [
    ...["alpha/4711/stock.csv", "alpha/mapping.json", "beta/1/stock.txt", "beta/2/stock.txt", "beta/mapping.json"],
    ...["dealers-gamma.dealers.csv", "inventory-delta.1.inventory.csv", "inventory-delta.2.inventory.csv"],
    "inventory-gamma.inventory.csv",
  ]);
  assert.equal(textOf(`${day}/alpha/mapping.json`), mapping);
  assert.match(of.gamma?.quarantined?.["stock.csv"] ?? "", /^no table in its name/);
});

test("a file waits while its time is close to now, and not while it is far ahead", async (t) => {
  const { writeSources, sourceOf, deliver, fetch } = await inboxes(t);
  writeSources(sourceOf("alpha", "*", { requiredFiles: 9 }));
  deliver("alpha/young.csv", "1", "2026-11-18T12:59:30Z");
  deliver("alpha/ahead.csv", "2", "2026-11-18T13:00:30Z");
  deliver("alpha/far.csv", "3", "2026-11-19T13:00:00Z");
  const outcome = async (at: string) => {
    const { fetched, unchanged, unsettled } = (await fetch(at)).of.alpha ?? {};
    return { fetched, unchanged, unsettled };
  };
  assert.deepEqual(await outcome("2026-11-18T13:00:00Z"), { fetched: 1, unchanged: 0, unsettled: 2 });
  assert.deepEqual(await outcome("2026-11-18T13:01:30Z"), { fetched: 2, unchanged: 1, unsettled: 0 });
});

test("a young file waits; damaged archives go to quarantine until they change, and are tried again on another day", async (t) => {
  const { writeSources, sourceOf, deliver, fetch, filesIn } = await inboxes(t);
  writeSources(sourceOf("alpha", "*", { requiredFiles: 9 }));
  const whole = gzipSync("vin,price\n".repeat(50));
  deliver("alpha/a.csv.gz", whole.subarray(0, -9));
  deliver("alpha/b.zip", Buffer.from("PK\x03\x04 cut off"));
  deliver("alpha/c.csv", "young", "2026-11-18T12:59:30Z");
  deliver("alpha/d.exe", "MZ");
  const { fetched, unsettled, quarantined = {} } = (await fetch()).of.alpha ?? {};
  assert.deepEqual([fetched, unsettled, Object.keys(quarantined)], [0, 1, ["a.csv.gz", "b.zip", "d.exe"]]);
  assert.match(quarantined["a.csv.gz"] ?? "", /invalid gzip file: unexpected end of file/);
  assert.match(quarantined["b.zip"] ?? "", /invalid ZIP file/);
  assert.match(quarantined["d.exe"] ?? "", /^unknown file format: expected a name that ends with \.csv,/);
  assert.deepEqual((await fetch()).of.alpha?.quarantined, quarantined);
  assert.deepEqual(filesIn("quarantine/2026-11-18/alpha"), [
    "a.csv.gz",
    "a.csv.gz.txt",
    "b.zip",
    "b.zip.txt",
    "d.exe.txt",
  ]);
  await fetch("2026-11-19T13:00:00Z");
  assert.deepEqual(filesIn("quarantine/2026-11-19/alpha").length, 5);
  deliver("alpha/a.csv.gz", whole, "2026-11-19T11:00:00Z");
  assert.equal((await fetch("2026-11-19T13:00:00Z")).of.alpha?.fetched, 1);
});

test("a file with the ending .gz is gzip, also if a server declares that as an encoding, or compresses it once more", async (t) => {
  const file = gzipSync("vin,price\nV1,100\n");
  let sent = file;
  const server = createServer((_request, response) => response.setHeader("Content-Encoding", "gzip").end(sent));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(t, async () => void server.close());
  const { queue, writeSources, fetch } = await fetchingIn(t);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stock.csv.gz`;
  writeSources({ alpha: { https: { url }, requiredFiles: 2 } });
  const path = join(queue, "arriving/2026-11-18/alpha/stock.csv.gz");
  for (const content of [file, gzipSync(file)]) {
    sent = content;
    const { fetched, unchanged, quarantined } = (await fetch()).of.alpha ?? {};
    assert.deepEqual([(fetched ?? 0) + (unchanged ?? 0), quarantined], [1, {}]);
    assert.deepEqual(gunzipSync(readFileSync(path)), gunzipSync(file));
  }
});

test("a file that a server does not have for a while fails its source, and is unchanged when it is there again", async (t) => {
  let isThere = true;
  const server = createServer((_request, response) => {
    response.statusCode = isThere ? 200 : 404;
    response.end(isThere ? "vin,price\nV1,100\n" : "gone");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(t, async () => void server.close());
  const { writeSources, fetch } = await fetchingIn(t);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stock.csv`;
  writeSources({ alpha: { https: { url }, requiredFiles: 2 } });
  assert.equal((await fetch()).of.alpha?.fetched, 1);
  isThere = false;
  const { error, quarantined } = (await fetch()).of.alpha ?? {};
  assert.match(error ?? "", /: not found: expected the file\.$/);
  assert.deepEqual(quarantined, {});
  isThere = true;
  assert.equal((await fetch()).of.alpha?.unchanged, 1);
});

test("a file without an end is left at the limit of its size", async (t) => {
  let sentBytes = 0;
  const server = createServer((_request, response) => {
    const send = (): void => {
      // Without the limit, the file ends here, and the test fails.
      if (sentBytes >= 32 * 2 ** 20) return void response.end();
      sentBytes += 65_536;
      if (!response.destroyed) response.write(Buffer.alloc(65_536, "x"), () => setImmediate(send));
    };
    send();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  const { writeSources, fetch, filesIn } = await fetchingIn(t);
  writeSources({ alpha: { https: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stock.csv` } } });
  const limit = 2 ** 20;
  const { of } = await fetch(undefined, { fileBytes: limit });
  assert.deepEqual(of.alpha?.quarantined, {
    "stock.csv": `file too large: expected at most ${limit} bytes (--max-file-size).`,
  });
  assert.ok(sentBytes < 16 * limit, `${sentBytes} bytes`);
  assert.deepEqual(filesIn("arriving"), []);
});

test("a lost record of a source's files repeats transfers, and changes nothing; a second fetch of a queue is refused", async (t) => {
  const { queue, writeSources, sourceOf, deliver, fetch, filesIn } = await inboxes(t);
  writeSources(sourceOf("alpha", "*.csv", { requiredFiles: 2 }));
  deliver("alpha/a.csv", "1");
  await fetch();
  rmSync(join(queue, "sources"), { recursive: true });
  assert.equal((await fetch()).of.alpha?.fetched, 1);
  writeFileSync(join(queue, "sources/alpha.json"), '{"a.csv"');
  assert.equal((await fetch()).of.alpha?.fetched, 1);
  assert.deepEqual([filesIn("arriving"), filesIn("superseded")], [["2026-11-18/alpha/a.csv"], []]);
  await withQueueLock(queue, async () => {
    await assert.rejects(fetch(), /^UserError: .*feeds: another fetch is running: expected one at a time\.$/);
  });
  assert.equal((await fetch()).of.alpha?.unchanged, 1);
});

test("a source whose record cannot be written fails, and no other one", async (t) => {
  const { queue, writeSources, sourceOf, deliver, fetch, filesIn } = await inboxes(t);
  writeSources({ ...sourceOf("alpha", "*.csv"), ...sourceOf("beta", "*.csv") });
  deliver("alpha/a.csv", "1");
  deliver("beta/b.csv", "1");
  mkdirSync(join(queue, "sources/alpha.json.new"), { recursive: true });
  const { of } = await fetch();
  assert.match(of.alpha?.error ?? "", /alpha\.json\.new: a folder where a file is expected/);
  assert.deepEqual(
    [of.beta?.error, filesIn("arriving")],
    [undefined, ["2026-11-18/alpha/a.csv", "2026-11-18/beta/b.csv"]],
  );
});

test("carquet fetch fetches from all sources, logs a line for each, leaves metrics, and fails in the end if one failed", async (t) => {
  const { folder, queue, writeSources, sourceOf, deliver } = await inboxes(t);
  const sources = writeSources({ ...sourceOf("alpha", "*.csv"), ...sourceOf("beta", "*.csv") }, { deadline: "00:00" });
  const warning =
    /: deadline 00:00 is before files arrive: a day is complete with its first file: expected a later time\.$/m;
  deliver("beta/b.csv", "1234");
  const metrics = join(folder, "fetch.prom");
  const { code, out, err } = await carquetHere([
    "fetch",
    "--sources",
    sources,
    "--queue",
    queue,
    "--metrics-file",
    metrics,
  ]);
  assert.equal(code, 1);
  assert.match(
    out,
    /^alpha: failed: ENOENT.*^beta: 1 files fetched \(4 bytes\), 0 unchanged, 0 too young\n\d{4}-\d\d-\d\d: complete at its deadline, without alpha \(0 of 1 files\)$/ms,
  );
  assert.match(out, warning);
  assert.ok(out.startsWith(`${queue}: new queue\n`));
  const [failure, ...lines] = err.trimEnd().split("\n").reverse();
  assert.equal(failure, "carquet: 1 of 2 sources failed: alpha.");
  const log = parseLog(lines.reverse().join("\n")).filter(({ source }) => source !== undefined);
  assert.deepEqual(
    log.map(({ level, source, msg, fetched }) => [level, source, msg, fetched]),
    [
      [50, "alpha", "source failed", 0],
      [30, "beta", "source fetched", 1],
    ],
  );
  mkdirSync(join(folder, "in/alpha"), { recursive: true });
  deliver("alpha/a.csv", "1");
  const again = await carquetHere(["fetch", "--sources", sources, "--queue", queue]);
  assert.equal(again.code, 0);
  assert.match(again.out, /alpha: 1 files fetched .*\nalpha: works again; it failed since \d{4}-/);
  assert.match(
    readFileSync(metrics, "utf8"),
    /^carquet_fetch_success 0$.*^carquet_fetch_sources_failed 1$.*^carquet_fetch_files 1$/ms,
  );
});
