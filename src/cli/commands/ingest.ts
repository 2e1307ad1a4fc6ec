/** `carquet ingest`: ingests deliveries into the lake, publishes a version for each day, and reports what happened to its rows. */
import { Command, Option } from "commander";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { DeliveryReport } from "../../ingest/delivery-report.ts";
import { deliveriesAt, type MappedDay } from "../../ingest/feed/delivery.ts";
import type { FeedLimits } from "../../ingest/feed/feed-limits.ts";
import { readMapping } from "../../ingest/feed/mapping.ts";
import { type IngestOptions, ingest } from "../../ingest/ingest.ts";
import { countQueue, ingestQueue, type QueueEvent } from "../../ingest/queue.ts";
import { writeIngestRecord } from "../../lake/ingest-record.ts";
import {
  dayOption,
  type EngineSettings,
  engineOptions,
  type FeedLimitSettings,
  feedLimitOptions,
  lakeOption,
  mappingOption,
  memoryOption,
  metricsFileOption,
  replayOption,
  threadsOption,
} from "../options.ts";
import { commandProgress, logCommand, ScheduledRun } from "../scheduled.ts";
import { vacuumLake } from "./vacuum.ts";

interface IngestSettings extends EngineSettings, FeedLimitSettings {
  readonly lake: string;
  readonly mapping?: string;
  readonly day?: string;
  readonly replayFrom?: string;
  readonly queue?: string;
  readonly metricsFile?: string;
}

export const ingestCommand = (): Command => {
  const command = new Command("ingest")
    .description(
      "Ingest all dated folders in a folder, in the order of their days, or one folder or file with --day. Publishes a version after " +
        "each day. Rejects a day that is already in the lake, and a delivery with an unreadable file; published data never changes. " +
        "With --queue, ingests what waits, moves it, and removes expired days.",
    )
    .argument("[path]", "folder of dated folders (YYYY-MM-DD), folder of one day, or file")
    .addOption(lakeOption())
    .addOption(
      new Option(
        "--queue <dir>",
        "ingest the dated folders in its folder waiting, and move them to ingested, or to refused if the lake is past their day",
      ).conflicts(["day", "replayFrom"]),
    )
    .addOption(mappingOption())
    .addOption(dayOption())
    .addOption(replayOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .addOption(metricsFileOption())
    .action((path: string | undefined, settings: IngestSettings) => {
      const run = new ScheduledRun("ingest", settings.metricsFile);
      return run.measure(() => ingestWhere(path, settings, run));
    });
  for (const option of feedLimitOptions()) command.addOption(option);
  return command;
};

async function ingestWhere(path: string | undefined, settings: IngestSettings, run: IngestRun): Promise<void> {
  const { queue } = settings;
  if (path !== undefined && queue === undefined) return ingestFrom(path, settings, run);
  if (path === undefined && queue !== undefined)
    return recordingEnd(settings.lake, queue, () => ingestWaiting(queue, settings, run));
  throw new UserError("Invalid arguments: expected either a path or --queue.");
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

/** Ingests the deliveries at a path. */
const ingestFrom = (path: string, settings: IngestSettings, run: IngestRun): Promise<void> =>
  reporting(settings, run, async (options, mappedDay) => {
    const deliveries = await deliveriesAt(path, settings.day, mappedDay);
    await ingest(settings.lake, deliveries, options);
  });

/** Ingests the deliveries of a queue, then removes expired days. */
async function ingestWaiting(queue: string, settings: IngestSettings, run: IngestRun): Promise<void> {
  let hasPublished = false;
  await reporting(settings, run, async (options, mappedDay) => {
    const onDelivery = (event: QueueEvent): void => {
      for (const line of queueLines(event)) process.stdout.write(`${line}\n`);
      logCommand("ingest", "info", event, "delivery taken");
    };
    hasPublished = await ingestQueue(settings.lake, queue, { ...options, mappedDay, onDelivery });
  });
  if (hasPublished) await vacuumLake(settings.lake);
}

/** Calls `work` with the options of an ingest that shows its progress and prints the report of each day. */
async function reporting(
  settings: IngestSettings,
  run: IngestRun,
  work: (options: IngestOptions, mappedDay: MappedDay | undefined) => Promise<void>,
): Promise<void> {
  const { replayFrom } = settings;
  // A variable that a deployment passes on can be empty.
  const file = settings.mapping === "" ? undefined : settings.mapping;
  const mapping = file === undefined ? undefined : await readMapping(file);
  const mappedDay = file === undefined || mapping?.day === undefined ? undefined : { file, day: mapping.day };
  const progress = commandProgress("ingest");
  const options: IngestOptions = {
    ...engineOptions(settings),
    limits: feedLimits(settings),
    ...(mapping === undefined ? {} : { mapping }),
    ...(replayFrom === undefined ? {} : { replayFrom }),
    onStep: progress.step,
    onDay: (report) => {
      progress.end();
      addReport(run, report);
      for (const line of reportLines(report)) process.stdout.write(`${line}\n`);
    },
  };
  try {
    await work(options, mappedDay);
  } finally {
    progress.end();
  }
}

type IngestRun = ScheduledRun<"ingest">;

function addReport(run: IngestRun, { reasons, remarks, ...report }: DeliveryReport): void {
  run.add({ published: 1, rows: report.rows, rejected: report.rejected });
  logCommand("ingest", "info", report, "day published");
}

/** Formats what became of a delivery of the queue; a published one has its report. */
const queueLines = ({ day, outcome, reason, notMoved }: QueueEvent): readonly string[] => [
  ...(outcome === "ingested" ? [] : [`${day}: ${outcome}${reason === undefined ? "" : `: ${reason}`}`]),
  ...(notMoved === undefined ? [] : [`${day}: not moved: ${notMoved}; remove it from the queue`]),
];

const feedLimits = (settings: FeedLimitSettings): FeedLimits => ({
  fileBytes: settings.maxFileSize,
  uncompressedBytes: settings.maxUncompressedSize,
  compressionRatio: settings.maxCompressionRatio,
  rows: settings.maxRows,
  recordBytes: settings.maxRecordSize,
  nesting: settings.maxNesting,
});

/** Formats the report of a day: two lines of totals, then one per reason and remark. */
function reportLines(report: DeliveryReport): readonly string[] {
  const { day, version, rows, listed, elsewhere, merged, rejected, unknown, noted, remarks } = report;
  const { active, missing, sold, ended, collapsed } = report;
  return [
    `${day}: ${rows} rows = ${listed} listed + ${elsewhere} attributed to another dealer + ${merged} merged + ${rejected} rejected; ` +
      `${unknown} unusable values, ${noted} warnings`,
    `  version ${version}: ${active} active; ${missing} newly missing, ${sold} sold, ${ended} ended; ${collapsed} collapsed feeds`,
    ...report.reasons.map(({ outcome, field, reason, count }) => `  ${outcome}: ${count} × ${field}: ${reason}`),
    ...remarks.map((remark) => `  ${remark}`),
  ];
}
