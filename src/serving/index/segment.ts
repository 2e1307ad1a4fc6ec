/**
 * A segment: an open search index, one table of integers. Code finds and counts its rows in typed arrays, the engine measures them in SQL.
 *
 * The index of today has the listings of the published day. It and the others have the rows of past days and of sold listings.
 */
import { LRUCache } from "lru-cache";
import { epochDay } from "../../base/day.ts";
import { integerIn } from "../../base/json.ts";
import { inShareOfLeast, presentAccount } from "../../base/turns.ts";
import type { Session } from "../../db/duckdb.ts";
import { rowReader } from "../../db/row-reader.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { listNames, numberNames } from "../../listing/schema.ts";
import { gone, isToday, setsOf, stillValid } from "./build.ts";
import { type Arrays, groupById, type IdRange, inBlocks, joinedColumns, none } from "./columns.ts";
import { Dealers, Dictionary } from "./dictionary.ts";
import type { IndexedRows } from "./indexed-rows.ts";
import { between, listIn, type Test, unknownNumber, vinPrefixes } from "./tests.ts";

/** Arrays of a segment that are kept once they are loaded. */
export interface KeptArrays {
  readonly name: string;
  /** Their size, or more. */
  readonly bytes: number;
  readonly load: () => Promise<Arrays>;
  /** Returns the same of another segment. */
  readonly of: (segment: Segment) => KeptArrays;
}

interface Entry {
  readonly kept: KeptArrays;
  readonly loading: Promise<Arrays>;
  /** The accounts that have waited for it. */
  readonly accounts: Set<string>;
  loaded?: Arrays;
}

/** The columns of all open segments of a process. */
export class ColumnCache {
  private readonly entries: LRUCache<string, Entry>;
  /** How many open versions use each segment. */
  private readonly users = new Map<string, number>();

  constructor(bytesMax = 2 ** 29) {
    this.entries = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ kept: { bytes } }) => Math.max(1, bytes) });
  }

  /** The bytes of the arrays that are kept, or being read. */
  get bytes(): number {
    return this.entries.calculatedSize;
  }

  /** Returns arrays of a segment, at once if they have been loaded. */
  get(segment: string, kept: KeptArrays): Arrays | Promise<Arrays> {
    const key = `${segment} ${kept.name}`;
    const known = this.entries.get(key);
    if (known?.loaded !== undefined) return known.loaded;
    if (known !== undefined) {
      known.accounts.add(presentAccount());
      return known.loading;
    }
    const accounts = new Set([presentAccount()]);
    const entry: Entry = { kept, loading: inShareOfLeast(accounts, kept.load), accounts };
    this.entries.set(key, entry);
    entry.loading.then(
      (arrays) => {
        entry.loaded = arrays;
      },
      () => this.entries.peek(key) === entry && this.entries.delete(key),
    );
    return entry.loading;
  }

  /** Returns what is kept of a segment. */
  allOf(segment: string): readonly KeptArrays[] {
    return this.keysOf(segment).flatMap((key) => this.entries.peek(key)?.kept ?? []);
  }

  /** Counts a version that uses a segment; with -1, one that does no more. What is kept of a segment is removed when none does. */
  countUser(segment: string, change: 1 | -1): void {
    const users = (this.users.get(segment) ?? 0) + change;
    this.users.set(segment, users);
    if (users > 0) return;
    this.users.delete(segment);
    for (const key of this.keysOf(segment)) this.entries.delete(key);
  }

  private keysOf(segment: string): readonly string[] {
    return [...this.entries.keys()].filter((key) => key.startsWith(`${segment} `));
  }
}

/** Reads the numbers of rows in a segment. */
const readCounts = rowReader({
  all: integerIn,
  today: integerIn,
  sold: integerIn,
  /** How many have ended before the published day. */
  ended: integerIn,
  /** The first day on which a row holds, as days since 1970. */
  since: integerIn,
});

/** An attached index. */
interface SegmentSource {
  readonly catalog: string;
  readonly rows: IndexedRows;
  /** Equal for equal content. */
  readonly name: string;
  /** Runs statements on behalf of all requests, so that no request that ends early takes a column with it. */
  readonly engine: Engine;
  readonly cache: ColumnCache;
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
    private readonly source: SegmentSource,
    readonly dictionary: Dictionary,
    readonly dealers: Dealers,
    readonly counts: ReturnType<typeof readCounts>,
    /** The ranks of its builds, in their order, among all builds of the version: ranks in an index compare within it only. */
    readonly buildRanks: Int32Array,
  ) {}

  /** Opens an attached index. Needs the tables `dealers` and `build_ranks` of the version. */
  static async open(session: Session, source: SegmentSource): Promise<Segment> {
    const { catalog } = source;
    await session.run(ranksStatement(catalog));
    const [ranks = none] = await joinedColumns(await session.vectors(sql`SELECT build_rank FROM ${ranksOf(catalog)}`));
    const row = await session.row(sql`
      SELECT count(*)::INTEGER AS "all", (count(*) FILTER (${isToday}))::INTEGER AS today,
             (count(*) FILTER (valid_to = ${integerLiteral(gone.sold)}))::INTEGER AS sold,
             coalesce(min(valid_from) FILTER (${hasHeld}), 0)::INTEGER AS since, (count(*) FILTER (${hasHeld} AND NOT ${isToday}))::INTEGER AS ended
      FROM   ${ident(catalog, "listings")}`);
    const dictionary = await Dictionary.read(session, catalog);
    return new Segment(source, dictionary, await Dealers.read(session, catalog), readCounts(row ?? {}), ranks);
  }

  get catalog(): string {
    return this.source.catalog;
  }

  /** What it was built from. */
  get rows(): IndexedRows {
    return this.source.rows;
  }

  /**
   * Returns arrays, which are loaded on first use; those with a name by one statement. Takes no turn of the event loop if they have been. A name is one of
   *
   * - `column <name>`: an integer for each row, by position. `listing_id` has four: see `Session.vectors`. Unknown numbers are `unknownNumber`.
   * - `days <day>`: the days on market of each row on a day, which follow from `listed_on`.
   * - `postings <name>`: of a column of ids, where the positions of each id begin, and the positions; of the first part of VINs, those of each prefix.
   * - `sets <list>`: where the sets of each token begin, and the sets.
   */
  async arrays(what: string | KeptArrays): Promise<Arrays> {
    return this.source.cache.get(this.source.name, typeof what === "string" ? this.named(what) : what);
  }

  /** Returns the first of them. */
  async array(what: string | KeptArrays): Promise<Int32Array> {
    const [array = none] = await this.arrays(what);
    return array;
  }

  /** Reads and derives the arrays that another segment has in memory, one after the other: nothing waits for them. */
  async loadAsIn({ source }: Segment): Promise<void> {
    for (const kept of source.cache.allOf(source.name)) await this.arrays(kept.of(this));
  }

  /** Counts a version that uses its arrays; with -1, one that does no more. */
  countUser(change: 1 | -1): void {
    this.source.cache.countUser(this.source.name, change);
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

  /** Returns the ids of a column that has postings. */
  idRange(column: string): IdRange {
    return column === vinPrefixes.column ? vinPrefixes.range : this.dictionary.columnRange(column);
  }

  private named(name: string): KeptArrays {
    const at = name.indexOf(" ");
    const kind = name.slice(0, at);
    const column = name.slice(at + 1);
    const bytes = this.lengthOf(kind, column) * Int32Array.BYTES_PER_ELEMENT;
    return { name, bytes, load: () => this.read(kind, column), of: (segment) => segment.named(name) };
  }

  private lengthOf(kind: string, column: string): number {
    const { all } = this.counts;
    if (kind === "column" || kind === "days") return all * (column === "listing_id" ? 4 : 1);
    const { first, end } = kind === "sets" ? this.dictionary.rangeOf(column) : this.idRange(column);
    return all + end - first;
  }

  private async read(kind: string, of: string): Promise<Arrays> {
    if (kind === "column") return this.readColumn(of);
    if (kind === "days") return this.daysOn(Number(of));
    if (kind === "postings") return groupById(await this.idsIn(of), this.idRange(of));
    const list = listIn(of);
    if (list === undefined) throw new TypeError(`Unknown list ${of}: expected one of ${listNames.join(", ")}.`);
    const [tokens = none, sets] = await this.columns(sql`SELECT token, "set" FROM ${setsOf(this.catalog, list)}`);
    return groupById(tokens, this.dictionary.rangeOf(of), sets);
  }

  /** Returns the ids of a column, or those of the first characters of VINs. */
  private async idsIn(column: string): Promise<Int32Array> {
    const values = await this.array(`column ${column}`);
    if (column !== vinPrefixes.column) return values;
    const ids = new Int32Array(values.length);
    await inBlocks(ids.length, (from, until) => {
      for (let position = from; position < until; position += 1)
        ids[position] = (values[position] as number) >>> vinPrefixes.shift;
    });
    return ids;
  }

  private readColumn(column: string): Promise<Arrays> {
    const isNumber = numberNames.some((name) => name === column);
    const value = isNumber ? sql`coalesce(${ident(column)}, ${integerLiteral(unknownNumber)})::INTEGER` : ident(column);
    return this.columns(sql`SELECT ${value} FROM ${ident(this.catalog, "listings")}`);
  }

  /** Returns the columns of a query, whose rows come in the order of the table. */
  private async columns(query: Sql): Promise<Arrays> {
    return joinedColumns(await this.source.engine.vectors(query));
  }

  private async daysOn(day: number): Promise<Arrays> {
    const listed = await this.array("column listed_on");
    const days = new Int32Array(listed.length);
    await inBlocks(days.length, (from, until) => {
      for (let position = from; position < until; position += 1)
        days[position] = Math.max(0, day - (listed[position] as number));
    });
    return [days];
  }
}

/** The table of the rank of each build of an index among all builds of the version. */
export const ranksOf = (catalog: string): Sql => ident(`ranks of ${catalog}`);

const ranksStatement = (catalog: string): Sql => sql`
  CREATE OR REPLACE TABLE ${ranksOf(catalog)} AS
  SELECT build, build_ranks.build_rank FROM ${ident(catalog, "builds")} JOIN build_ranks USING (build_key) ORDER BY build`;
