/**
 * `carquet release`: releases a feed that is held because it collapsed, for the next ingest and for replays. Reads the records of the published version
 * from Parquet files, without its search index.
 */
import { Command } from "commander";
import { textIn } from "../../../base/json.ts";
import { printable, UserError } from "../../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../../../db/duckdb.ts";
import { requireDay, requireManifest } from "../../../lake/published-lake.ts";
import { releaseHeldFeed } from "../../../query/quality/checks.ts";
import type { QualitySource } from "../../../query/quality/quality.ts";
import { FeedRecords } from "../../../serving/feed-records.ts";
import { addSettings, type SharedValues, sharedSettings } from "../../settings.ts";

export const releaseCommand = (): Command =>
  addSettings(new Command("release"), sharedSettings("lake"))
    .description(
      "Release a feed that is held because its rows or prices collapsed, once it proves right. The dealer's next feed is compared with it, and " +
        "`carquet ingest --replay-from <day>` accepts it. Published days do not change.",
    )
    .argument("<dealer>", "id of the dealer")
    .argument("[day]", "day of the feed, YYYY-MM-DD (default: that of the dealer's last feed)")
    .action((dealer: string, day: string | undefined, { lake }: SharedValues<"lake">) =>
      withPublishedRecords({ lake, day }, async ({ feeds, manifest: { as_of } }) => {
        const last = await lastDayOf(feeds, dealer, as_of);
        const feed = await releaseHeldFeed(lake, feeds, { dealerId: dealer, day: day ?? last });
        const next =
          feed.day === last ? "The dealer's next feed is compared with it." : "The dealer has delivered since then.";
        process.stdout.write(
          `Released the feed of ${dealer} of ${feed.day}, ${feed.vins} VINs. ${next} A replay from ${feed.day} accepts it.\n`,
        );
      }),
    );

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

interface PublishedRecords extends QualitySource {
  readonly feeds: FeedRecords;
}

/** Calls `work` with the records of a version. Throws a UserError for an unknown lake, version or day. */
export async function withPublishedRecords<T>(
  { lake, dataVersion, day, ...options }: RecordOptions,
  work: (records: PublishedRecords) => Promise<T>,
): Promise<T> {
  const manifest = await requireManifest(lake, dataVersion);
  if (day !== undefined) requireDay(manifest, day);
  const database = await DuckDatabase.open(options);
  try {
    return await database.using((session) => {
      const rowsFrom: QualitySource["rowsFrom"] = (_files, query) => session.rows(query);
      return work({ manifest, folder: lake, rowsFrom, feeds: new FeedRecords(manifest, lake, rowsFrom) });
    });
  } finally {
    database.close();
  }
}
