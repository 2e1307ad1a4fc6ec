/**
 * Groups of matches: one statement counts the combinations of the values of some attributes, measures each, orders them and cuts the result.
 *
 * Listings are grouped by numbers of values. Supply metrics add the sales as further rows, which are in no count.
 */
import { plusDays } from "../../base/day.ts";
import { integerIn, numberOrNull, type Row } from "../../base/json.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { metricOf, supplyMetrics, supplyWindowStart } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import type { MeasuredGroup, MeasureRequest, MeasureResult } from "../../listing/source.ts";
import { unknownId } from "./build.ts";
import { fromMatches, idOf, numberOn, withTokens } from "./conditions.ts";
import { countMatches } from "./count-values.ts";
import type { SegmentRows } from "./segment.ts";
import { groupOf, type ValueNumbers, valueNumbers } from "./value-numbers.ts";

/** Returns `Listings.measureGroups`, given the sold listings if `supplyDay` is set. */
export async function measureGroups(
  parts: readonly SegmentRows[],
  sales: readonly SegmentRows[],
  engine: Engine,
  request: MeasureRequest,
): Promise<MeasureResult> {
  if (parts.length === 0) return { total: 0, totalGroups: 0, groups: [] };
  const dictionaries = [...parts, ...sales].map(({ segment }) => segment.dictionary);
  const keys = request.attributes.map((attribute, index): GroupKey => {
    const column = ident(numberColumn(index));
    return { ...valueNumbers(attribute, dictionaries), attribute, column };
  });
  const isList = request.attributes.some((one) => listNames.some((list) => list === one));
  const [rows, total] = await Promise.all([
    engine.rows(groupedQuery({ parts, sales, keys }, request)),
    isList ? countMatches(parts, request.filters) : undefined,
  ]);
  const [row] = rows;
  return {
    total: total ?? (row === undefined ? 0 : integerIn(row, "total")),
    totalGroups: row === undefined ? 0 : integerIn(row, "groups"),
    groups: rows.map((one) => groupIn(one, keys, request)),
  };
}

/** Accepts the listings whose sale became known in the window of supply that ends on a day. */
const soldUpTo = (day: string | undefined): readonly Filter[] =>
  day === undefined
    ? []
    : [
        { kind: "soldAfter", day: plusDays(supplyWindowStart(day), -1) },
        { kind: "not", filter: { kind: "soldAfter", day } },
      ];

/** How listings are grouped by an attribute. */
interface GroupKey extends ValueNumbers {
  readonly attribute: CountedName;
  /** The column of numbers: `unknownId` where the value is unknown. */
  readonly column: Sql;
}

const numberColumn = (index: number): string => `number ${index}`;

interface GroupedMatches {
  readonly parts: readonly SegmentRows[];
  readonly sales: readonly SegmentRows[];
  readonly keys: readonly GroupKey[];
}

/** Returns a query for the groups: what they are shown by, `listings`, the metrics; the number of matches as `total`, that of groups as `groups`. */
function groupedQuery({ parts, sales, keys }: GroupedMatches, request: MeasureRequest): Sql {
  const measures = measuresOf(request);
  const { filters } = request;
  const ofSales = [...filters, ...soldUpTo(request.supplyDay)];
  const rows = [
    ...parts.map((part) => keyedRows(part, keys, { filters, measures, counted: sql`listing` })),
    ...sales.map((part) => keyedRows(part, keys, { filters: ofSales, measures: [], counted: sql`sale` })),
  ];
  const isActive = sales.length === 0 ? sql`` : sql`FILTER (listing IS NOT NULL)`;
  const shown = keys.map(({ column }) => sql`min(${column}) ${isActive} AS ${column}`);
  const listings = measures.length === 0 ? sql`sum(listing)` : sql`count(listing)`;
  const sold = sales.length === 0 ? sql`0` : sql`coalesce(sum(sale), 0)::INTEGER`;
  return sql`
    SELECT *, (count(*) OVER ())::INTEGER AS groups, (sum(listings) OVER ())::INTEGER AS total
    FROM   (SELECT ${join([...shown, sql`${listings}::INTEGER AS listings`, sql`${sold} AS sold`, ...metricColumns(request)])}
            FROM   (${join(rows, sql` UNION ALL BY NAME `)})
            GROUP BY ${join(keys.map(({ column, same }) => groupOf(column, same)))}
            HAVING listings > 0)
    ORDER BY ${join(orderOf(request, keys))} LIMIT ${integerLiteral(request.limit)}`;
}

const measuresOf = ({ metrics }: MeasureRequest): readonly NumberName[] => [
  ...new Set(metrics.flatMap((metric) => (typeof metric === "string" ? [] : metric.measure))),
];

const sampleColumn = (index: number): string => `sample ${index}`;
const metricColumn = (index: number): string => `metric ${index}`;

/** Selects the sample and the value of each metric of a group, which has `listings` and `sold`. */
const metricColumns = ({ metrics, supplyDay, sampleMin }: MeasureRequest): readonly Sql[] =>
  metrics.map((metric, index) => {
    const sample = ident(sampleColumn(index));
    const value = ident(metricColumn(index));
    if (typeof metric !== "string") {
      const { measure, aggregate } = metric;
      return sql`count(${ident(measure)})::INTEGER AS ${sample}, ${metricOf(measure, aggregate, ident(measure), sampleMin)} AS ${value}`;
    }
    if (supplyDay === undefined) return sql`0 AS ${sample}, NULL::DOUBLE AS ${value}`;
    const rule = supplyMetrics[metric];
    return sql`${rule.sample}::INTEGER AS ${sample}, ${rule.value} AS ${value}`;
  });

function orderOf({ sort }: MeasureRequest, keys: readonly GroupKey[]): readonly Sql[] {
  const column = sort.endsWith("count") ? sql`listings` : ident(metricColumn(0));
  return [
    sql`${column} ${sort.startsWith("-") ? sql`DESC` : sql`ASC`} NULLS LAST`,
    ...keys.map(({ column }) => sql`nullif(${column}, ${integerLiteral(unknownId)}) NULLS LAST`),
  ];
}

/** What the rows of matches have beside their keys. Without measures, a row stands for all matches with the same ids, whose number it counts. */
interface RowColumns {
  readonly filters: readonly Filter[];
  readonly measures: readonly NumberName[];
  readonly counted: Sql;
}

/** Selects the keys and measures of the matches in a segment. */
function keyedRows(part: SegmentRows, keys: readonly GroupKey[], { filters, measures, counted }: RowColumns): Sql {
  const selected = keys.map(({ attribute, column }) => sql`${idOf(attribute)} AS ${column}`);
  const numbers = measures.map((measure) => sql`${numberOn(measure, part)} AS ${ident(measure)}`);
  const isGrouped = measures.length === 0;
  const number = isGrouped ? sql`count(*)` : sql`1`;
  const rows = sql`
    SELECT ${join([...selected, ...numbers, sql`${number} AS ${counted}`])} ${fromMatches(part, filters)}
    ${isGrouped ? sql`GROUP BY ALL` : sql``}`;
  return keys.reduce(
    (of, key) => key.in(withTokens(of, key.attribute, part, key.column), key.column, part.segment.dictionary),
    rows,
  );
}

const groupIn = (row: Row, keys: readonly GroupKey[], { metrics }: MeasureRequest): MeasuredGroup => ({
  values: keys.map(({ textOf }, index) => textOf(integerIn(row, numberColumn(index)))),
  count: integerIn(row, "listings"),
  metrics: metrics.map((_, index) => ({
    sample: integerIn(row, sampleColumn(index)),
    value: numberOrNull(row[metricColumn(index)]),
  })),
});
