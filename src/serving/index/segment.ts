/**
 * A segment: an open search index, one table of integers. Code finds and counts its rows in typed arrays, the engine measures them in SQL.
 *
 * The index of today has the listings of the published day. It and the others have the rows of past days and of sold listings.
 */
import { epochDay } from "../../base/day.ts";
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { gone, isToday, stillValid } from "./build.ts";
import { type ColumnCache, concatenated, SegmentColumns } from "./columns.ts";
import { Dealers } from "./dealers.ts";
import { Dictionary, type IdRange } from "./dictionary.ts";
import { between, type Test } from "./tests.ts";

/** The numbers of rows in a segment, and the ranks of its builds. */
interface RowCounts {
  readonly all: number;
  readonly today: number;
  readonly sold: number;
  /** The first day on which a row holds, as days since 1970. */
  readonly since: number;
  /** How many have ended before the published day. */
  readonly ended: number;
  readonly buildRanks: Int32Array;
}

/** The condition on rows that hold on some day. */
const hasHeld = sql`valid_to > ${integerLiteral(gone.sold)}`;

export const isSold = between("valid_to", gone.sold, gone.sold);
const isOfToday = between("valid_to", stillValid, stillValid);

/** Listings as they were last observed: one row for each. */
const isNewest: Test = { kind: "any", tests: [isOfToday, between("valid_to", gone.absent, gone.sold)] };

/** Rows that hold on a day from `first` to `last`. */
const holdsBetween = (first: number, last: number): readonly Test[] => [
  between("valid_from", 0, last),
  between("valid_to", first + 1),
];

/** The rows of a segment that belong to an inventory. */
export interface SegmentRows {
  readonly segment: Segment;
  /** All of which a row of the inventory passes. */
  readonly tests: readonly Test[];
  /** The day whose listings are meant, as days since 1970, if it is a past one. */
  readonly date?: number;
  /** The same for conditions, perhaps a column; null if rows hold on several days. */
  readonly day?: Sql;
  /** Whether rows are named by their positions in files, as those of the published day; others are by their ids. */
  readonly isPositioned?: boolean;
}

export class Segment {
  private constructor(
    readonly catalog: string,
    readonly dictionary: Dictionary,
    readonly dealers: Dealers,
    readonly columns: SegmentColumns,
    private readonly counts: RowCounts,
  ) {}

  /**
   * Opens an index that is attached as a catalog; `name` is equal for equal content. Needs the tables `dealers` and `build_ranks` of the version.
   * `engine` runs statements on behalf of all requests.
   */
  static async open(
    session: Session,
    { catalog, name }: { readonly catalog: string; readonly name: string },
    engine: Engine,
    cache: ColumnCache,
  ): Promise<Segment> {
    await session.run(ranksStatement(catalog));
    const dictionary = await Dictionary.read(session, catalog);
    const dealers = await Dealers.read(session, catalog);
    const ranks = await session.vectors(sql`SELECT build_rank FROM ${ranksOf(catalog)}`);
    const row = await session.row(sql`
      SELECT count(*)::INTEGER AS "all", (count(*) FILTER (${isToday}))::INTEGER AS today,
             (count(*) FILTER (valid_to = ${integerLiteral(gone.sold)}))::INTEGER AS sold,
             coalesce(min(valid_from) FILTER (${hasHeld}), 0)::INTEGER AS since, (count(*) FILTER (${hasHeld} AND NOT ${isToday}))::INTEGER AS ended
      FROM   ${ident(catalog, "listings")}`);
    const counts = {
      all: integerIn(row, "all"),
      today: integerIn(row, "today"),
      sold: integerIn(row, "sold"),
      since: integerIn(row, "since"),
      ended: integerIn(row, "ended"),
      buildRanks: await concatenated(ranks.flat()),
    };
    const rangeOf = (column: string): IdRange => rangeIn(dictionary, column);
    const columns = new SegmentColumns(cache, { name, catalog, engine, rows: counts.all, rangeOf });
    return new Segment(catalog, dictionary, dealers, columns, counts);
  }

  /** Removes its columns from memory. */
  forget(): void {
    this.columns.forget();
  }

  /** The ranks of its builds, in their order, among all builds of the version: ranks in an index compare within it only. */
  get buildRanks(): Int32Array {
    return this.counts.buildRanks;
  }

  get rows(): number {
    return this.counts.all;
  }

  /** Whether all rows that hold on a day hold on the published day too. */
  get isOpenEnded(): boolean {
    return this.counts.ended === 0;
  }

  get since(): number {
    return this.counts.since;
  }

  /** Returns the range of the ids in a column; of `tokens of <list>` that of the tokens. */
  rangeOf(column: string): IdRange {
    return rangeIn(this.dictionary, column);
  }

  /** Returns the listings of the published day. */
  get today(): SegmentRows {
    const { all, today } = this.counts;
    return { segment: this, tests: all === today ? [] : [isOfToday], isPositioned: true };
  }

  on(day: string): SegmentRows {
    const date = epochDay(day);
    return { segment: this, tests: holdsBetween(date, date), date, day: integerLiteral(date) };
  }

  between(first: string, last: string): SegmentRows {
    return { segment: this, tests: holdsBetween(epochDay(first), epochDay(last)) };
  }

  /** Returns the listings that pass some tests, as they were last observed. */
  newest(tests: readonly Test[] = []): SegmentRows {
    return { segment: this, tests: [isNewest, ...tests] };
  }

  get sold(): SegmentRows {
    const { all, sold } = this.counts;
    return { segment: this, tests: all === sold ? [] : [isSold] };
  }
}

const tokensOf = "tokens of ";

const rangeIn = (dictionary: Dictionary, column: string): IdRange =>
  column.startsWith(tokensOf) ? dictionary.rangeOf(column.slice(tokensOf.length)) : dictionary.columnRange(column);

/** The table of the rank of each build of an index among all builds of the version. */
export const ranksOf = (catalog: string): Sql => ident(`ranks of ${catalog}`);

const ranksStatement = (catalog: string): Sql => sql`
  CREATE OR REPLACE TABLE ${ranksOf(catalog)} AS
  SELECT build, build_ranks.build_rank FROM ${ident(catalog, "builds")} JOIN build_ranks USING (build_key) ORDER BY build`;
