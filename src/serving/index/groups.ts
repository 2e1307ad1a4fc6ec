/**
 * Groups of matches: one statement counts the combinations of the values of some attributes, measures each, orders them and cuts the result.
 *
 * In one index, listings are grouped by ids. In several, whose ids differ, they are grouped by values. Supply metrics add the sales as further rows,
 * which are in no count.
 */
import { plusDays } from "../../base/day.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { caseFold } from "../../db/text-matching.ts";
import { metricOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import { attributeOf, type CountedName, listNames, type NumberName } from "../../listing/schema.ts";
import type { MeasuredGroup, MeasureRequest, MeasureResult } from "../../listing/source.ts";
import { supplyMetrics, supplyWindowStart } from "../../listing/supply.ts";
import { unknownId } from "./build.ts";
import { numberOn } from "./conditions.ts";
import { countMatches, type IndexedListings, type IndexMatches, matchesIn } from "./count-matches.ts";
import type { Dictionary } from "./dictionary.ts";
import { idOf, overMatches, withTokens } from "./where.ts";

/** Returns `ListingSource.measureGroups`, given the sold listings if `supplyDay` is set. */
export async function measureGroups(
  indexed: IndexedListings,
  sold: IndexedListings | undefined,
  request: MeasureRequest,
): Promise<MeasureResult> {
  const parts = matchesIn(indexed.contexts, request.filters);
  if (parts.length === 0) return { total: 0, totalGroups: 0, groups: [] };
  const sales =
    sold === undefined ? [] : matchesIn(sold.contexts, [...request.filters, ...soldUpTo(request.supplyDay)]);
  const [first, ...others] = new Set([...parts, ...sales].map(({ context }) => context.dictionary));
  const keys = request.attributes.map(others.length === 0 && first !== undefined ? idKey(first) : valueKey);
  const isList = request.attributes.some((one) => listNames.some((list) => list === one));
  const [rows, total] = await Promise.all([
    indexed.engine.rows(groupedQuery({ parts, sales, keys }, request)),
    isList ? countMatches(indexed, parts) : undefined,
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

/** How listings are grouped by an attribute: by a column of ids, or of values. */
interface GroupKey {
  readonly attribute: CountedName;
  readonly column: Sql;
  readonly isId: boolean;
  /** Equal for the spellings of a value. */
  readonly group: Sql;
  /** The order of a shown value, null where it is unknown. */
  readonly order: (shown: Sql) => Sql;
  readonly textOf: (shown: Row[string]) => string | null;
}

const idKey =
  (dictionary: Dictionary) =>
  (attribute: CountedName, place: number): GroupKey => {
    const column = ident(`id ${place}`);
    return {
      ...{ attribute, column, isId: true, group: dictionary.spelledAlike(attribute, column) },
      order: (shown) => sql`nullif(${shown}, ${integerLiteral(unknownId)})`,
      textOf: (shown) => (shown === unknownId ? null : dictionary.valueOf(Number(shown))),
    };
  };

function valueKey(attribute: CountedName, place: number): GroupKey {
  const column = ident(`value ${place}`);
  const isText = attributeOf(attribute).type === "VARCHAR";
  return {
    ...{ attribute, column, isId: false, group: caseFold(column) },
    order: (shown) => (isText ? shown : sql`${shown}::INTEGER`),
    textOf: (shown) => (typeof shown === "string" ? shown : null),
  };
}

interface GroupedMatches {
  readonly parts: readonly IndexMatches[];
  readonly sales: readonly IndexMatches[];
  readonly keys: readonly GroupKey[];
}

/** Returns a query for the groups: the shown values, `listings`, the metrics; the number of matches as `total`, and that of groups as `groups`. */
function groupedQuery({ parts, sales, keys }: GroupedMatches, request: MeasureRequest): Sql {
  const measures = measuresOf(request);
  const rows = [
    ...parts.map((part) => keyedRows(part, keys, { measures, counted: sql`listing` })),
    ...sales.map((part) => keyedRows(part, keys, { measures: [], counted: sql`sale` })),
  ];
  const isActive = sales.length === 0 ? sql`` : sql`FILTER (listing IS NOT NULL)`;
  const shown = keys.map(({ column }) => sql`min(${column}) ${isActive} AS ${column}`);
  const listings = measures.length === 0 ? sql`sum(listing)` : sql`count(listing)`;
  const sold = sales.length === 0 ? sql`0` : sql`coalesce(sum(sale), 0)::INTEGER`;
  return sql`
    SELECT *, (count(*) OVER ())::INTEGER AS groups, (sum(listings) OVER ())::INTEGER AS total
    FROM   (SELECT ${join([...shown, sql`${listings}::INTEGER AS listings`, sql`${sold} AS sold`, ...metricColumns(request)])}
            FROM   (${join(rows, sql` UNION ALL BY NAME `)})
            GROUP BY ${join(keys.map(({ group }) => group))}
            HAVING listings > 0)
    ORDER BY ${join(orderOf(request, keys))} LIMIT ${integerLiteral(request.limit)}`;
}

const measuresOf = ({ metrics }: MeasureRequest): readonly NumberName[] => [
  ...new Set(metrics.flatMap((metric) => (typeof metric === "string" ? [] : metric.measure))),
];

const sampleColumn = (place: number): string => `sample ${place}`;
const metricColumn = (place: number): string => `metric ${place}`;

/** Selects the sample and the value of each metric of a group, which has `listings` and `sold`. */
const metricColumns = ({ metrics, supplyDay, sampleMin }: MeasureRequest): readonly Sql[] =>
  metrics.map((metric, place) => {
    const [sample, value] = [ident(sampleColumn(place)), ident(metricColumn(place))];
    if (typeof metric !== "string") {
      const { measure, aggregate } = metric;
      return sql`count(${ident(measure)})::INTEGER AS ${sample}, ${metricOf(measure, aggregate, ident(measure), sampleMin)} AS ${value}`;
    }
    if (supplyDay === undefined) return sql`0 AS ${sample}, NULL::DOUBLE AS ${value}`;
    const rule = supplyMetrics[metric];
    const [active, sold] = [sql`listings`, sql`sold`];
    return sql`${rule.sample(active, sold)}::INTEGER AS ${sample}, ${rule.value(active, sold)} AS ${value}`;
  });

function orderOf({ sort }: MeasureRequest, keys: readonly GroupKey[]): readonly Sql[] {
  const column = sort.endsWith("count") ? sql`listings` : ident(metricColumn(0));
  return [
    sql`${column} ${sort.startsWith("-") ? sql`DESC` : sql`ASC`} NULLS LAST`,
    ...keys.map((key) => sql`${key.order(key.column)} NULLS LAST`),
  ];
}

/** What the rows of matches have beside their keys. Without measures, a row stands for all matches with the same ids, whose number it counts. */
interface RowColumns {
  readonly measures: readonly NumberName[];
  readonly counted: Sql;
}

/** Selects the keys and measures of the matches in an index. */
function keyedRows(
  { context, matches }: IndexMatches,
  keys: readonly GroupKey[],
  { measures, counted }: RowColumns,
): Sql {
  const ids = keys.map((_, place) => ident(`id ${place}`));
  const selected = keys.map(({ attribute }, place) => sql`${idOf(attribute)} AS ${ident(`id ${place}`)}`);
  const numbers = measures.map((measure) => sql`${numberOn(measure, context)} AS ${ident(measure)}`);
  const isGrouped = measures.length === 0;
  const number = isGrouped ? sql`count(*)` : sql`1`;
  const rows = sql`
    SELECT ${join([...selected, ...numbers, sql`${number} AS ${counted}`])} ${overMatches(matches, context)}
    ${isGrouped ? sql`GROUP BY ALL` : sql``}`;
  const expanded = keys.reduce((of, { attribute }, place) => withTokens(of, attribute, context, ids[place]), rows);
  return keys.every(({ isId }) => isId) ? expanded : withValues(expanded, context.catalog, keys.length);
}

/** Replaces ids by the values that they stand for. */
function withValues(rows: Sql, catalog: string, count: number): Sql {
  const places = Array.from({ length: count }, (_, place) => place);
  const values = places.map((place) => sql`${ident(`of ${place}`, "value")} AS ${ident(`value ${place}`)}`);
  const joins = places.map((place) => {
    const dictionary = ident(`of ${place}`);
    return sql`LEFT JOIN ${ident(catalog, "dictionary")} AS ${dictionary} ON ${dictionary}.id = ${ident("found", `id ${place}`)}`;
  });
  return sql`SELECT ${join([...values, sql`found.* EXCLUDE (${join(places.map((place) => ident(`id ${place}`)))})`])}
    FROM (${rows}) AS found ${join(joins, sql` `)}`;
}

const groupIn = (row: Row, keys: readonly GroupKey[], { metrics }: MeasureRequest): MeasuredGroup => ({
  values: keys.map(({ isId, textOf }, place) => textOf(row[`${isId ? "id" : "value"} ${place}`] ?? null)),
  count: integerIn(row, "listings"),
  metrics: metrics.map((_, place) => {
    const value = row[metricColumn(place)];
    return { sample: integerIn(row, sampleColumn(place)), value: typeof value === "number" ? value : null };
  }),
});
