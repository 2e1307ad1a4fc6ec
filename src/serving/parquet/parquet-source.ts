/** Listings searched and counted in their Parquet files: past days, sold history, and today while there is no search index. */
import { bounds } from "../../base/bounds.ts";
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { join, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/file-rows.ts";
import type { LakeFile } from "../../lake/manifest.ts";
import { withRowNumbers } from "../../lake/views.ts";
import { readSummaries, summariesOf } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import type { NumberName } from "../../listing/schema.ts";
import { sortKeys } from "../../listing/sorts.ts";
import type {
  CountRequest,
  Counts,
  FoundPage,
  ListingSource,
  Measured,
  MeasureRequest,
  PageOrder,
  PageRequest,
  Ranges,
  Summaries,
  ValueCount,
} from "../../listing/source.ts";
import { sortValueOf, unitsOf } from "../../listing/values.ts";
import type { Dimensions } from "../dimensions.ts";
import { countStatement, measureStatement } from "./counting.ts";
import { matchingCondition, milesFrom } from "./where.ts";

/** What a page is sorted by: an integer of at most 31 bits, its direction, and what has to be joined to the listings for it. */
interface Order {
  readonly value: Sql;
  readonly isDescending: boolean;
  readonly beside: Sql;
}

export class ParquetSource implements ListingSource {
  readonly count: number;
  /** Of some files in a row, relative to a folder; `rows` runs a query beside `builds`, `dealers`, `tokens` and what is made of them. */
  constructor(
    private readonly files: readonly LakeFile[],
    private readonly folder: string,
    private readonly dimensions: Dimensions,
    private readonly rows: (query: Sql) => Promise<readonly Row[]>,
  ) {
    this.count = files.reduce((sum, file) => sum + file.rows, 0);
  }

  /** All listings with their `row_number`. */
  private get listings(): Sql {
    return withRowNumbers(this.files, this.folder);
  }

  /** The same without it, in no order: cheaper where there are many files. */
  private get unordered(): Sql {
    return rowsOfFiles("snapshots", this.files, this.folder);
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<FoundPage> {
    const by = orderOf(order);
    const page =
      filters.length === 0 ? this.pageOfAll(by, limit, offset) : this.pageOfMatches(filters, by, limit, offset);
    const [row] = await this.rows(page);
    const positions = row?.page ?? [];
    return { total: integerIn(row, "total"), positions: Array.isArray(positions) ? positions.map(Number) : [] };
  }

  async countValues(request: CountRequest): Promise<Counts> {
    const { filters, attributes, numbers, rangesOf } = request;
    const { total, summaries } = await this.summarize(filters, numbers);
    const ranges = rangesOf(summaries);
    // A few matches are kept in memory for all attributes; many are read again for each, which costs less than copies of their texts.
    const isKept = total <= this.count * bounds.keptMatchesShare;
    const isAsked = attributes.length + ranges.length > 0;
    const rows = isAsked ? await this.rows(countStatement(this.matches(filters), isKept, { ...request, ranges })) : [];
    const of = (attribute: string): readonly Row[] => rows.filter((row) => row.attribute === attribute);
    return {
      ...{ total, summaries },
      values: new Map(attributes.map((one) => [one, inPlace(of(one))] as const)),
      ranges: new Map(
        ranges.map((one) => [one.attribute, { ranges: one, counts: countsOf(of(one.attribute), one) }] as const),
      ),
    };
  }

  async measureValues(request: MeasureRequest): Promise<Measured> {
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
    return matchingCondition(this.unordered, filters, this.dimensions);
  }

  /** How many listings there are is known; the engine skips what cannot be on the page. */
  private pageOfAll(order: Order, limit: number, offset: number): Sql {
    return sql`
      SELECT ${this.count}::INTEGER AS total, list(row_number::UINTEGER ORDER BY ${terms(order)}) AS page
      FROM (SELECT * FROM (${this.listings}) ${order.beside} ORDER BY ${terms(order)} LIMIT ${limit} OFFSET ${offset})`;
  }

  private pageOfMatches(filters: readonly Filter[], order: Order, limit: number, offset: number): Sql {
    const end = offset + limit;
    const isHeap = end <= bounds.heapRows;
    const places = sql`SELECT ${placeOf(order)} AS place ${matchingCondition(this.listings, filters, this.dimensions, order.beside)}`;
    const page = isHeap
      ? sql`list_slice(min(place, ${end}), ${offset + 1}, ${end})`
      : sql`(SELECT list(place ORDER BY place) FROM (SELECT place FROM places ORDER BY place LIMIT ${limit} OFFSET ${offset}))`;
    return sql`
      WITH places AS ${isHeap ? sql`` : sql`MATERIALIZED`} (${places})
      SELECT count(*)::INTEGER AS total, list_transform(${page}, lambda place: (place & 4294967295)::UINTEGER) AS page
      FROM places`;
  }
}

/** Counted values in the order of their places. */
const inPlace = (rows: readonly Row[]): readonly ValueCount[] =>
  [...rows]
    .sort((one, other) => integerIn(one, "place") - integerIn(other, "place"))
    .map((row) => ({ value: textIn(row, "value"), count: integerIn(row, "count") }));

/** The counts below, in each bucket of, and above some ranges, from rows by the place of their bucket. */
function countsOf(rows: readonly Row[], { first, last }: Ranges): readonly number[] {
  const counts = new Map(rows.map((row) => [integerIn(row, "place"), integerIn(row, "count")]));
  return Array.from({ length: last - first + 3 }, (_, place) => counts.get(place) ?? 0);
}

function orderOf(order: PageOrder): Order {
  if (order.by === "sort") {
    const key = sortKeys[order.sort];
    const value = key.attribute === "discount_from_msrp" ? sql`${sortValueOf(key)} + 10000` : sortValueOf(key);
    return { value, isDescending: key.isDescending, beside: sql`` };
  }
  return {
    value: sql`thousandths_of_a_mile`,
    isDescending: false,
    beside: sql`
      JOIN (SELECT dealer_key, round(1000 * ${milesFrom(order.origin)})::BIGINT AS thousandths_of_a_mile FROM dealers)
      USING (dealer_key)`,
  };
}

/** An order as a list of terms, for ORDER BY. */
const terms = ({ value, isDescending }: Order): Sql =>
  sql`${value} ${isDescending ? sql`DESC` : sql`ASC`} NULLS LAST, row_number`;

const last = 2 ** 31 - 1;

/** The same order as one BIGINT, the value before the place in the partition. */
const placeOf = ({ value, isDescending }: Order): Sql =>
  sql`(coalesce(${isDescending ? sql`${last - 1} - (${value})` : value}, ${last})::BIGINT << 32) + row_number`;
