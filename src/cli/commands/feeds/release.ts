/**
 * `carquet release`, `reject` and `correct`: decisions about a feed that is held because it collapsed, for the next ingest and for replays. They read the
 * records of the published version from Parquet files, without its search index.
 */
import { basename } from "node:path";
import { Command } from "commander";
import { textIn } from "../../../base/json.ts";
import { printable, UsageError, UserError } from "../../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../../../db/duckdb.ts";
import { correctHeldFeed, decideFeed, undoDecision } from "../../../ingest/held-feeds.ts";
import type { FeedDecision } from "../../../lake/feed-decisions.ts";
import { requireDay, requireManifest } from "../../../lake/published-lake.ts";
import { FeedRecords, type ParquetVersion } from "../../../serving/feed-records.ts";
import { pathParser } from "../../option-parsers.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";

const decisionSettings = {
  ...sharedSettings("lake"),
  undo: { flags: "--undo", help: "withdraw the decision about the feed, whichever it is" },
} as const satisfies SettingRows;

/** Returns the command of a decision about a held feed; `sentence` says what follows from it, in one line. */
const decisionCommand = (
  decision: "release" | "reject",
  description: string,
  sentence: (feed: FeedDecision, isLast: boolean) => string,
): Command =>
  addSettings(new Command(decision), decisionSettings)
    .description(description)
    .argument("<dealer>", "id of the dealer")
    .argument("[day]", "day of the feed, YYYY-MM-DD (default: that of the dealer's last feed)")
    .action((dealer: string, day: string | undefined, { lake, undo }: ValuesOf<typeof decisionSettings>) =>
      withPublishedRecords({ lake, day }, async ({ feeds, manifest: { as_of } }) => {
        const last = await lastDayOf(feeds, dealer, as_of);
        const feed = { dealer_id: dealer, day: day ?? last };
        if (undo === true) return printUndone(await undoDecision({ lake, queue: undefined }, feed));
        const decided = await decideFeed({ lake, queue: undefined }, feeds, feed, { decision, at: new Date() });
        process.stdout.write(`${sentence(decided, feed.day === last)}\n`);
      }),
    );

const printUndone = ({ decision, dealer_id, day }: FeedDecision): void =>
  void process.stdout.write(`Withdrew the ${nouns[decision]} of the feed of ${dealer_id} of ${day}.\n`);

const nouns = { release: "release", reject: "rejection", correct: "correction", wait: "wait", end: "end" } as const;

export const releaseCommand = (): Command =>
  decisionCommand(
    "release",
    "Release a feed that is held because its rows or prices collapsed, once it proves right. The dealer's next feed is compared with it, and " +
      "`carquet ingest --replay-from <day>` accepts it. Published days do not change.",
    ({ dealer_id, day, vins }, isLast) => {
      const next = isLast ? "The dealer's next feed is compared with it." : "The dealer has delivered since then.";
      return `Released the feed of ${dealer_id} of ${day}, ${vins} VINs. ${next} A replay from ${day} accepts it.`;
    },
  );

export const rejectCommand = (): Command =>
  decisionCommand(
    "reject",
    "Reject a feed that is held, once it proves wrong. It does not count among the collapsed feeds in a row, of which the seventh is accepted, and " +
      "`carquet ingest --replay-from <day>` holds all of its rows. Published days do not change.",
    ({ dealer_id, day, vins }) =>
      `Rejected the feed of ${dealer_id} of ${day}, ${vins} VINs. A replay from ${day} holds all of its rows.`,
  );

const correctSettings = {
  ...decisionSettings,
  queue: { flags: "--queue <dir>", help: "the queue that ingested the feed" },
  file: { flags: "--file <name>", help: "name of the replaced file in the delivery, such as source/dealer/stock.csv" },
  with: { flags: "--with <file>", help: "the new file", parse: pathParser },
} as const satisfies SettingRows;

export const correctCommand = (): Command =>
  addSettings(new Command("correct"), correctSettings)
    .description(
      "Correct a feed that is held: the file --with replaces the one in which it came. The next `carquet ingest --queue` replays the lake from its day.",
    )
    .argument("<dealer>", "id of the dealer")
    .argument("[day]", "day of the feed, YYYY-MM-DD (default: that of the dealer's last feed)")
    .action((dealer: string, day: string | undefined, settings: ValuesOf<typeof correctSettings>) => {
      const { lake, queue, file, with: path, undo } = settings;
      return withPublishedRecords({ lake, day }, async ({ feeds, manifest: { as_of } }) => {
        const feed = { dealer_id: dealer, day: day ?? (await lastDayOf(feeds, dealer, as_of)) };
        if (undo === true) return printUndone(await undoDecision({ lake, queue }, feed));
        if (file === undefined || path === undefined)
          throw new UsageError("Missing --file or --with: expected the replaced file and the new one.");
        const correction = { file, name: basename(path), path, at: new Date() };
        await correctHeldFeed({ lake, queue }, feeds, feed, correction);
        process.stdout.write(`The next ingest of the queue replays the lake from ${feed.day} with ${path}.\n`);
      });
    });

/** Returns the day of a dealer's last feed. Throws a UserError for an unknown dealer. */
async function lastDayOf(feeds: FeedRecords, dealer: string, asOf: string): Promise<string> {
  const [newest] = await feeds.feedsOf([dealer], asOf);
  if (newest !== undefined) return textIn(newest, "last_delivered_on");
  throw new UserError(`Unknown dealer ${printable(dealer, 60)}: expected a dealer that has delivered by ${asOf}.`);
}

export interface RecordOptions extends DatabaseOptions {
  readonly lake: string;
  readonly dataVersion?: string | undefined;
  /** A day that the version must have. */
  readonly day?: string | undefined;
}

interface PublishedRecords extends ParquetVersion {
  readonly feeds: FeedRecords;
}

/** Calls `work` with the records of a version. Throws a UserError for an unknown lake, version or day. */
export async function withPublishedRecords<T>(
  { lake, dataVersion, day, ...options }: RecordOptions,
  work: (records: PublishedRecords) => Promise<T>,
): Promise<T> {
  const manifest = await requireManifest(lake, dataVersion);
  if (day !== undefined) requireDay(manifest, day);
  return DuckDatabase.use(options, (session) => {
    const version: ParquetVersion = { manifest, folder: lake, rowsFrom: (_files, query) => session.rows(query) };
    return work({ ...version, feeds: new FeedRecords(version) });
  });
}
