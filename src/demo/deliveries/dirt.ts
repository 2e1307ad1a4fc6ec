/**
 * The dirt in feeds: what dealers write that is not usable, or usable in spite of how it is written. A car has one kind at most, for
 * as long as it stays; what ingest is to record of it stands beside it, which is what the truth counts by.
 */
import { join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** What ingest records: nothing for what is only unusual. */
type Outcome = "rejected" | "unknown" | "noted" | "merged" | "nothing";

interface Dirt {
  readonly kind: string;
  readonly outcome: Outcome;
  readonly field: string;
  /** What is written in place of a clean value. */
  readonly written: (clean: Sql) => Sql;
}

const text = (words: string) => (): Sql => literal(words);

export const dirtKinds: readonly Dirt[] = [
  { kind: "VIN too short", outcome: "rejected", field: "vin", written: (vin) => sql`left(${vin}, 16)` },
  {
    kind: "VIN with the letter O",
    outcome: "rejected",
    field: "vin",
    written: (vin) => sql`left(${vin}, 11) || 'O' || right(${vin}, 5)`,
  },
  {
    kind: "VIN with a hyphen",
    outcome: "rejected",
    field: "vin",
    written: (vin) => sql`left(${vin}, 8) || '-' || right(${vin}, 8)`,
  },
  { kind: "VIN absent", outcome: "rejected", field: "vin", written: () => sql`NULL` },
  { kind: "dealer absent", outcome: "rejected", field: "dealer_id", written: () => sql`NULL` },
  {
    kind: "dealer malformed",
    outcome: "rejected",
    field: "dealer_id",
    written: (id) => sql`'dealer ' || left(${id}, 8)`,
  },
  {
    kind: "dealer nobody described",
    outcome: "rejected",
    field: "dealer_id",
    written: (id) => sql`md5('nobody ' || ${id})::UUID::VARCHAR`,
  },
  {
    kind: "check digit wrong",
    outcome: "noted",
    field: "vin",
    written: (vin) => sql`left(${vin}, 8) || if(substr(${vin}, 9, 1) = '5', '6', '5') || right(${vin}, 8)`,
  },
  { kind: "listed twice", outcome: "merged", field: "", written: (clean) => clean },
  { kind: "price of 0", outcome: "unknown", field: "price", written: text("0") },
  { kind: "price in words", outcome: "unknown", field: "price", written: text("Call for price") },
  { kind: "price too high", outcome: "unknown", field: "price", written: text("99999999") },
  { kind: "price negative", outcome: "unknown", field: "price", written: text("-1") },
  { kind: "miles in words", outcome: "unknown", field: "miles", written: text("exempt") },
  { kind: "miles too high", outcome: "unknown", field: "miles", written: text("9999999") },
  { kind: "MSRP in words", outcome: "unknown", field: "msrp", written: text("TBD") },
  { kind: "base MSRP too low", outcome: "unknown", field: "base_msrp", written: text("1") },
  { kind: "year in words", outcome: "unknown", field: "year", written: text("unknown") },
  { kind: "year before cars", outcome: "unknown", field: "year", written: text("26") },
  { kind: "too many doors", outcome: "unknown", field: "doors", written: text("44") },
  { kind: "kind of sale unknown", outcome: "unknown", field: "inventory_type", written: text("wholesale") },
  { kind: "availability unknown", outcome: "unknown", field: "availability_status", written: text("on hold") },
  { kind: "detail page no address", outcome: "unknown", field: "vdp_url", written: text("see website") },
  { kind: "window sticker unclear", outcome: "unknown", field: "window_sticker_verified", written: text("maybe") },
  {
    kind: "keyword unknown",
    outcome: "unknown",
    field: "keywords",
    written: (words) => sql`list_append(${words}, 'garage_kept')`,
  },
  {
    kind: "stock number too long",
    outcome: "unknown",
    field: "stock_number",
    written: (stock) => sql`repeat(${stock} || '-', 20)`,
  },
  { kind: "observation unreadable", outcome: "unknown", field: "observed_at", written: text("yesterday") },
  { kind: "VIN in lower case", outcome: "nothing", field: "vin", written: (vin) => sql`' ' || lower(${vin}) || ' '` },
  { kind: "price absent", outcome: "nothing", field: "price", written: () => sql`NULL` },
  {
    kind: "price with sign and comma",
    outcome: "nothing",
    field: "price",
    written: (price) => sql`'$' || ltrim(format('{:,}', ${price}), '$')`,
  },
  {
    kind: "price with cents",
    outcome: "nothing",
    field: "price",
    written: (price) => sql`if(contains(${price}, '.'), ${price}, ${price} || '.00')`,
  },
  { kind: "miles with a comma", outcome: "nothing", field: "miles", written: (miles) => sql`format('{:,}', ${miles})` },
  {
    kind: "version with a comma",
    outcome: "nothing",
    field: "version",
    written: (version) => sql`replace(${version}, ' (', ', (')`,
  },
  { kind: "trim in capitals", outcome: "nothing", field: "trim", written: (trim) => sql`upper(${trim})` },
  {
    kind: "option code of the dealer's own",
    outcome: "nothing",
    field: "options_packages",
    written: (codes) => sql`list_append(${codes}, 'DLR9')`,
  },
  { kind: "time of observation absent", outcome: "nothing", field: "observed_at", written: () => sql`NULL` },
];

/** The kinds with an outcome, as a list of texts. */
export const kindsWithOutcome = (outcome: Outcome): readonly string[] =>
  dirtKinds.filter((dirt) => dirt.outcome === outcome).map(({ kind }) => kind);

/** A car's kind of dirt, null for most. On small lots no row is lost by it: their feeds would look as if they had been cut short. */
export function drawDirt(draws: RandomDraws, car: Sql, share: number): Sql {
  const harmless = dirtKinds.filter(({ outcome }) => outcome !== "rejected");
  const one = (among: readonly Dirt[]): Sql =>
    draws.pick("kind of dirt", car, sql`[${join(among.map(({ kind }) => literal(kind)))}]`);
  return sql`CASE WHEN ${draws.occurs("dirt", car, share)} THEN if(is_steady, ${one(dirtKinds)}, ${one(harmless)}) END`;
}

/** A field as it is written: `clean`, or what the row's kind of dirt makes of it. */
export function written(field: string, clean: Sql, asText: (value: Sql) => Sql): Sql {
  const cases = dirtKinds
    .filter((dirt) => dirt.field === field)
    .map(({ kind, written: dirty }) => sql`WHEN ${literal(kind)} THEN ${dirty(clean)}`);
  return cases.length === 0 ? clean : sql`CASE dirt ${join(cases, sql` `)} ELSE ${asText(clean)} END`;
}

/** Whether a row's dirt has an outcome. */
export const hasDirtOutcome = (outcome: Outcome): Sql =>
  sql`coalesce(dirt IN (${join(kindsWithOutcome(outcome).map((kind) => literal(kind)))}), false)`;

/** The rows that a car has in a feed: two where it is listed twice. */
export const rowCopies = sql`if(${hasDirtOutcome("merged")}, ${numberLiteral(2)}, ${numberLiteral(1)})`;
