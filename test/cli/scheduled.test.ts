/** Metrics for the textfile collector, and the log of JSON lines, of the commands that a scheduler runs. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { figuresOfCommands, metricsOfCommand, type ScheduledCommand, ScheduledRun } from "../../src/cli/scheduled.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { carquet, carquetHere, failureOf, parseLog } from "../support/command-line.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { samplePath, temporaryFolder } from "../support/lakes/lakes.ts";

/** Returns the values of metrics without labels. */
const valuesIn = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...text.matchAll(/^(\w+) (\S+)$/gm)].map(([, name, value]): [string, number] => [String(name), Number(value)]),
  );

const names = Object.keys(figuresOfCommands) as ScheduledCommand[];

test("a run leaves its figures, whether it succeeded, and what ran; a later one replaces them", async (t) => {
  const path = join(await temporaryFolder(t), "vacuum.prom");
  const run = new ScheduledRun("vacuum", path);
  await run.measure(async () => {
    run.add({ snapshots_removed: 1, versions_removed: 2, files_removed: 3 });
    run.add({ snapshots_removed: 0, versions_removed: 0, files_removed: 4 });
  });
  const text = readFileSync(path, "utf8");
  const { version } = JSON.parse(projectText("package.json"));
  assert.match(text, new RegExp(`^carquet_build_info\\{version="${version}",node="${process.version}",duckdb="v`, "m"));
  const {
    carquet_vacuum_end_timestamp_seconds: end,
    carquet_vacuum_duration_seconds: duration,
    ...rest
  } = valuesIn(text);
  assert.deepEqual(rest, {
    carquet_vacuum_success: 1,
    carquet_vacuum_snapshots_removed: 1,
    carquet_vacuum_versions_removed: 2,
    carquet_vacuum_files_removed: 7,
  });
  assert.ok(end !== undefined && Math.abs(end - Date.now() / 1000) < 60 && duration !== undefined && duration < 60);
  const failed = run.measure(() => Promise.reject(new Error("no lake")));
  await assert.rejects(failed, /^Error: no lake$/);
  const after = valuesIn(readFileSync(path, "utf8"));
  assert.deepEqual([after.carquet_vacuum_success, after.carquet_vacuum_files_removed], [0, 0]);
});

test("metrics that cannot be written fail a run, but do not hide why one failed", async (t) => {
  const run = new ScheduledRun("push", join(await temporaryFolder(t), "none/push.prom"));
  await assert.rejects(
    run.measure(async () => {}),
    /^UserError: Cannot write the metrics: ENOENT/,
  );
  await assert.rejects(
    run.measure(() => Promise.reject(new Error("no bucket"))),
    /no bucket/,
  );
});

const skip = spawnSync("promtool", ["--version"]).status === 0 ? false : "promtool is not installed";

test("Prometheus accepts the metrics of every command", { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of names) {
    const path = join(folder, `${name}.prom`);
    await new ScheduledRun(name, path).measure(async () => {});
    const text = readFileSync(path, "utf8");
    assert.deepEqual(
      Object.keys(valuesIn(text)),
      metricsOfCommand(name).map(([metric]) => metric),
    );
    const { status, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""], name);
  }
});

test("an ingest logs its steps, each day and its end as JSON lines, and leaves metrics", async (t) => {
  const folder = await temporaryFolder(t);
  const lake = join(folder, "lake");
  const path = join(folder, "ingest.prom");
  const run = () => carquet(["ingest", samplePath, "--lake", lake, "--metrics-file", path]);
  const { code, err, out } = await run();
  assert.equal(code, 0);
  assert.match(out, /^2026-11-18: /);
  const log = parseLog(err);
  assert.ok(log.every(({ command, level }) => command === "ingest" && level === 30));
  const days = log.filter(({ msg }) => msg === "day published").map(({ day, version }) => [day, version]);
  assert.deepEqual(days, [
    ["2026-11-18", "2026-11-18.1"],
    ["2026-11-19", "2026-11-19.1"],
  ]);
  assert.deepEqual([log[0]?.title, log[0]?.step, log.at(-1)?.msg], ["2026-11-18", 1, "run ended"]);
  const values = valuesIn(readFileSync(path, "utf8"));
  assert.deepEqual([values.carquet_ingest_success, values.carquet_ingest_published], [1, 2]);
  assert.equal(values.carquet_ingest_rows, Number(log.at(-1)?.rows));
  const again = await run();
  assert.equal(again.code, 1);
  assert.match(failureOf(again.err), /^Cannot ingest 2026-11-18: the lake is at 2026-11-19/);
  assert.equal(valuesIn(readFileSync(path, "utf8")).carquet_ingest_success, 0);
});

test("a check that finds damage leaves the number of faults", async (t) => {
  const lake = join(await temporaryFolder(t), "lake");
  const path = join(lake, "../verify.prom");
  assert.equal((await carquet(["ingest", samplePath, "--lake", lake])).code, 0);
  const run = () => carquetHere(["verify", "--lake", lake, "--metrics-file", path]);
  assert.equal((await run()).code, 0);
  const { tables } = (await currentManifest(lake)) ?? assert.fail();
  await changeByte(join(lake, tables.listings[0]?.path ?? ""), 1000);
  assert.equal((await run()).code, 1);
  const values = valuesIn(readFileSync(path, "utf8"));
  assert.deepEqual([values.carquet_verify_success, values.carquet_verify_faults], [0, 1]);
});
