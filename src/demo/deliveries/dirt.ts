/**
 * Faults of the demo market's feeds: invalid or unusually formatted values, and feeds that are late (a day old), partial (truncated), empty or absent. A car
 * has at most one kind of invalid value, for its whole life. Each kind states the outcome that ingest must record, from which `truth.ts` derives counts.
 */

import type { Session } from "../../db/duckdb.ts";
import { join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { checkDigitOf } from "../../listing/vins.ts";
import { failureFreeDays, type MarketShape, partialTenths } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** The outcome that ingest records; `nothing` for values that are valid in spite of their format. */
type Outcome = "rejected" | "unknown" | "noted" | "merged" | "nothing";

interface DirtKind {
  readonly kind: string;
  readonly outcome: Outcome;
  readonly field: string;
  /** Returns the value written instead of the clean one. */
  readonly corrupt: (clean: Sql) => Sql;
}

const replaceBy = (text: string) => (): Sql => literal(text);

// biome-ignore format: a table is read by its columns
const dirtKinds: readonly DirtKind[] = [
  { kind: "VIN too short", outcome: "rejected", field: "vin", corrupt: (vin) => sql`left(${vin}, 16)` },
  { kind: "VIN with the letter O", outcome: "rejected", field: "vin", corrupt: (vin) => sql`left(${vin}, 11) || 'O' || right(${vin}, 5)` },
  { kind: "VIN with a hyphen", outcome: "rejected", field: "vin", corrupt: (vin) => sql`left(${vin}, 8) || '-' || right(${vin}, 8)` },
  { kind: "VIN absent", outcome: "rejected", field: "vin", corrupt: () => sql`NULL` },
  { kind: "dealer absent", outcome: "rejected", field: "dealer_id", corrupt: () => sql`NULL` },
  { kind: "dealer malformed", outcome: "rejected", field: "dealer_id", corrupt: (id) => sql`'dealer ' || left(${id}, 8)` },
  { kind: "dealer unknown", outcome: "rejected", field: "dealer_id", corrupt: (id) => sql`md5('unknown ' || ${id})::UUID::VARCHAR` },
  // The rule of check digits holds in North America.
  { kind: "check digit wrong", outcome: "noted", field: "vin",
    corrupt: (vin) => sql`'1' || substr(${vin}, 2, 7) || if(${checkDigitOf(sql`('1' || right(${vin}, 16))`)} = '5', '6', '5') || right(${vin}, 8)` },
  { kind: "listed twice", outcome: "merged", field: "", corrupt: (clean) => clean },
  { kind: "price of 0", outcome: "unknown", field: "price", corrupt: replaceBy("0") },
  { kind: "price in words", outcome: "unknown", field: "price", corrupt: replaceBy("Call for price") },
  { kind: "price too high", outcome: "unknown", field: "price", corrupt: replaceBy("99999999") },
  { kind: "price negative", outcome: "unknown", field: "price", corrupt: replaceBy("-1") },
  { kind: "miles in words", outcome: "unknown", field: "miles", corrupt: replaceBy("exempt") },
  { kind: "miles too high", outcome: "unknown", field: "miles", corrupt: replaceBy("9999999") },
  { kind: "MSRP in words", outcome: "unknown", field: "msrp", corrupt: replaceBy("TBD") },
  { kind: "base MSRP too low", outcome: "unknown", field: "base_msrp", corrupt: replaceBy("1") },
  { kind: "year in words", outcome: "unknown", field: "year", corrupt: replaceBy("unknown") },
  { kind: "year before cars", outcome: "unknown", field: "year", corrupt: replaceBy("1886") },
  { kind: "too many doors", outcome: "unknown", field: "doors", corrupt: replaceBy("44") },
  { kind: "kind of sale unknown", outcome: "unknown", field: "inventory_type", corrupt: replaceBy("wholesale") },
  { kind: "availability unknown", outcome: "unknown", field: "availability_status", corrupt: replaceBy("on hold") },
  { kind: "detail page without URL", outcome: "unknown", field: "vdp_url", corrupt: replaceBy("see website") },
  { kind: "window sticker unclear", outcome: "unknown", field: "window_sticker_verified", corrupt: replaceBy("maybe") },
  { kind: "keyword unknown", outcome: "unknown", field: "keywords", corrupt: (words) => sql`list_append(${words}, 'garage_kept')` },
  { kind: "stock number too long", outcome: "unknown", field: "stock_number", corrupt: (stock) => sql`repeat(${stock} || '-', 20)` },
  { kind: "observation unreadable", outcome: "unknown", field: "observed_at", corrupt: replaceBy("yesterday") },
  { kind: "VIN in lower case", outcome: "nothing", field: "vin", corrupt: (vin) => sql`' ' || lower(${vin}) || ' '` },
  { kind: "price absent", outcome: "nothing", field: "price", corrupt: () => sql`NULL` },
  { kind: "price with sign and comma", outcome: "nothing", field: "price", corrupt: (price) => sql`'$' || ltrim(format('{:,}', ${price}), '$')` },
  { kind: "price with cents", outcome: "nothing", field: "price", corrupt: (price) => sql`if(contains(${price}, '.'), ${price}, ${price} || '.00')` },
  { kind: "miles with a comma", outcome: "nothing", field: "miles", corrupt: (miles) => sql`format('{:,}', ${miles})` },
  { kind: "version with a comma", outcome: "nothing", field: "version", corrupt: (version) => sql`replace(${version}, ' (', ', (')` },
  { kind: "trim in capitals", outcome: "nothing", field: "trim", corrupt: (trim) => sql`upper(${trim})` },
  { kind: "option code of the dealer's own", outcome: "nothing", field: "options_packages", corrupt: (codes) => sql`list_append(${codes}, 'DLR9')` },
  { kind: "time of observation absent", outcome: "nothing", field: "observed_at", corrupt: () => sql`NULL` },
];

export const kindsWithOutcome = (outcome: Outcome): readonly string[] =>
  dirtKinds.filter((dirt) => dirt.outcome === outcome).map(({ kind }) => kind);

/** Draws a car's kind of dirt; null for most cars. At small dealers no kind rejects rows: their feeds would look collapsed. */
export function drawDirt(draws: RandomDraws, car: Sql, share: number): Sql {
  const harmless = dirtKinds.filter(({ outcome }) => outcome !== "rejected");
  const pickKind = (kinds: readonly DirtKind[]): Sql =>
    draws.pick("kind of dirt", car, sql`[${join(kinds.map(({ kind }) => literal(kind)))}]`);
  return sql`CASE WHEN ${draws.occurs("dirt", car, share)} THEN if(is_large, ${pickKind(dirtKinds)}, ${pickKind(harmless)}) END`;
}

/** Returns the value of a field as the feed has it: corrupted if the row's dirt concerns this field, else `clean`. */
export function applyDirt(field: string, clean: Sql, asText: (value: Sql) => Sql): Sql {
  const cases = dirtKinds
    .filter((dirt) => dirt.field === field)
    .map(({ kind, corrupt }) => sql`WHEN ${literal(kind)} THEN ${corrupt(clean)}`);
  return cases.length === 0 ? clean : sql`CASE dirt ${join(cases, sql` `)} ELSE ${asText(clean)} END`;
}

/** A condition: a row's dirt has the given outcome. */
export const hasDirtOutcome = (outcome: Outcome): Sql =>
  sql`coalesce(dirt IN (${join(kindsWithOutcome(outcome).map((kind) => literal(kind)))}), false)`;

/** A condition: the row of a car states when it was observed. */
export const hasObservation: Sql = sql`coalesce(dirt NOT IN (${join(
  dirtKinds.filter(({ field }) => field === "observed_at").map(({ kind }) => literal(kind)),
)}), true)`;

/** The number of rows of a car in a feed: two if it is listed twice. */
export const rowCopies = sql`if(${hasDirtOutcome("merged")}, ${numberLiteral(2)}, ${numberLiteral(1)})`;

/** A dealer's feed can fail only every third day, so that no dealer is silent for a week by accident. */
const failureIntervalDays = 3;

/** Creates the table `feed_failures` (dealer, day, failure). A small dealer's feed is never partial: it could not be recognized as such. */
export async function createFeedFailures(
  session: Session,
  draws: RandomDraws,
  { days, shares }: MarketShape,
): Promise<void> {
  const { late, partial, empty, absent } = shares;
  const [lateLimit, partialLimit, emptyLimit, absentLimit] = [
    late,
    late + partial,
    late + partial + empty,
    late + partial + empty + absent,
  ].map((share) => numberLiteral(share * failureIntervalDays));
  const drawn = draws.uniform("trouble", sql`dealer::BIGINT * 100000 + day`);
  await session.createTempTable(
    "feed_failures",
    sql`
    SELECT dealer, day, failure FROM (
      SELECT dealer, day, is_large, CASE WHEN drawn < ${lateLimit ?? sql`0`} THEN 'late' WHEN drawn < ${partialLimit ?? sql`0`} THEN 'partial'
        WHEN drawn < ${emptyLimit ?? sql`0`} THEN 'empty' WHEN drawn < ${absentLimit ?? sql`0`} THEN 'absent' END AS failure
      FROM (SELECT dealer, is_large, day::INTEGER AS day, ${drawn} AS drawn FROM dealers, range(${numberLiteral(failureFreeDays)}, ${numberLiteral(days)}) AS span_days(day)
            WHERE closes_on IS NULL AND (day + dealer) % ${numberLiteral(failureIntervalDays)} = 0)
    ) WHERE failure IS NOT NULL AND (failure <> 'partial' OR is_large)`,
  );
}

/** A condition: a dealer is open on a day. Reads the dealer's `closes_on`. */
export const isOpen = (day: Sql): Sql => sql`${day} < coalesce(closes_on, 100000)`;

/** A condition: the dealer's feed of a day contains a stay. Reads a row of `stays` with the dealer's `closes_on` and `slots` and the day's `failure`. */
export const isInFeed = (day: Sql): Sql => sql`(${isOpen(day)} AND CASE coalesce(failure, 'none')
  WHEN 'none' THEN begins <= ${day} AND ends > ${day}
  WHEN 'late' THEN begins <= ${day} - 1 AND ends > ${day} - 1
  WHEN 'partial' THEN begins <= ${day} AND ends > ${day} AND ${isInPartialFeed}
  ELSE false END)`;

/** A condition: a slot is in the part of a truncated feed that arrives. */
const isInPartialFeed = sql`slot_at_dealer * 10 < slots * ${numberLiteral(partialTenths)}`;
