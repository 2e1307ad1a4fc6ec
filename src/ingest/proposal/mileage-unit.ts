/** The unit of a mileage: by the name of its column, its texts or a column of units; else asked for where the file is metric or Canadian. */
import { textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { matchingColumns } from "../mapping/mapping.ts";
import type { Rule } from "../mapping/rules.ts";
import { aliases, columnNameOf, wordsOfName } from "./match-columns.ts";

const isMetric = (column: string): boolean => wordsOfName(column).some((word) => /^(?:kms?|kilom[a-z]*)$/.test(word));
const isInMiles = (column: string): boolean => wordsOfName(column).some((word) => /^(?:mi|miles?)$/.test(word));

/** Returns the columns of a mileage that have one unit, and it if their names say that it is kilometers. */
export function inOneUnit<Item extends { readonly column: string }>(items: readonly Item[]) {
  const metric = items.filter(({ column }) => isMetric(column));
  if (metric.length === 0) return { items };
  if (items.some(({ column }) => isInMiles(column))) return { items: items.filter((item) => !metric.includes(item)) };
  return { items: metric, unit: "km" };
}

/** The least share of a column's texts that let expect kilometers. */
const metricMin = 0.2;

/**
 * Returns a mileage as one in kilometers, with its columns and why it likely is, each reason a column with an example; undefined if its unit is known or
 * nothing lets expect kilometers.
 */
export async function metricMileage(session: Session, rule: Rule | undefined, columns: readonly string[]) {
  if (rule === undefined) return undefined;
  const named = rule.from.flatMap((source) => matchingColumns(columns, columnNameOf(source)));
  const { unit, unitColumn = "" } = rule.number ?? {};
  if (unit !== undefined || matchingColumns(columns, unitColumn).length > 0 || named.some(isInMiles)) return undefined;
  const isUnitless = sql`regexp_full_match("text", '[^a-zA-Z]*[0-9][^a-zA-Z]*')`;
  if (!(await session.hasRows(sql`FROM cells WHERE list_contains(${named}, "column") AND ${isUnitless}`)))
    return undefined;
  const reasons = new Map<string, string>();
  for (const { of, text } of aliases.metric.texts) {
    const test = sql`(regexp_full_match("text", ${text}) OR regexp_matches("column", ${aliases.metric.names}))`;
    const rows = await session.rows(sql`
      SELECT "column", any_value("text") FILTER (${test}) AS example FROM cells WHERE regexp_matches("column", ${of})
      GROUP BY "column" HAVING avg(${test}::INTEGER) >= ${metricMin} ORDER BY "column"`);
    for (const row of rows)
      reasons.set(
        textIn(row, "column"),
        `"${printable(textIn(row, "column"), 40)}" (${printable(textIn(row, "example"), 20)})`,
      );
  }
  if (reasons.size === 0) return undefined;
  return { rule: { ...rule, number: { ...rule.number, unit: "km" } }, columns: named, reasons: [...reasons.values()] };
}

export type MetricMileage = NonNullable<Awaited<ReturnType<typeof metricMileage>>>;
