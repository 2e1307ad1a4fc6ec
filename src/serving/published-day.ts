/** The published day of a version: what its delivery brought, which dealers are silent, and how many rows came on each of the last days. */
import { plusDays } from "../base/day.ts";
import { integerIn, type Row, textIn } from "../base/json.ts";
import { ident, join, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/derived-relations.ts";
import type { LakeFile } from "../lake/manifest.ts";
import { filesOfDay, holdsOn, intervalFiles, rowsOfDay } from "../lake/market.ts";
import { life } from "../listing/lifecycle-rules.ts";
import type { IngestedDay, ParquetVersion } from "./feed-records.ts";
import type { LakeVersion } from "./lake-version.ts";

/** How many calendar days are shown, the published one last. */
const shownDays = 14;

export interface PublishedDay {
  readonly version: string;
  /** Listings that are active and were not on the published day before. */
  readonly added: number;
  /** Listings that are active on both days, with other values. */
  readonly changed: number;
  /** Listings that were active on the published day before and are not any more. */
  readonly left: number;
  /** Dealers with a feed on the day or on one of the 7 days before, and the ids of those without one on the day. */
  readonly dealers: number;
  readonly silent: readonly string[];
  readonly days: readonly DeliveredDay[];
}

export interface DeliveredDay {
  readonly day: string;
  /** Feeds of the day, and VINs in them; undefined if the day was not published. */
  readonly feeds: number | undefined;
  readonly vins: number | undefined;
  /** Whether the day was expected and not published. */
  readonly hasFailed: boolean;
}

export async function readPublishedDay(version: LakeVersion): Promise<PublishedDay> {
  const { as_of: day, days, version: name } = version.manifest;
  const published = Object.keys(days);
  const [changes, silence] = await Promise.all([changesOn(version), silenceOn(version)]);
  const shown = lastDays(day);
  const delivered = await version.feeds.summaries(shown.filter((one) => published.includes(one)));
  return {
    version: name,
    added: integerIn(changes, "added"),
    changed: integerIn(changes, "changed"),
    left: integerIn(changes, "left"),
    dealers: integerIn(silence, "dealers"),
    silent: JSON.parse(textIn(silence, "silent")),
    days: shown.map((one) => ({
      day: one,
      hasFailed: hasFailed(published, one),
      ...pickCounts(delivered.find((found) => found.day === one)),
    })),
  };
}

const pickCounts = (found: IngestedDay | undefined): Pick<DeliveredDay, "feeds" | "vins"> => ({
  feeds: found?.feeds,
  vins: found?.vins,
});

/** Returns the last days up to one, in order. */
export const lastDays = (day: string, count = shownDays): readonly string[] =>
  Array.from({ length: count }, (_, index) => plusDays(day, index + 1 - count));

/** Returns whether a day was expected and not published. `published` is in order; days before the first one were not expected. */
export const hasFailed = (published: readonly string[], day: string): boolean =>
  day > (published[0] ?? day) && !published.includes(day) && isExpected(published, day);

/** Returns whether a delivery of a day is expected: one of its weekday was published in the two weeks before or after, or the lake has no such days. */
function isExpected(published: readonly string[], day: string): boolean {
  const first = published[0] ?? day;
  const last = published.at(-1) ?? day;
  const alike = [-14, -7, 7, 14].map((days) => plusDays(day, days)).filter((one) => one >= first && one <= last);
  return alike.length === 0 || alike.some((one) => published.includes(one));
}

/**
 * Returns the day of the next delivery: as far from the published one as published days usually are, and on a weekday that has deliveries. Undefined
 * if fewer than three days have been published.
 */
export function nextDayOf(published: readonly string[]): string | undefined {
  const recent = published.slice(-shownDays);
  const last = recent.at(-1);
  if (recent.length < 3 || last === undefined) return undefined;
  const gaps = recent.slice(1).map((day, index) => (Date.parse(day) - Date.parse(recent[index] ?? day)) / 86_400_000);
  const usual = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 1;
  const next = plusDays(last, usual);
  const week = Array.from({ length: 7 }, (_, days) => plusDays(next, days));
  return week.find((day) => isExpected(published, day)) ?? next;
}

/** Columns of an interval that say when it was delivered and why its claim won, not what it is. */
const bookkeeping = ["unseen_feeds", "last_seen", "last_checked_at", "claimed_since", "decided_by"];

/** The columns that are compared, as structs: reading all values takes ten times as long. */
const comparedColumns = sql`id, {${join(["price", "miles"].map((name) => sql`${ident(name)}: ${ident(name)}`))}} AS "values",
  {${join(bookkeeping.map((name) => sql`${ident(name)}: ${ident(name)}`))}} AS delivered`;

/**
 * Counts the listings that differ between the day and the published one before. The values of a row that ended and of the next one differ if
 * its bookkeeping does not; if both can, price and mileage are compared: a feed that was absent can have changed other values.
 */
async function changesOn(version: ParquetVersion): Promise<Row | undefined> {
  const { manifest, folder } = version;
  const { as_of: day, days, tables } = manifest;
  const before = Object.keys(days).at(-2) ?? plusDays(day, -1);
  const was = sql`DATE ${literal(before)}`;
  const past = intervalFiles(manifest, before).filter((file) => !tables.listings.includes(file));
  const isOther = sql`older."values" IS DISTINCT FROM newer."values" OR older.delivered IS NOT DISTINCT FROM newer.delivered`;
  const rowsWhere = (files: readonly LakeFile[], condition: Sql): Sql =>
    sql`SELECT ${comparedColumns} FROM (${rowsOfFiles("listings", files, folder)}) WHERE ${condition}`;
  const [counts] = await version.rowsFrom(
    [...tables.listings, ...past],
    sql`
    SELECT count(*) FILTER (older.id IS NULL)::INTEGER AS added, count(*) FILTER (newer.id IS NULL)::INTEGER AS "left",
           count(*) FILTER (older.id IS NOT NULL AND newer.id IS NOT NULL AND (${isOther}))::INTEGER AS changed
    FROM (${rowsWhere(tables.listings, sql`valid_from > ${was}`)}) AS newer
    FULL JOIN (${rowsWhere(past, sql`${holdsOn(was)} AND valid_to <= DATE ${literal(day)}`)}) AS older USING (id)`,
  );
  return counts;
}

/** Counts the dealers that delivered on the day or shortly before, and lists those that did not deliver on it. */
async function silenceOn(version: ParquetVersion): Promise<Row | undefined> {
  const { manifest, folder } = version;
  const { as_of: day, tables } = manifest;
  const files = filesOfDay(tables.feeds, day);
  const [counts] = await version.rowsFrom(
    files,
    sql`
    SELECT count(*)::INTEGER AS dealers, to_json(coalesce(list_sort(list(dealer_id) FILTER (verdict = 'none')), []))::VARCHAR AS silent
    FROM (${rowsOfDay("feeds", files, folder, day)})
    WHERE last_delivered_on >= DATE ${literal(plusDays(day, -life.silentDays))}`,
  );
  return counts;
}
