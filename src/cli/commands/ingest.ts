/** `carquet ingest`: ingests deliveries into the lake, publishes a version for each day, and reports what happened to its rows. */
import { Command, Option } from "commander";
import type { DeliveryReport } from "../../ingest/delivery-report.ts";
import { deliveriesAt } from "../../ingest/feed/delivery.ts";
import type { FeedLimits } from "../../ingest/feed/feed-limits.ts";
import { readMapping } from "../../ingest/feed/mapping.ts";
import { ingest } from "../../ingest/ingest.ts";
import {
  dayOption,
  type EngineSettings,
  engineOptions,
  type FeedLimitSettings,
  feedLimitOptions,
  lakeOption,
  memoryOption,
  replayOption,
  threadsOption,
} from "../options.ts";
import { createProgress } from "../progress.ts";

interface IngestSettings extends EngineSettings, FeedLimitSettings {
  readonly lake: string;
  readonly mapping?: string;
  readonly day?: string;
  readonly replayFrom?: string;
}

export const ingestCommand = (): Command => {
  const command = new Command("ingest")
    .description(
      "Ingest all dated folders in a folder, in the order of their days, or one folder or file with --day. Publishes a version after " +
        "each day. Rejects a day that is already in the lake, and a delivery with an unreadable file; published data never changes.",
    )
    .argument("<path>", "folder of dated folders (YYYY-MM-DD), folder of one day, or file")
    .addOption(lakeOption())
    .addOption(
      new Option("--mapping <file>", "mapping of a CSV with other columns to a feed (schema: schemas/mapping.json)"),
    )
    .addOption(dayOption())
    .addOption(replayOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(ingestFrom);
  for (const option of feedLimitOptions()) command.addOption(option);
  return command;
};

/** Ingests the deliveries at a path and prints the report of each day. */
async function ingestFrom(path: string, settings: IngestSettings): Promise<void> {
  const mapping = settings.mapping === undefined ? undefined : await readMapping(settings.mapping);
  const deliveries = await deliveriesAt(path, settings.day ?? mapping?.day);
  const progress = createProgress();
  try {
    await ingest(settings.lake, deliveries, {
      ...engineOptions(settings),
      limits: feedLimits(settings),
      ...(mapping === undefined ? {} : { mapping }),
      ...(settings.replayFrom === undefined ? {} : { replayFrom: settings.replayFrom }),
      onStep: progress.step,
      onDay: (report) => {
        progress.end();
        for (const line of reportLines(report)) process.stdout.write(`${line}\n`);
      },
    });
  } finally {
    progress.end();
  }
}

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
