/** `carquet fetch`: fetches feeds from the sources of a file into a queue, and closes the days that are complete. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { UserError } from "../../../base/user-error.ts";
import { defaultFeedLimits } from "../../../ingest/feed/feed-file.ts";
import { type DayStatus, readFetchStatus, recordingFailure } from "../../../ingest/fetch-status.ts";
import { fetchSources } from "../../../sources/fetch-sources.ts";
import { fetchTimes, type SourceReport } from "../../../sources/source-fetch.ts";
import { readSources } from "../../../sources/sources-file.ts";
import { logCommand, ScheduledRun } from "../../scheduled.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";
import { sizeLimitSettings } from "../../size-limit-settings.ts";

// biome-ignore format: a table is read by its columns
export const sourceSettings = {
  sources: { flags: "--sources <file>", env: "CARQUET_SOURCES", default: "sources.yaml",
    help: "file of sources and of when a day is complete (schema: schemas/sources.json)" },
  queue: { flags: "--queue <dir>", default: "feeds", help: "queue of deliveries, as of carquet ingest --queue" },
} as const satisfies SettingRows;

const fetchSettings = {
  ...sourceSettings,
  ...sharedSettings("stallMs", "metricsFile"),
  ...sizeLimitSettings,
} as const satisfies SettingRows;

type FetchValues = ValuesOf<typeof fetchSettings>;

export const fetchCommand = (): Command =>
  addSettings(new Command("fetch"), fetchSettings)
    .description(
      "Fetch the new files of each source: folders, URLs, SFTP and FTP servers, buckets. Files that are broken go to the queue's folder " +
        "quarantine, with the reason. A day moves to the folder waiting when all sources have delivered, or at the deadline. A source that " +
        "fails stops no other; then the command fails in the end.",
    )
    .action((settings: FetchValues) => {
      const run = new ScheduledRun("fetch", settings.metricsFile);
      return run.measure(() => fetchFrom(settings, run));
    });

/** The wait after the first fault of a source. */
const retryMs = 1000;

async function fetchFrom(
  { sources: path, queue, stallMs, ...limits }: FetchValues,
  run: ScheduledRun<"fetch">,
): Promise<void> {
  const file = await recordingFailure(queue, new Date(), () => readSources(path));
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (!existsSync(queue)) print(`${queue}: new queue`);
  const failed: string[] = [];
  const onSource = (report: SourceReport): void => {
    const { source, error, fetched = 0, quarantined = {}, changed = [], bytes = 0 } = report;
    const broken = Object.keys(quarantined).length;
    const isFailed = error !== undefined || broken + changed.length > 0;
    if (isFailed) failed.push(source);
    run.add({ sources_failed: Number(isFailed), files: fetched, bytes, quarantined: broken, completed: 0 });
    for (const line of reportLines(report)) print(line);
    logCommand("fetch", isFailed ? "error" : "info", report, isFailed ? "source failed" : "source fetched");
  };
  const times = { retryMs, times: fetchTimes, now: new Date() };
  const settings = { queue, stallMs, ...times, limits: { ...defaultFeedLimits, ...limits }, onSource };
  const days = await fetchSources(file, settings);
  run.add({ sources_failed: 0, files: 0, bytes: 0, quarantined: 0, completed: days.length });
  for (const day of days) {
    print(`${day.day}: complete${missingText(day, " at its deadline, without")}`);
    if (Object.keys(day.missing).length > 0) logCommand("fetch", "error", day, "day incomplete");
  }
  const { waiting = [], warnings = [] } = (await readFetchStatus(queue)) ?? {};
  for (const day of waiting) print(`${day.day}: waits until ${day.deadline}${missingText(day, " for")}`);
  for (const warning of warnings) print(`${path}: ${warning}`);
  if (failed.length > 0)
    throw new UserError(`${failed.length} of ${file.sources.length} sources failed: ${failed.sort().join(", ")}.`);
}

const missingText = ({ missing }: DayStatus, text: string): string => {
  const sources = Object.entries(missing).map(([source, what]) => `${source} (${what})`);
  return sources.length === 0 ? "" : `${text} ${sources.join("; ")}`;
};

/** Formats the report of a source: a line of totals, then one per broken file. */
function reportLines({ source, error, failedSince, ...report }: SourceReport): readonly string[] {
  const { fetched = 0, unchanged = 0, unsettled = 0, quarantined = {}, changed = [], bytes = 0 } = report;
  return [
    error === undefined
      ? `${source}: ${fetched} files fetched (${bytes} bytes), ${unchanged} unchanged, ${unsettled} too young`
      : `${source}: failed: ${error}`,
    ...(failedSince === undefined ? [] : [`${source}: works again; it failed since ${failedSince}`]),
    ...Object.entries(quarantined).map(([path, reason]) => `${source}: quarantine: ${path}: ${reason}`),
    ...changed.map((message) => `${source}: ${message}`),
  ];
}
