/** Conditions in SQL, for what the engine measures: the rows of a segment that pass filters. */
import { all as allOf, any as anyOf, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CountedName, ListName } from "../../listing/schema.ts";
import { setsOf } from "./build.ts";
import type { SegmentRows } from "./segment.ts";
import { listIn, type Test, testOf } from "./tests.ts";

/** Selects from the rows of a segment that pass filters: a statement from FROM on. */
export function fromMatches(rows: SegmentRows, filters: readonly Filter[]): Sql {
  const { segment, tests } = rows;
  const all = [...tests, ...filters.map((filter) => testOf(filter, segment))];
  const conditions = all.map((test) => conditionOf(test, rows));
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${join(conditions, sql` AND `)}`;
  return sql`FROM ${ident(segment.catalog, "listings")} ${where}`;
}

/** Returns a column, a number in units. Days on market follow from the day. */
export const numberOn = (column: string, { day }: Pick<SegmentRows, "day">): Sql =>
  column === "days_on_market" && day !== undefined ? sql`greatest(0, ${day} - listed_on)` : ident(column);

/** Renders a test as a condition on each row. */
export function conditionOf(test: Test, rows: Pick<SegmentRows, "segment" | "day">): Sql {
  switch (test.kind) {
    case "in":
      return inCondition(test.column, test.ids);
    case "hasTokens":
      return (test.how === "all" ? allOf : anyOf)(
        test.tokens.map((ids) => inSets(rows.segment.catalog, test.column, ids)),
      );
    case "between": {
      const column = numberOn(test.column, rows);
      return test.min === test.max
        ? sql`${column} = ${integerLiteral(test.min)}`
        : sql`${column} BETWEEN ${integerLiteral(test.min)} AND ${integerLiteral(test.max)}`;
    }
    case "hasBits":
      return sql`(${ident(test.column)} & ${integerLiteral(test.bits)}) = ${integerLiteral(test.value)}`;
    case "all":
    case "any":
      return (test.kind === "all" ? allOf : anyOf)(test.tests.map((one) => conditionOf(one, rows)));
    case "not":
      return sql`(${conditionOf(test.test, rows)}) IS NOT TRUE`;
  }
}

const bitSet = "1".charCodeAt(0);

/**
 * Tests a column for one of some ids: several have a bit for each id from the first to the last. Row groups without any of these are skipped; the
 * others take half the time of `IN`.
 */
function inCondition(column: string, ids: ArrayLike<number>): Sql {
  const sorted = Int32Array.from(ids).sort();
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return sql`false`;
  if (first === last) return sql`${ident(column)} = ${integerLiteral(first)}`;
  const bits = Buffer.alloc(last - first + 1, "0");
  for (const id of sorted) bits[id - first] = bitSet;
  // The engine may look up the bit of an id before it compares the id, so that others need a bit too.
  const offset = sql`greatest(0, least(${integerLiteral(last - first)}, ${ident(column)} - ${integerLiteral(first)}))`;
  return sql`(${ident(column)} BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)} AND get_bit(${literal(bits.toString("latin1"))}::BIT, ${offset}) = 1)`;
}

/** Tests a list for a token, given its ids. */
const inSets = (catalog: string, list: ListName, ids: readonly number[]): Sql =>
  ids.length === 0
    ? sql`false`
    : sql`${ident(list)} IN (SELECT "set" FROM ${setsOf(catalog, list)} WHERE token IN (${join(ids.map(integerLiteral))}))`;

/** Selects the id of the value of an attribute, of a list that of its set; 0 without an attribute. */
export const idOf = (attribute: CountedName | undefined): Sql => (attribute === undefined ? sql`0` : ident(attribute));

/** Returns rows with a column of ids (see `idOf`), with the ids of the tokens instead of a set's: a row for each. */
export function withTokens(
  rows: Sql,
  attribute: CountedName | undefined,
  { segment: { catalog } }: Pick<SegmentRows, "segment">,
  column: Sql = sql`id`,
): Sql {
  const list = listIn(attribute);
  if (list === undefined) return rows;
  return sql`SELECT token AS ${column}, found.* EXCLUDE (${column})
    FROM (${rows}) AS found JOIN ${setsOf(catalog, list)} AS sets ON sets."set" = found.${column}`;
}
