/** The Parquet files of a version that contain listings, by state. */
import { calendarMonth, plusDays } from "../base/day.ts";
import type { Row } from "../base/json.ts";
import { hashOfFiles } from "../lake/listed-file.ts";
import type { LakeFile, Manifest } from "../lake/manifest.ts";
import { activeOn, goneIn, type Inventory } from "../lake/market.ts";
import { openPartition } from "../lake/tables.ts";
import { life } from "../listing/lifecycle-rules.ts";

export const listingStates = ["active", "missing", "sold", "ended"] as const;
export type ListingState = (typeof listingStates)[number];

/** A listing found by a look-up, with the requested columns. */
export interface FoundListing {
  readonly state: ListingState;
  readonly row: Row;
}

/** A Parquet file of listings: all in one state, or rows of past days. */
export interface ListingFile {
  readonly state: ListingState | "past";
  readonly file: LakeFile;
  /** The files of the valuations of its listings. */
  readonly valuations: readonly LakeFile[];
}

/** Returns the inventory of each state: active and missing listings as of the version's day, all sold and ended ones. */
export function inventoriesOf(manifest: Manifest): Readonly<Record<ListingState, Inventory>> {
  const { absent, sold } = manifest.tables;
  return {
    active: activeOn(manifest, manifest.as_of),
    missing: goneIn(absent.filter(({ partition }) => partition === openPartition)),
    sold: goneIn(sold),
    ended: goneIn(absent.filter(({ partition }) => partition !== openPartition)),
  };
}

/** Returns the files that contain each listing of a version exactly once, then those of past days. */
export const listingFiles = (manifest: Manifest): readonly ListingFile[] => [
  ...(Object.entries(inventoriesOf(manifest)) as [ListingState, Inventory][]).flatMap(
    ([state, { files, valuations }]) => files.map((file) => ({ state, file, valuations })),
  ),
  ...manifest.tables.past_listings.map((file) => ({ state: "past" as const, file, valuations: [] })),
];

/** Returns the content hash of what the rows of a file are built from. */
export const sourceOf = ({ file, valuations }: ListingFile): string =>
  valuations.length === 0 ? file.sha256 : hashOfFiles([file, ...valuations]);

/**
 * Returns the files of listings sold on or after a day, and perhaps of some sold earlier. The month of a file is that of the sale or of the day on
 * which it became known.
 */
export function soldFilesSince({ tables }: Manifest, day: string): readonly LakeFile[] {
  const month = calendarMonth(plusDays(day, 1 - life.soldAfterDays));
  return tables.sold.filter(({ partition }) => (partition ?? "") >= month);
}
