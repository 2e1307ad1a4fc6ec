/** The unit of a mileage: by the name of its column, its texts or a column of units; else asked for where the file is metric or Canadian. */
import { textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { matchingColumns } from "../mapping/mapping.ts";
import type { Rule } from "../mapping/rules.ts";
import { columnNameOf, wordsOfName } from "./match-columns.ts";

const metricName = /^(?:km|kms|kilom[a-z]*)$/;
const mileName = /^(?:mi|mile|miles)$/;
const isNamedBy = (word: RegExp) => (column: string) => wordsOfName(column).some((one) => word.test(one));
const isMetric = isNamedBy(metricName);
const isInMiles = isNamedBy(mileName);

/** Returns the columns of a mileage that have one unit, and it if their names say that it is kilometers. */
export function inOneUnit<Item extends { readonly column: string }>(items: readonly Item[]) {
  const metric = items.filter(({ column }) => isMetric(column));
  if (metric.length === 0) return { items };
  if (items.some(({ column }) => isInMiles(column))) return { items: items.filter((item) => !metric.includes(item)) };
  return { items: metric, unit: "km" };
}

/** The least share of a column's texts that let expect kilometers. */
const hintMin = 0.2;

/** Texts of metric and Canadian files, in any column, and in those whose names say what they hold. */
const metricText =
  "(?i).*(?:\\b(?:l|lit(?:er|re)s?|kwh) ?/ ?100 ?km\\b|\\bkm/[hl]\\b|\\bg/km\\b|\\b[0-9][0-9., ]* ?km\\b|\\bcad\\b|\\bc\\$|\\beur\\b|€).*|canada|[a-z][0-9][a-z] [0-9][a-z][0-9]";
const metricTexts: readonly (readonly [words: readonly string[], text: string])[] = [
  [[], metricText],
  [
    ["province", "prov", "state", "region"],
    "(?i)on|ontario|qc|pq|qu[eé]bec|bc|british columbia|ab|alberta|mb|manitoba|sk|saskatchewan|ns|nova scotia|nb|new brunswick|nl|pe|yt|nt|nu",
  ],
  [["postal", "zip", "postcode"], "(?i)[a-z][0-9][a-z] ?[0-9][a-z][0-9]"],
  [["country"], "(?i)ca|can"],
];
const metricHeader = /100 ?km|kilom|\bprovince\b|\bcad\b|\bl100\b/i;

/**
 * Returns a mileage as one in kilometers, with its columns and why it likely is, each reason a column with an example; undefined if its unit is known or
 * nothing lets expect kilometers.
 */
export async function metricMileage(session: Session, rule: Rule | undefined, columns: readonly string[]) {
  if (rule === undefined) return undefined;
  const { from, number } = rule;
  const named = from.flatMap((source) => matchingColumns(columns, columnNameOf(source)));
  const { unit, unitColumn = "" } = number ?? {};
  if (unit !== undefined || matchingColumns(columns, unitColumn).length > 0 || named.some(isInMiles)) return undefined;
  const isUnitless = sql`regexp_full_match("text", '[^a-zA-Z]*[0-9][^a-zA-Z]*')`;
  if (!(await session.hasRows(sql`FROM cells WHERE list_contains(${named}, "column") AND ${isUnitless}`)))
    return undefined;
  const others = columns.filter((column) => !named.includes(column));
  const hints = others
    .filter((column) => metricHeader.test(column))
    .map((column): readonly [column: string, example: string] => [column, ""]);
  for (const [words, pattern] of metricTexts) {
    const ofWords = others.filter(
      (column) => words.length === 0 || wordsOfName(column).some((word) => words.includes(word)),
    );
    const test = sql`regexp_full_match("text", ${pattern}, 's')`;
    const rows = await session.rows(sql`
      SELECT "column", any_value("text") FILTER (${test}) AS example FROM cells WHERE list_contains(${ofWords}, "column")
      GROUP BY "column" HAVING avg(${test}::INTEGER) >= ${hintMin} ORDER BY "column"`);
    hints.push(...rows.map((row) => [textIn(row, "column"), textIn(row, "example")] as const));
  }
  if (hints.length === 0) return undefined;
  const reasons = [...new Map(hints)].map(
    ([column, example]) => `"${printable(column, 40)}"${example === "" ? "" : ` (${printable(example, 20)})`}`,
  );
  return { rule: { ...rule, number: { ...number, unit: "km" } }, columns: named, reasons };
}

export type MetricMileage = NonNullable<Awaited<ReturnType<typeof metricMileage>>>;
