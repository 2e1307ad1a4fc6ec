/** A service reports a failed ingest and an overdue delivery in `/readyz`, metrics and its log. */
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import pino from "pino";
import { type IngestRecord, writeIngestRecord } from "../../src/lake/ingest-record.ts";
import { currentManifest, manifestPath } from "../../src/lake/manifest.ts";
import { eventually } from "../support/command-line.ts";
import { startService } from "../support/http/service.ts";
import { generateFeeds } from "../support/lakes/generated.ts";
import { createLake } from "../support/lakes/lakes.ts";

/** The sample's as-of date. */
const asOfMs = Date.parse("2026-11-19");
const hourMs = 3_600_000;

const ended: IngestRecord = { at: "2026-11-19T04:10:00.000Z", error: null, waiting: 0, refused: 0 };

/** Starts a service 30 hours after the beginning of its as-of date. */
async function startAt30Hours(t: TestContext, overdueHours: number, record?: IngestRecord) {
  const { lake } = await createLake(t);
  if (record !== undefined) await writeIngestRecord(lake, record);
  const lines: string[] = [];
  const clock = { wallMs: () => asOfMs + 30 * hourMs, monotonicMs: () => performance.now() };
  const logger = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const service = await startService(t, lake, { overdueMs: overdueHours * hourMs, clock, logger, metricsPort: 0 });
  const report = () => fetch(`${service.url}/readyz`);
  const metrics = () => fetch(service.metricsUrl ?? "");
  const messages = (): readonly string[] => lines.map((line) => JSON.parse(line).msg);
  return { lake, messages, report: async () => (await report()).json(), metrics: async () => (await metrics()).text() };
}

test("without a record, and before a delivery is overdue, nothing is reported", async (t) => {
  const { report, metrics, messages } = await startAt30Hours(t, 31);
  const { status, reasons, ingest } = await report();
  assert.deepEqual([status, reasons, ingest], ["ready", [], null]);
  assert.match(await metrics(), /^carquet_ingest_failed 0$.*^carquet_ingest_overdue 0$/ms);
  assert.ok(!messages().some((message) => message.startsWith("ingest")));
});

test("a delivery is overdue when more than the set hours of the as-of date have passed", async (t) => {
  const { report, metrics, messages } = await startAt30Hours(t, 29);
  const { status, reasons } = await report();
  assert.deepEqual([status, reasons], ["degraded", ["no delivery after 2026-11-19"]]);
  assert.match(await metrics(), /^carquet_ingest_overdue 1$/m);
  assert.equal(messages().filter((message) => message === "ingest overdue").length, 1);
});

test("a failed ingest is reported within seconds, without its message, until one succeeds", async (t) => {
  const { lake, report, metrics, messages } = await startAt30Hours(t, 0, ended);
  assert.deepEqual((await report()).ingest, { at: ended.at, failed: false, waiting: 0, refused: 0 });
  const error = "/srv/feeds/2026-11-20: no feed files";
  await writeIngestRecord(lake, { at: "2026-11-20T04:10:00.000Z", error, waiting: 2, refused: 1 });
  await eventually("the failure is reported", async () => (await report()).status === "degraded");
  const failed = await report();
  assert.deepEqual(failed.reasons, ["the last ingest failed"]);
  assert.deepEqual(failed.ingest, { at: "2026-11-20T04:10:00.000Z", failed: true, waiting: 2, refused: 1 });
  assert.ok(!JSON.stringify(failed).includes("/srv"));
  const text = await metrics();
  for (const line of ["failed 1", "deliveries_waiting 2", "deliveries_refused 1", "end_timestamp_seconds 1795147800"])
    assert.ok(text.includes(`\ncarquet_ingest_${line}\n`), line);
  await writeIngestRecord(lake, { ...ended, at: "2026-11-20T05:00:00.000Z" });
  await eventually("the success is reported", async () => (await report()).status === "ready");
  assert.deepEqual(
    messages().filter((message) => message.startsWith("ingest")),
    ["ingest ended", "ingest failed", "ingest ended"],
  );
});

test("without a setting, a delivery is overdue 12 hours later than the days before let expect", async (t) => {
  const { lake } = await createLake(t, await generateFeeds(t, { listings: 50, days: 3 }));
  const { version } = (await currentManifest(lake)) ?? assert.fail();
  const { mtimeMs } = await stat(manifestPath(lake, version));
  for (const [lateMs, expected] of [
    [-1000, []],
    [1000, ["no delivery after 2026-11-19"]],
  ] as const) {
    const clock = { wallMs: () => mtimeMs + (24 + 12) * hourMs + lateMs, monotonicMs: () => performance.now() };
    const { url } = await startService(t, lake, { clock });
    assert.deepEqual((await (await fetch(`${url}/readyz`)).json()).reasons, expected);
  }
});
