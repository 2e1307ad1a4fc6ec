/**
 * The checks of a quality report: what each counts, and how far above the usual share of the dealer it warns.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Attribute } from "../../listing/attribute.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import { type AttributeName, attributeOf, namesIn } from "../../listing/schema.ts";

/** Every check: the distance of its share from the usual one from which it warns, and what it counts. */
export const qualityChecks = {
  rows: [0.3, "VINs in the feed; its share is that of the usual number. A collapsed feed is held"],
  prices: [0.1, "known prices that jumped since the feed before. A feed whose prices collapsed is held"],
  silent: [0, "days since the last feed of a dealer that has delivered none"],
  rejected: [0.02, "rows that were rejected, by reason"],
  held: [0, "rows that were set aside because the prices of the feed collapsed"],
  unknown: [0.05, "values that became unknown, by reason"],
  noted: [0.1, "unusual values, by reason"],
  merged: [0.05, "rows that a later row of the same VIN replaced"],
  missing: [0.2, "vehicles without a value of the attribute"],
  outlier: [
    0.02,
    "implausible prices (below 500, or 1.5 times the MSRP) and mileages (over 300,000; 0 unless new; over 1,000 if new)",
  ],
  shared: [0.05, "vehicles whose stock number, first photo or page is also that of another vehicle in the feed"],
  elsewhere: [0.1, "VINs that are attributed to another dealer"],
  arrived: [0.25, "VINs that the feed before lacked"],
  left: [0.25, "VINs of the feed before that are missing, sold or ended"],
  repriced: [0.25, "prices that changed"],
  price_jump: [0.02, `prices that rose or fell by more than a factor of ${life.jumpFactor}`],
  miles_fell: [0.02, "mileages that fell"],
} as const satisfies Readonly<Record<string, readonly [margin: number, counts: string]>>;

type QualityCheckName = keyof typeof qualityChecks;

/** A condition on a row, counted by check and field. */
type RowCheck = readonly [check: QualityCheckName, field: string, condition: Sql];

/** Values that a feed states of a vehicle; not those that follow from other days. */
const isStated = (name: AttributeName): boolean => {
  const { feed, serve } = attributeOf(name);
  return (
    ["field", "spelled", "list", "tokens", "rule"].includes(feed) &&
    serve !== "key" &&
    !["vin", "last_checked_at"].includes(name)
  );
};

const isMissing = (column: Sql, { type, search }: Attribute): Sql =>
  search === "tokens" || (typeof type !== "string" && "items" in type)
    ? sql`coalesce(len(${column}), 0) = 0`
    : sql`${column} IS NULL`;

const missingIn = (home: "builds" | "listings", relation: string): readonly RowCheck[] =>
  namesIn(home)
    .filter(isStated)
    .map((name) => ["missing", name, isMissing(ident(relation, attributeOf(name).column), attributeOf(name))]);

const isNew = sql`facts.inventory_type IS NOT DISTINCT FROM 'new'`;

/** The checks of a row of `facts`, a claim with its `builds`. */
export const rowChecks: readonly RowCheck[] = [
  ...missingIn("builds", "builds"),
  ...missingIn("listings", "facts"),
  ["outlier", "price", sql`facts.price < 500 OR facts.price > 1.5 * facts.msrp`],
  [
    "outlier",
    "miles",
    sql`facts.miles > 300000 OR (facts.miles > 1000 AND ${isNew}) OR (facts.miles = 0 AND NOT ${isNew})`,
  ],
  ["elsewhere", "vin", sql`NOT facts.is_owner`],
];

const jumps = sql`(now.price > ${life.jumpFactor} * was.price OR was.price > ${life.jumpFactor} * now.price)`;

/** The checks of a claim on two days: `now` and, on the published day before, `was`; one of them can be absent. */
export const changeChecks: readonly RowCheck[] = [
  ["arrived", "vin", sql`was.vin IS NULL`],
  ["left", "vin", sql`now.vin IS NULL`],
  ["repriced", "price", sql`now.price <> was.price`],
  ["price_jump", "price", jumps],
  ["miles_fell", "miles", sql`now.miles < was.miles`],
];

export const examplesMax = 5;

/** Aggregates the rows of a group: for each check, how many it finds, and the first of them by `example`, if there is one. */
export const foundBy = (checks: readonly RowCheck[], example?: Sql): Sql =>
  sql`[${join(
    checks.map(([check, field, condition]) => {
      const examples =
        example === undefined
          ? sql`NULL::VARCHAR[]`
          : sql`min(${example}, ${integerLiteral(examplesMax)}) FILTER (${condition})`;
      return sql`{"check": ${literal(check)}, field: ${literal(field)}, n: count_if(${condition}), examples: ${examples}}`;
    }),
  )}]`;

/** The rows of a check without a history: fields whose values vehicles of one feed share. */
export const sharedFields: Readonly<Record<string, Sql>> = {
  stock_number: sql`stock_number`,
  photo_urls: sql`photo_urls[1]`,
  vdp_url: sql`vdp_url`,
};

/** Returns a value of each check as a `CASE` over the column `check`. */
export const byCheck = (value: (check: QualityCheckName) => Sql): Sql =>
  sql`CASE "check" ${join(
    (Object.keys(qualityChecks) as QualityCheckName[]).map((check) => sql`WHEN ${literal(check)} THEN ${value(check)}`),
    sql` `,
  )} END`;
