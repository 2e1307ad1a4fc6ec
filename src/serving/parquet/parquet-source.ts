/**
 * Listing source over Parquet files: past days, sold listings, and the published day if there is no search index.
 *
 * Requires the in-memory tables of an open `LakeVersion`.
 */
import { bounds } from "../../base/bounds.ts";
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { type Inventory, positionedListings, unorderedListings } from "../../lake/market.ts";
import { readSummaries, summariesOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import type { NumberName } from "../../listing/schema.ts";
import { sortKeys } from "../../listing/sorts.ts";
import type {
  CountRequest,
  CountResult,
  ListingSource,
  MeasureRequest,
  MeasureResult,
  PageOrder,
  PageRequest,
  PageResult,
  Ranges,
  Summaries,
  ValueCount,
} from "../../listing/source.ts";
import { sortValueOf, unitsOf } from "../../listing/values.ts";
import type { Dimensions } from "../dimensions.ts";
import { countStatement, measureStatement } from "./counting.ts";
import { fromMatches, milesFrom } from "./where.ts";

/** The SQL of a page order. */
interface SqlOrder {
  /** The sort value: a non-negative integer of at most 31 bits, or null. */
  readonly value: Sql;
  readonly isDescending: boolean;
  /** JOIN clauses that `value` and `ties` need. */
  readonly joins: Sql;
  readonly ties: Ties;
}

export class ParquetSource implements ListingSource {
  readonly count: number;

  /** `rows` runs a query on the tables of the version. */
  constructor(
    private readonly inventory: Inventory,
    private readonly folder: string,
    private readonly dimensions: Dimensions,
    private readonly rows: (query: Sql) => Promise<readonly Row[]>,
  ) {
    this.count = inventory.count;
  }

  /** All listings with their position as `row_number`. */
  private get positionedListings(): Sql {
    return positionedListings(this.inventory, { folder: this.folder, hasDeliveries: false });
  }

  /** All listings without positions: cheaper if there are many files. */
  private get listings(): Sql {
    return unorderedListings(this.inventory, { folder: this.folder, hasDeliveries: false });
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const sqlOrder = this.orderOf(order);
    const query =
      filters.length === 0
        ? this.pageOfAll(sqlOrder, limit, offset)
        : this.pageOfMatches(filters, sqlOrder, limit, offset);
    const [row] = await this.rows(query);
    const positions = row?.page ?? [];
    return { total: integerIn(row, "total"), places: Array.isArray(positions) ? positions.map(Number) : [] };
  }

  /** Returns all matches as a relation: the columns of listings and `sort_key`, an integer by which they are in order. */
  orderedMatches({ filters, order }: Pick<PageRequest, "filters" | "order">): Sql {
    const sqlOrder = this.orderOf(order);
    const from = fromMatches(this.positionedListings, filters, this.dimensions, sqlOrder.joins);
    return sql`SELECT *, ${sortKeyOf(sqlOrder)} AS sort_key ${from}`;
  }

  private orderOf(order: PageOrder): SqlOrder {
    const { value, isDescending, joins } = valueOrderOf(order);
    const { day, between, isWhole } = this.inventory;
    if (day !== undefined && isWhole) return { value, isDescending, joins, ties: positionTies };
    const ties = between === undefined ? contentTies : intervalTies;
    return { value, isDescending, joins: sql`${joins} JOIN build_places USING (build_key)`, ties };
  }

  async countValues(request: CountRequest): Promise<CountResult> {
    const { filters, attributes, numbers, rangesOf } = request;
    const { total, summaries } = await this.summarize(filters, numbers);
    const ranges = rangesOf(summaries);
    // A small share of the listings is materialized once for all attributes. A large share is read again for each attribute, which costs
    // less than copying its texts.
    const isMaterialized = total <= this.count * bounds.keptMatchesShare;
    const isNeeded = attributes.length + ranges.length > 0;
    const rows = isNeeded
      ? await this.rows(countStatement(this.matches(filters), isMaterialized, { ...request, ranges }))
      : [];
    const rowsOf = (attribute: string): readonly Row[] => rows.filter((row) => row.attribute === attribute);
    return {
      ...{ total, summaries },
      values: new Map(attributes.map((name) => [name, valueCountsOf(rowsOf(name))] as const)),
      ranges: new Map(
        ranges.map((range) => {
          const counts = bucketCountsOf(rowsOf(range.attribute), range);
          return [range.attribute, { ranges: range, counts }] as const;
        }),
      ),
    };
  }

  async measureValues(request: MeasureRequest): Promise<MeasureResult> {
    const { total } = await this.summarize(request.filters, []);
    const rows = await this.rows(measureStatement(this.matches(request.filters), request));
    const values = rows.map((row) => ({
      ...{ value: textIn(row, "value"), count: integerIn(row, "count"), sample: integerIn(row, "sample") },
      metric: typeof row.metric === "number" ? row.metric : null,
    }));
    return { total, values };
  }

  private async summarize(
    filters: readonly Filter[],
    numbers: readonly NumberName[],
  ): Promise<{ readonly total: number; readonly summaries: Summaries }> {
    if (filters.length === 0 && numbers.length === 0) return { total: this.count, summaries: new Map() };
    const columns = [sql`count(*)::INTEGER AS total`, ...summariesOf(numbers, unitsOf)];
    const [row] = await this.rows(sql`SELECT ${join(columns)} ${this.matches(filters)}`);
    return { total: integerIn(row, "total"), summaries: readSummaries(row, numbers) };
  }

  private matches(filters: readonly Filter[]): Sql {
    return fromMatches(this.listings, filters, this.dimensions);
  }

  /** Returns a page query without filters. The total is known, so DuckDB can skip row groups that cannot be on the page. */
  private pageOfAll(order: SqlOrder, limit: number, offset: number): Sql {
    const orderBy = orderByOf(order);
    return sql`
      SELECT ${this.count}::INTEGER AS total, list(row_number::UINTEGER ORDER BY ${orderBy}) AS page
      FROM   (SELECT * FROM (${this.positionedListings}) ${order.joins} ORDER BY ${orderBy} LIMIT ${limit} OFFSET ${offset})`;
  }

  /** Returns a page query with filters: a bounded heap finds pages up to `bounds.heapRows`, a sort finds later ones. */
  private pageOfMatches(filters: readonly Filter[], order: SqlOrder, limit: number, offset: number): Sql {
    const end = offset + limit;
    const isHeap = end <= bounds.heapRows;
    const from = fromMatches(this.positionedListings, filters, this.dimensions, order.joins);
    const page = isHeap
      ? sql`list_slice(arg_min(row_number, sort_key, ${end}), ${offset + 1}, ${end})`
      : sql`(SELECT list(row_number ORDER BY sort_key)
             FROM (SELECT sort_key, row_number FROM sort_keys ORDER BY sort_key LIMIT ${limit} OFFSET ${offset}))`;
    return sql`
      WITH sort_keys AS ${isHeap ? sql`` : sql`MATERIALIZED`} (SELECT ${sortKeyOf(order)} AS sort_key, row_number::UINTEGER AS row_number ${from})
      SELECT count(*)::INTEGER AS total, ${page} AS page FROM sort_keys`;
  }
}

/** Returns value counts in the order of their ordinals. */
const valueCountsOf = (rows: readonly Row[]): readonly ValueCount[] =>
  [...rows]
    .sort((a, b) => integerIn(a, "ordinal") - integerIn(b, "ordinal"))
    .map((row) => ({ value: textIn(row, "value"), count: integerIn(row, "count") }));

/** Returns `RangeCounts.counts`: buckets without a row have the count 0. */
function bucketCountsOf(rows: readonly Row[], { first, last }: Ranges): readonly number[] {
  const counts = new Map(rows.map((row) => [integerIn(row, "ordinal"), integerIn(row, "count")]));
  return Array.from({ length: last - first + 3 }, (_, ordinal) => counts.get(ordinal) ?? 0);
}

function valueOrderOf(order: PageOrder): Omit<SqlOrder, "ties"> {
  if (order.by === "sort") {
    const key = sortKeys[order.sort];
    // A discount is at least -1, which is -10000 units. The offset makes it non-negative.
    const value = key.attribute === "discount_from_msrp" ? sql`${sortValueOf(key)} + 10000` : sortValueOf(key);
    return { value, isDescending: key.isDescending, joins: sql`` };
  }
  return {
    value: sql`thousandths_of_a_mile`,
    isDescending: false,
    joins: sql`
      JOIN (SELECT dealer_key, round(1000 * ${milesFrom(order.origin)})::BIGINT AS thousandths_of_a_mile FROM dealers)
      USING (dealer_key)`,
  };
}

/** How listings with equal sort values are ordered, as an integer of so many bits. */
interface Ties {
  readonly value: Sql;
  readonly bits: number;
}

/** The order of the files. */
const positionTies: Ties = { value: sql`row_number`, bits: 32 };

/**
 * The order that a day's files had when it was published: by the place of its build among all builds, then by id. Rows of several files are in no
 * common order. Of an id, 64 bits decide.
 */
const contentTies: Ties = { value: sql`((place::HUGEINT << 64) + ('0x' || left(id, 16))::UBIGINT)`, bits: 92 };

/** The same for the intervals of listings, which follow each other. Of an id, 48 bits decide. */
const intervalTies: Ties = {
  value: sql`((place::HUGEINT << 64) + (('0x' || left(id, 12))::UBIGINT << 16) + (valid_from - DATE '1970-01-01'))`,
  bits: 92,
};

/** Returns an order as an ORDER BY list. */
const orderByOf = ({ value, isDescending, ties }: SqlOrder): Sql =>
  sql`${value} ${isDescending ? sql`DESC` : sql`ASC`} NULLS LAST, ${ties.value}`;

const largestInteger = 2 ** 31 - 1;

/** Returns an order as one integer: the sort value in the high bits, what breaks ties in the low ones. */
const sortKeyOf = ({ value, isDescending, ties }: SqlOrder): Sql => {
  const ascending = isDescending ? sql`${largestInteger - 1} - (${value})` : value;
  const type = ties.bits > 32 ? sql`HUGEINT` : sql`BIGINT`;
  return sql`(coalesce(${ascending}, ${largestInteger})::${type} << ${integerLiteral(ties.bits)}) + ${ties.value}`;
};
