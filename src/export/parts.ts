/**
 * Parts of an export: searches whose matches the file has one after the other, each with the columns for the days of its rows. An export of one day
 * is a single part without such columns; one of a range of days has a part for each day, or one with intervals.
 */
import { integerIn } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import { ident, literal, sql } from "../db/sql.ts";
import { refuseValues } from "../query/modes.ts";
import { planSearch, type SearchPlan } from "../query/search.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { ExportedColumn } from "./columns.ts";

export type ExportQuery = QueryOf<"exportListings">;

export interface ExportPart {
  /** The search, without fields. */
  readonly plan: SearchPlan;
  readonly fields: ExportQuery["fields"];
  /** Columns before those of a page. */
  readonly days: readonly ExportedColumn[];
}

/** Returns the parts of an export. Refuses parameters that cannot be combined. */
export function partsOf(
  { format: _, csv_raw: __, fields, ...query }: ExportQuery,
  version: LakeVersion,
): readonly ExportPart[] {
  const { as, snapshot_date_from: from, snapshot_date_to: to, ...search } = query;
  const planOf = (one: Pick<ExportQuery, "snapshot_date">): SearchPlan =>
    planSearch({ ...search, ...one, fields: [], limit: 0, offset: 0 }, version);
  if (from === undefined && to === undefined && as === undefined) return [{ plan: planOf({}), fields, days: [] }];
  const [first, last] = requireRange(query);
  const days = daysBetween(version, first, last);
  if (as === "intervals") {
    refuseValues(search, "as=intervals");
    const plan = planOf({});
    const listings = version.between(first, last);
    return [{ plan: { ...plan, mode: { ...plan.mode, listings } }, fields, days: intervalColumns }];
  }
  return days.map((day) => ({
    plan: planOf({ snapshot_date: day }),
    fields,
    days: [dayColumn("snapshot_date", sql`DATE ${literal(day)}`)],
  }));
}

export async function countRows(parts: readonly ExportPart[]): Promise<number> {
  let total = 0;
  for (const { plan, days } of parts) total += await countPart(plan, days === intervalColumns);
  return total;
}

async function countPart(plan: SearchPlan, isIntervals: boolean): Promise<number> {
  const { listings } = plan.mode;
  if (!isIntervals) return (await listings.findPage({ ...plan, limit: 1 })).total;
  const [row] = await listings.runOverMatches(plan, (matches) => sql`SELECT count(*)::INTEGER AS n FROM (${matches})`);
  return integerIn(row, "n");
}

const dayColumn = (name: string, value = ident("facts", name)): ExportedColumn => ({
  column: { name, type: { kind: "date" }, isNullable: true },
  value: sql`${value}::VARCHAR`,
});

const intervalColumns: readonly ExportedColumn[] = [dayColumn("valid_from"), dayColumn("valid_to")];

/** Returns the first and the last day of a range. Refuses half a range, a reversed one, and parameters that cannot be combined with a range. */
function requireRange(
  query: Omit<ExportQuery, "format" | "csv_raw" | "fields">,
): readonly [first: string, last: string] {
  const { as, snapshot_date_from: from, snapshot_date_to: to } = query;
  const allowed = "a date, YYYY-MM-DD, because a range of days has both ends";
  if (from === undefined) throw refuse("missing_parameter", { parameter: "snapshot_date_from", allowed });
  if (to === undefined) throw refuse("missing_parameter", { parameter: "snapshot_date_to", allowed });
  if (to < from)
    throw refuse("invalid_parameter_value", {
      parameter: "snapshot_date_to",
      value: to,
      hint: "",
      allowed: `a day from snapshot_date_from, ${from}, on`,
    });
  for (const name of ["snapshot_date", "sold_within_days", "inventory_status"] as const)
    if (query[name] !== undefined && query[name] !== "active") {
      const reason = "a range of days has active listings";
      throw refuse("incompatible_parameters", { parameters: `snapshot_date_from and ${name}`, reason });
    }
  for (const name of ["min_days_on_market", "max_days_on_market"] as const)
    if (as === "intervals" && query[name] !== undefined) {
      const reason = "days on market follow from a single day";
      throw refuse("incompatible_parameters", { parameters: `as=intervals and ${name}`, reason });
    }
  return [from, to];
}

/** Returns the published days of a range. Refuses a range without one. */
function daysBetween(version: LakeVersion, first: string, last: string): readonly string[] {
  const all = [...version.snapshotSizes.keys()];
  const days = all.filter((day) => day >= first && day <= last);
  const { as_of: asOf } = version.manifest;
  if (days.length === 0)
    throw refuse("snapshot_unavailable", {
      value: `${first} to ${last}`,
      first: all[0] ?? asOf,
      last: all.at(-1) ?? asOf,
    });
  return days;
}
