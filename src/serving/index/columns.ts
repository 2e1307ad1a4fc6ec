/**
 * Columns of segments as typed arrays, each read by one statement on first use and kept in an LRU cache within a budget of memory.
 *
 * An entry is one of
 *
 * - `column <name>`: an integer for each row, by position. `listing_id` has four: see `Session.vectors`. Unknown numbers are `unknownNumber`.
 * - `days <day>`: the days on market of each row on a day, which follow from `listed_on`.
 * - `postings <name>`: of a column of ids, where the positions of each id begin, and the positions.
 * - `sets <list>`: where the sets of each token begin, and the sets.
 * - others that are derived from these: see `keep`.
 */
import { LRUCache } from "lru-cache";
import { forEachInTurns } from "../../base/turns.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, integerLiteral, type Sql, sql } from "../../db/sql.ts";
import { listNames, numberNames } from "../../listing/schema.ts";
import { setsOf, unknownId } from "./build.ts";
import type { IdRange } from "./dictionary.ts";
import { unknownNumber } from "./tests.ts";

export type Arrays = readonly Int32Array[];

interface Entry {
  readonly bytes: number;
  readonly loading: Promise<Arrays>;
  loaded?: Arrays;
}

const integerBytes = Int32Array.BYTES_PER_ELEMENT;

/** The columns of all open segments of a process. */
export class ColumnCache {
  private readonly entries: LRUCache<string, Entry>;

  constructor(bytesMax = 2 ** 29) {
    this.entries = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ bytes }) => bytes });
  }

  /** The bytes of the arrays that are kept, or being read. */
  get bytes(): number {
    return this.entries.calculatedSize;
  }

  /** Returns what is kept under a key, at once if it has been read. `load` reads it; `bytes` is its size, or more. */
  get(key: string, bytes: number, load: () => Promise<Arrays>): Arrays | Promise<Arrays> {
    const known = this.entries.get(key);
    if (known !== undefined) return known.loaded ?? known.loading;
    const entry: Entry = { bytes: Math.max(1, bytes), loading: load() };
    this.entries.set(key, entry);
    entry.loading.then(
      (arrays) => {
        entry.loaded = arrays;
      },
      () => this.entries.peek(key) === entry && this.entries.delete(key),
    );
    return entry.loading;
  }

  /** Removes what is kept of a segment. */
  forget(segment: string): void {
    for (const key of this.entries.keys()) if (key.startsWith(`${segment} `)) this.entries.delete(key);
  }
}

/** Which segment columns are read from. */
export interface ColumnSource {
  /** Equal for equal content. */
  readonly name: string;
  readonly catalog: string;
  /** Runs statements on behalf of all requests, so that no request that ends early takes a column with it. */
  readonly engine: Engine;
  readonly rows: number;
  /** Returns the range of the ids in a column. */
  readonly rangeOf: (column: string) => IdRange;
}

/** Rows that are processed at a time. */
export const blockRows = 32_768;

/** Returns the beginnings of blocks of rows. */
export function* blocksOf(count: number): Generator<number> {
  for (let from = 0; from < count; from += blockRows) yield from;
}

export class SegmentColumns {
  constructor(
    private readonly cache: ColumnCache,
    private readonly source: ColumnSource,
  ) {}

  /** Returns entries by name. Takes no turn of the event loop if all have been read. */
  async load(names: Iterable<string>): Promise<ReadonlyMap<string, Arrays>> {
    const found = new Map<string, Arrays>();
    const reading: Promise<unknown>[] = [];
    for (const name of names) {
      const entry = this.entry(name);
      if (!(entry instanceof Promise)) found.set(name, entry);
      else reading.push(entry.then((arrays) => found.set(name, arrays)));
    }
    if (reading.length > 0) await Promise.all(reading);
    return found;
  }

  /** Returns an array that `derive` creates on first use. `bytes` is its size, or more. */
  async keep(name: string, bytes: number, derive: () => Promise<Int32Array>): Promise<Int32Array> {
    const [array = none] = await this.cache.get(`${this.source.name} ${name}`, bytes, async () => [await derive()]);
    return array;
  }

  /** Removes all entries. */
  forget(): void {
    this.cache.forget(this.source.name);
  }

  private entry(name: string): Arrays | Promise<Arrays> {
    const [kind = "", of = ""] = split(name);
    const { rows, rangeOf } = this.source;
    const get = (count: number, load: () => Promise<Arrays>): Arrays | Promise<Arrays> =>
      this.cache.get(`${this.source.name} ${name}`, count * integerBytes, load);
    if (kind === "column") return get(rows * (of === "listing_id" ? 4 : 1), () => this.readColumn(of));
    if (kind === "days") return get(rows, () => this.daysOn(Number(of)));
    const { first, end } = rangeOf(of);
    if (kind === "postings") return get(rows + end - first, () => this.postingsOf(of));
    return get(rows + end - first, () => this.readSets(of));
  }

  private async readColumn(column: string): Promise<Arrays> {
    const isNumber = numberNames.some((name) => name === column);
    const value = isNumber ? sql`coalesce(${ident(column)}, ${integerLiteral(unknownNumber)})::INTEGER` : ident(column);
    return this.read(sql`SELECT ${value} FROM ${ident(this.source.catalog, "listings")}`);
  }

  /** Returns the columns of a query, whose rows come in the order of the table. */
  private async read(query: Sql): Promise<Arrays> {
    const chunks = await this.source.engine.vectors(query);
    const columns = Array.from({ length: chunks[0]?.length ?? 0 }, (_, column) =>
      concatenated(chunks.map((chunk) => chunk[column] ?? none)),
    );
    return Promise.all(columns);
  }

  private async daysOn(day: number): Promise<Arrays> {
    const [listed = none] = (await this.load(["column listed_on"])).get("column listed_on") ?? [];
    const days = new Int32Array(listed.length);
    await forEachInTurns(blocksOf(days.length), (from) => {
      const until = Math.min(days.length, from + blockRows);
      for (let position = from; position < until; position += 1)
        days[position] = Math.max(0, day - (listed[position] as number));
    });
    return [days];
  }

  private async postingsOf(column: string): Promise<Arrays> {
    const name = `column ${column}`;
    const [ids = none] = (await this.load([name])).get(name) ?? [];
    return groupById(ids, this.source.rangeOf(column));
  }

  private async readSets(of: string): Promise<Arrays> {
    const list = listNames.find((one) => one === of);
    if (list === undefined) throw new TypeError(`Unknown list ${of}: expected one of ${listNames.join(", ")}.`);
    const table = setsOf(this.source.catalog, list);
    const [tokens = none, sets = none] = await this.read(sql`SELECT token, "set" FROM ${table}`);
    const [starts = none, positions = none] = await groupById(tokens, this.source.rangeOf(`tokens of ${list}`));
    return [starts, positions.map((position) => sets[position] as number)];
  }
}

const none = new Int32Array();

/** Joins arrays, in turns of the event loop. */
export async function concatenated(parts: readonly Int32Array[]): Promise<Int32Array> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const joined = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  await forEachInTurns(parts, (part) => {
    joined.set(part, at);
    at += part.length;
  });
  return joined;
}

const split = (name: string): readonly string[] => {
  const at = name.indexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
};

/** Groups positions by the ids of a range: those of id `first + n` begin at `starts[n]`. Unknown ids have none. */
async function groupById(ids: Int32Array, { first, end }: IdRange): Promise<Arrays> {
  const starts = new Int32Array(end - first + 1);
  await forEachInTurns(blocksOf(ids.length), (from) => {
    for (const id of ids.subarray(from, from + blockRows))
      if (id !== unknownId) starts[id - first + 1] = (starts[id - first + 1] as number) + 1;
  });
  await forEachInTurns(blocksOf(starts.length), (from) => {
    const until = Math.min(starts.length, from + blockRows);
    for (let n = Math.max(1, from); n < until; n += 1) starts[n] = (starts[n] as number) + (starts[n - 1] as number);
  });
  const next = starts.slice();
  const positions = new Int32Array(starts.at(-1) ?? 0);
  await forEachInTurns(blocksOf(ids.length), (from) => {
    const until = Math.min(ids.length, from + blockRows);
    for (let position = from; position < until; position += 1) {
      const id = ids[position] as number;
      if (id === unknownId) continue;
      const at = next[id - first] as number;
      next[id - first] = at + 1;
      positions[at] = position;
    }
  });
  return [starts, positions];
}
