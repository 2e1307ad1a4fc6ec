/** `carquet ingest`: ingests deliveries into the lake, publishes them, and reports what happened to the rows of each day. */
import { Command } from "commander";
import { messageOf, UsageError, UserError } from "../../base/user-error.ts";
import { type DeliveryReport, describeIssue, type JudgedFeed } from "../../ingest/delivery-report.ts";
import { readDealerList } from "../../ingest/feed/dealer-list.ts";
import {
  deliveriesAt,
  deliveriesByColumn,
  type MappedDay,
  mappedDayOf,
  undatedFiles,
} from "../../ingest/feed/delivery.ts";
import { defaultFeedLimits } from "../../ingest/feed/feed-file.ts";
import { type IngestOptions, ingest } from "../../ingest/ingest.ts";
import { preset, presetNames, readMapping } from "../../ingest/mapping/mapping.ts";
import { countQueue, ingestQueue, type QueueEvent } from "../../ingest/queue.ts";
import { writeIngestRecord } from "../../lake/ingest-record.ts";
import { dayParser, integerParser, pathParser, sizeParser } from "../option-parsers.ts";
import { printResult } from "../print.ts";
import { commandProgress, logCommand, ScheduledRun } from "../scheduled.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";
import { sizeLimitSettings } from "../size-limit-settings.ts";
import { collapseSettings } from "./feeds/collapse-settings.ts";
import { vacuumLake } from "./vacuum.ts";

// biome-ignore format: a table is read by its columns
const ingestSettings = {
  ...sharedSettings("lake", "json"),
  queue: { flags: "--queue <dir>", conflicts: ["day", "replayFrom"],
    help: "ingest the dated folders in its folder waiting, and move them to ingested, or to refused if the lake is past their day" },
  mapping: { flags: "--mapping <file>", env: "CARQUET_MAPPING", conflicts: ["preset"],
    help: "mapping of files with other columns to a feed (schema: schemas/mapping.json)" },
  preset: { flags: "--preset <name>", env: "CARQUET_PRESET", choices: presetNames,
    help: "mapping of a common layout; without it and --mapping, files of these layouts are recognized by their columns" },
  dealers: { flags: "--dealers <file>", env: "CARQUET_DEALERS",
    help: "dealers by the provider's key, for mapped files whose folder has no dealers.csv: CSV with key, name, city, state, postal_code, ..." },
  day: { flags: "--day <YYYY-MM-DD>", parse: dayParser, help: "day of the delivery" },
  replayFrom: { flags: "--replay-from <YYYY-MM-DD>", parse: dayParser,
    help: "discard this day and all later ones, then ingest them again; needs the folders of all of them" },
  ...collapseSettings,
  ...sharedSettings("months", "versionDays", "graceMs", "currency", "threads", "memoryLimit", "metricsFile"),
  ...sizeLimitSettings,
  rows: { flags: "--max-rows <n>", env: "CARQUET_MAX_ROWS", default: defaultFeedLimits.rows, parse: integerParser(1_000_000_000, 1),
    help: "most rows of a feed file" },
  recordBytes: { flags: "--max-record-size <size>", env: "CARQUET_MAX_RECORD_SIZE", default: defaultFeedLimits.recordBytes,
    shownDefault: "256KiB", parse: sizeParser("1KiB", "16MiB", "512KiB"),
    help: "largest row of a feed file, from 1KiB to 16MiB" },
  nesting: { flags: "--max-nesting <n>", env: "CARQUET_MAX_NESTING", default: defaultFeedLimits.nesting, parse: integerParser(1000, 1),
    help: "greatest depth of arrays and objects in a row of NDJSON; the row itself counts 1" },
} as const satisfies SettingRows;

type IngestValues = ValuesOf<typeof ingestSettings>;

export const ingestCommand = (): Command =>
  addSettings(new Command("ingest"), ingestSettings)
    .description(
      "Ingest all dated folders in a folder, in the order of their days, or one folder or file with --day. Publishes a version of each " +
        "day, those of about a minute together. Skips days that the lake has if later ones follow, else rejects them, as it rejects a " +
        "delivery with an unreadable file; published data never changes. " +
        "With --queue, ingests the waiting deliveries, moves them, and removes what --months and --versions expire. With --json, prints a line for each day.",
    )
    .argument("[path]", "folder of dated folders (YYYY-MM-DD), folder of one day, or file", pathParser)
    .action((path: string | undefined, settings: IngestValues) => {
      const run = new ScheduledRun("ingest", settings.metricsFile);
      return run.measure(() => ingestWhere(path, settings, run));
    });

async function ingestWhere(path: string | undefined, settings: IngestValues, run: IngestRun): Promise<void> {
  const { queue } = settings;
  if (path !== undefined && queue === undefined) return requireAll(await ingestFrom(path, settings, run));
  if (path === undefined && queue !== undefined)
    return recordingEnd(settings.lake, queue, () => ingestWaiting(queue, settings, run));
  throw new UsageError("Invalid arguments: expected either a path or --queue.");
}

/** Empties a queue, and leaves a record of how that ended for the service. */
async function recordingEnd(lake: string, queue: string, work: () => Promise<void>): Promise<void> {
  const record = async (error: string | null): Promise<void> =>
    writeIngestRecord(lake, { at: new Date().toISOString(), error, ...(await countQueue(queue)) });
  try {
    await work();
  } catch (thrown) {
    // The reason is reported also if the record cannot be written.
    await record(messageOf(thrown)).catch(() => {});
    throw thrown;
  }
  await record(null);
}

/** Ingests the deliveries at a path. Returns the files that were refused. */
const ingestFrom = (path: string, settings: IngestValues, run: IngestRun): Promise<readonly string[]> =>
  reporting(settings, run, async (options, mappedDay) => {
    const { mapping } = options;
    const isInColumn =
      settings.day === undefined && typeof mapping?.day === "object" && mapping.day.column !== undefined;
    const deliveries = isInColumn
      ? await deliveriesByColumn(await undatedFiles(path), mapping, { limits: settings })
      : await deliveriesAt(path, settings.day, mappedDay);
    await ingest(settings.lake, deliveries, options);
  });

/** Ingests the deliveries of a queue, then removes expired days. */
async function ingestWaiting(queue: string, settings: IngestValues, run: IngestRun): Promise<void> {
  let hasPublished = false;
  const refused = await reporting(settings, run, async (options, mappedDay) => {
    const onDelivery = (event: QueueEvent): void => {
      const lines = queueLines(event);
      if (lines.length > 0) printResult(event, lines, settings.json);
      logCommand("ingest", "info", event, "delivery taken");
    };
    hasPublished = await ingestQueue(settings.lake, queue, { ...options, mappedDay, onDelivery });
  });
  if (hasPublished) await vacuumLake(settings, settings);
  requireAll(refused);
}

/** Throws a UserError if files were refused. */
function requireAll(refused: readonly string[]): void {
  if (refused.length > 0) throw new UserError(`Published without ${refused.length} files: ${refused.join("; ")}`);
}

/** Calls `work` with the options of an ingest that shows its progress and prints the report of each day. Returns the files that were refused. */
async function reporting(
  settings: IngestValues,
  run: IngestRun,
  work: (options: IngestOptions, mappedDay: MappedDay | undefined) => Promise<void>,
): Promise<readonly string[]> {
  const { mapping: path, preset: presetName, dealers, ...values } = settings;
  const mapping = path === undefined ? presetName && preset(presetName) : await readMapping(path);
  const mappedDay = mappedDayOf(mapping);
  const progress = commandProgress("ingest");
  const refused: string[] = [];
  const options: IngestOptions = {
    ...values,
    limits: values,
    thresholds: values,
    ...(mapping === undefined ? {} : { mapping }),
    ...(dealers === undefined ? {} : { dealers: await readDealerList(dealers) }),
    onStep: progress.step,
    onSkipped: (days) => printResult({ outcome: "skipped", days }, skippedLine(days), settings.json),
    onDay: (report) => {
      progress.end();
      addReport(run, report);
      refused.push(...report.remarks.filter((remark) => remark.startsWith("refused file: ")));
      printResult({ outcome: "written", ...report }, reportLines(report), settings.json);
    },
  };
  try {
    await work(options, mappedDay);
    return refused;
  } finally {
    progress.end();
  }
}

type IngestRun = ScheduledRun<"ingest">;

function addReport(run: IngestRun, { reasons, remarks, ...report }: DeliveryReport): void {
  run.add({ published: 1, rows: report.rows, rejected: report.rejected });
  logCommand("ingest", "info", report, "day published");
}

/** Formats the outcome of a delivery of the queue; a published one has its report. */
const queueLines = ({ day, outcome, reason, notMoved }: QueueEvent): readonly string[] => [
  ...(outcome === "ingested" ? [] : [`${day}: ${outcome}${reason === undefined ? "" : `: ${reason}`}`]),
  ...(notMoved === undefined ? [] : [`${day}: not moved: ${notMoved}; remove it from the queue`]),
];

const skippedLine = (days: readonly string[]): string =>
  `${days[0]} to ${days.at(-1)}: skipped, because the lake has ${days.length === 1 ? "this day" : `these ${days.length} days`}; ` +
  "--replay-from ingests days again";

/** Formats the report of a day: two lines of totals, then one per reason and remark. */
function reportLines(report: DeliveryReport): readonly string[] {
  const { day, version, rows, listed, elsewhere, merged, rejected, held, unknown, noted, remarks } = report;
  const { active, missing, sold, ended, collapsed, filled } = report;
  return [
    `${day}: ${rows} rows = ${listed} listed + ${elsewhere} attributed to another dealer + ${merged} merged + ${rejected} rejected${held === 0 ? "" : ` + ${held} held`}; ` +
      `${unknown} unusable values, ${noted} warnings${filled === 0 ? "" : `, ${filled} values filled from VINs`}`,
    `  version ${version}: ${active} active; ${missing} newly missing, ${sold} sold, ${ended} ended; ${collapsed} collapsed feeds`,
    ...report.reasons.map((issue) => `  ${describeIssue(issue)}`),
    ...judgedLines(report.judged),
    ...remarks.map((remark) => `  ${remark}`),
  ];
}

const shownFeeds = 20;

/** Formats the feeds that collapsed, with the numbers by which they did. */
const judgedLines = (feeds: readonly JudgedFeed[]): readonly string[] => [
  ...feeds.slice(0, shownFeeds).map((feed) => {
    const numbers = `${feed.vins} VINs, expected ${feed.min_vins ?? 0} or more; ${feed.jumped_prices} of ${feed.known_prices} known prices jumped`;
    return `  ${feed.verdict === "collapsed" ? "held" : "accepted although collapsed"}: the feed of ${feed.dealer_id}: ${numbers}`;
  }),
  ...(feeds.length > shownFeeds
    ? [`  and ${feeds.length - shownFeeds} more collapsed feeds: see "carquet quality"`]
    : []),
];
