/** `carquet fetch`: fetches feeds from the sources of a file into a queue, and closes the days that are complete. */
import { Command } from "commander";
import { UserError } from "../../../base/user-error.ts";
import { defaultFeedLimits } from "../../../ingest/feed/feed-file.ts";
import { fetchSources, type SourceReport } from "../../../sources/fetch-sources.ts";
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
  const file = await readSources(path);
  const failed: string[] = [];
  const onSource = (report: SourceReport): void => {
    const { source, error, fetched = 0, quarantined = {}, bytes = 0 } = report;
    const broken = Object.keys(quarantined).length;
    const isFailed = error !== undefined || broken > 0;
    if (isFailed) failed.push(source);
    run.add({ sources_failed: Number(isFailed), files: fetched, bytes, quarantined: broken, completed: 0 });
    for (const line of reportLines(report)) process.stdout.write(`${line}\n`);
    logCommand("fetch", isFailed ? "error" : "info", report, isFailed ? "source failed" : "source fetched");
  };
  const settings = { queue, stallMs, retryMs, now: new Date(), limits: { ...defaultFeedLimits, ...limits }, onSource };
  const days = await fetchSources(file, settings);
  run.add({ sources_failed: 0, files: 0, bytes: 0, quarantined: 0, completed: days.length });
  for (const day of days) process.stdout.write(`${day}: complete\n`);
  if (failed.length > 0)
    throw new UserError(`${failed.length} of ${file.sources.length} sources failed: ${failed.sort().join(", ")}.`);
}

/** Formats the report of a source: a line of totals, then one per broken file. */
function reportLines({ source, error, ...report }: SourceReport): readonly string[] {
  if (error !== undefined) return [`${source}: failed: ${error}`];
  const { fetched = 0, unchanged = 0, unsettled = 0, quarantined = {}, bytes = 0 } = report;
  return [
    `${source}: ${fetched} files fetched (${bytes} bytes), ${unchanged} unchanged, ${unsettled} too young`,
    ...Object.entries(quarantined).map(([path, reason]) => `${source}: quarantine: ${path}: ${reason}`),
  ];
}
