/**
 * Trend source over Parquet files: one statement reads the snapshots of all requested days, another one every listing that can have an
 * event in the requested windows.
 *
 * Requires the in-memory tables of an open `LakeVersion`.
 */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/file-rows.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { metricOf } from "../../listing/aggregates.ts";
import { attributeOf, type CountedName, tokensNames } from "../../listing/schema.ts";
import type {
  EventCount,
  EventRequest,
  EventWindow,
  Level,
  LevelRequest,
  ListingEvent,
  Statistic,
  TrendSource,
} from "../../listing/trend-source.ts";
import { unitsOf } from "../../listing/values.ts";
import type { Dimensions } from "../dimensions.ts";
import { listingFilesSince, snapshotFilesOf, soldFilesSince } from "../listing-files.ts";
import { valueColumnOf, valueRows } from "./counting.ts";
import { filesMatching } from "./pruning.ts";
import { fromMatches } from "./where.ts";

/** The day or days of an event, over a row of listings. */
const eventDays: Readonly<Record<ListingEvent, Sql>> = {
  new_listings: sql`listed_at::DATE`,
  sold: sql`sold_on_record`,
  price_drops: sql`unnest(list_transform(list_filter(price_history, lambda change: change.price < change.price_before),
    lambda change: change.changed_at::DATE))`,
};

export class ParquetTrends implements TrendSource {
  /** `rowsFrom` runs a query on files and the tables of the version. */
  constructor(
    private readonly manifest: Manifest,
    private readonly folder: string,
    private readonly dimensions: Dimensions,
    private readonly rowsFrom: (files: readonly LakeFile[], query: Sql) => Promise<readonly Row[]>,
  ) {}

  async measureLevels(request: LevelRequest): Promise<readonly Level[]> {
    const files = filesMatching(snapshotFilesOf(this.manifest, request.days), request.filters, this.dimensions);
    const snapshots = rowsOfFiles("snapshots", files, this.folder, "partition");
    const rows = await this.rowsFrom(
      files,
      levelStatement(fromMatches(snapshots, request.filters, this.dimensions), request),
    );
    return rows.map((row) => ({
      ...{ day: textIn(row, "day"), key: textIn(row, "key"), value: textIn(row, "value") },
      count: integerIn(row, "count"),
      statistics: request.statistics.map((_, index) => {
        const metric = row[`metric_${index}`];
        return { sample: integerIn(row, `sample_${index}`), metric: typeof metric === "number" ? metric : null };
      }),
    }));
  }

  async countEvents({ windows, filters, attribute, keys }: EventRequest): Promise<readonly EventCount[]> {
    if (windows.length === 0) return [];
    const events = [...new Set(windows.map(({ event }) => event))];
    const reads = events.map((event) => {
      const span = spanOf(windows.filter((window) => window.event === event));
      const candidates = (event === "sold" ? soldFilesSince : listingFilesSince)(this.manifest, span.start);
      const files = filesMatching(candidates, filters, this.dimensions);
      const matches = fromMatches(rowsOfFiles("snapshots", files, this.folder), filters, this.dimensions);
      return { files, query: dailyCounts(matches, { event, ...span }, attribute, keys) };
    });
    const files = [...new Set(reads.flatMap((read) => read.files))];
    const queries = reads.map(({ query }) => query);
    const rows = await this.rowsFrom(files, windowStatement(queries, windows));
    return rows.map((row) => ({
      window: integerIn(row, "ordinal"),
      key: textIn(row, "key"),
      count: integerIn(row, "count"),
    }));
  }
}

/** Returns the smallest range of days that contains all windows. */
const spanOf = (windows: readonly EventWindow[]): { readonly start: string; readonly end: string } => ({
  start: windows.map(({ start }) => start).sort()[0] ?? "",
  end:
    windows
      .map(({ end }) => end)
      .sort()
      .at(-1) ?? "",
});

/** Returns a query for `value` and the given columns, with one row per match and value; an empty value without an attribute. */
const groupedRows = (attribute: CountedName | undefined, columns: readonly Sql[]): Sql =>
  attribute === undefined ? sql`SELECT '' AS value, ${join(columns)} FROM matches` : valueRows(attribute, columns);

/** The identity of a value: spellings that differ in case are one value. */
const valueKey = sql`lower(value::VARCHAR)`;

/** Returns a query for the levels of each day, most frequent values first. `matches` is a FROM clause with `snapshot_date`. */
function levelStatement(matches: Sql, request: LevelRequest): Sql {
  const { attribute, limit, statistics } = request;
  const isInteger = attribute !== undefined && attributeOf(attribute).type === "SMALLINT";
  const isCounted = statistics.length === 0 && !tokensNames.some((name) => name === attribute);
  const { rows, columns, count } = (isCounted ? countedMatches : eachMatch)(request, matches);
  return sql`
    WITH matches AS (${rows}),
    levels AS (
      SELECT snapshot_date, ${valueKey} AS "key", min(value)::VARCHAR AS spelling,
             ${isInteger ? sql`min(value)` : sql`NULL`}::INTEGER AS numeric_value, ${join([sql`${count}::INTEGER AS "count"`, ...statistics.flatMap(statisticColumns)])}
      FROM   (${groupedRows(attribute, columns)}) WHERE value IS NOT NULL GROUP BY ALL),
    valued AS (SELECT *, min(spelling) OVER (PARTITION BY "key") AS value, sum("count") OVER (PARTITION BY "key") AS total FROM levels)
    SELECT snapshot_date::VARCHAR AS "day", * EXCLUDE (snapshot_date, spelling, numeric_value, total, "rank") FROM (
      SELECT *, dense_rank() OVER (ORDER BY total DESC, numeric_value, value) AS "rank" FROM valued)
    WHERE "rank" <= ${limit} ORDER BY "rank", "day"`;
}

/** What levels are computed from: a query for `matches`, the columns of it, and the number of listings of a group as an aggregate. */
interface LevelRows {
  readonly rows: Sql;
  readonly columns: readonly Sql[];
  readonly count: Sql;
}

/** Returns each match with the requested measures. */
function eachMatch({ statistics }: LevelRequest, matches: Sql): LevelRows {
  const measures = [...new Set(statistics.map(({ measure }) => measure))];
  const columns = [sql`snapshot_date`, ...measures.map((measure) => sql`${unitsOf(measure)} AS ${ident(measure)}`)];
  return { rows: sql`SELECT * ${matches}`, columns, count: sql`count(*)` };
}

/**
 * Counts the matches of each day by the column that has the attribute, or by the key of the dimension that has it, before values are
 * looked up: a third of the time for a year of states. Not for lists of tokens, which may all differ.
 */
function countedMatches({ attribute }: LevelRequest, matches: Sql): LevelRows {
  const column = attribute === undefined ? [] : [ident(valueColumnOf(attribute))];
  const selected = join([sql`snapshot_date`, ...column, sql`count(*) AS listings`]);
  const columns = [sql`snapshot_date`, sql`listings`];
  return { rows: sql`SELECT ${selected} ${matches} GROUP BY ALL`, columns, count: sql`sum(listings)` };
}

/** Returns the sample and the metric of a statistic as select items. */
function statisticColumns({ measure, aggregate }: Statistic, index: number): readonly Sql[] {
  const units = ident(measure);
  return [
    sql`count(${units})::INTEGER AS ${ident(`sample_${index}`)}`,
    sql`${metricOf(measure, aggregate, units)} AS ${ident(`metric_${index}`)}`,
  ];
}

/** Returns a query for the events of one kind by `event_day` and `key`. `matches` is a FROM clause. */
function dailyCounts(
  matches: Sql,
  { event, start, end }: EventWindow,
  attribute: CountedName | undefined,
  keys: readonly string[],
): Sql {
  const isCounted = attribute === undefined ? sql`` : sql`AND ${valueKey} IN (SELECT unnest(${keys}))`;
  return sql`(
    WITH matches AS (SELECT *, ${eventDays[event]} AS event_day ${matches})
    SELECT ${literal(event)} AS event, event_day, ${valueKey} AS "key", count(*) AS events
    FROM   (${groupedRows(attribute, [sql`event_day`])})
    WHERE  event_day BETWEEN ${start}::DATE AND ${end}::DATE ${isCounted} GROUP BY ALL)`;
}

/** Returns a query for the number of events in each window: `ordinal`, `key` and `count`. */
function windowStatement(queries: readonly Sql[], windows: readonly EventWindow[]): Sql {
  const rows = windows.map(
    ({ event, start, end }, index) =>
      sql`(${integerLiteral(index)}, ${literal(event)}, DATE ${literal(start)}, DATE ${literal(end)})`,
  );
  return sql`
    WITH daily AS (${join(queries, sql` UNION ALL `)}),
    windows(ordinal, event, first_day, last_day) AS (VALUES ${join(rows)})
    SELECT ordinal, "key", sum(events)::INTEGER AS "count"
    FROM   windows JOIN daily ON daily.event = windows.event AND event_day BETWEEN first_day AND last_day
    GROUP BY ordinal, "key"`;
}
