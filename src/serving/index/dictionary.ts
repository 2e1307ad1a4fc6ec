/**
 * Dictionary of a search index, in memory: translates requested values to ids before a statement, and ids to values after it.
 *
 * A composite id (build, dealer, set of features) stands for several values: its expansion. Values that differ in case only match the
 * same request and are counted as one.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { forEachInTurns } from "../../base/turns.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, sql } from "../../db/sql.ts";
import { type Box, degreesOf, isInside, milesBetween, type Point } from "../../listing/geography.ts";
import { type CategoryName, type ListName, listNames } from "../../listing/schema.ts";
import { valueKeyOf } from "../../listing/values.ts";
import { BorrowedArrays } from "./borrowed-arrays.ts";
import { buildCategories, dealerCategories, setsOf } from "./build.ts";
import { groupById, type IdRange, inBlocks, joinedColumns, none } from "./columns.ts";

/** The values of composite ids in a column, by attribute: those of id `first + n` are `values[starts[n]]` up to `values[starts[n + 1]]`, exclusive. */
interface Expansion extends IdRange {
  readonly attributes: ReadonlyMap<string, { readonly starts: Int32Array; readonly values: Int32Array }>;
}

interface DictionaryTables {
  readonly ranges: ReadonlyMap<string, IdRange>;
  /** Values by id; an empty one is that of no id. */
  readonly texts: readonly string[];
  /** Ids by `idsKeyOf`. */
  readonly ids: ReadonlyMap<string, readonly number[]>;
  /** Groups of ids per attribute whose values differ in case only. */
  readonly same: ReadonlyMap<string, readonly (readonly number[])[]>;
  /** By column. */
  readonly expansions: ReadonlyMap<string, Expansion>;
}

export class Dictionary {
  private constructor(private readonly tables: DictionaryTables) {}

  static async read(session: Session, catalog: string): Promise<Dictionary> {
    const texts = [""];
    const ranges = new Map<string, IdRange>();
    const ids = new Map<string, number[]>();
    await forEachInTurns(await session.rows(sql`FROM ${ident(catalog, "dictionary")} ORDER BY id`), (row) => {
      const attribute = textIn(row, "attribute");
      const text = textIn(row, "value");
      const id = texts.length;
      ranges.set(attribute, { first: ranges.get(attribute)?.first ?? id, end: id + 1 });
      const key = idsKeyOf(attribute, text);
      const known = ids.get(key);
      if (known === undefined) ids.set(key, [id]);
      else known.push(id);
      texts.push(text);
    });
    const same = new Map<string, readonly (readonly number[])[]>();
    await forEachInTurns(ranges, ([attribute, { first, end }]) =>
      same.set(attribute, spelledAlike(texts.slice(first, end), first)),
    );
    const expansions = new Map<string, Expansion>();
    expansions.set("build", await readComposite(session, catalog, "build", buildCategories));
    expansions.set("dealer", await readComposite(session, catalog, "dealer", dealerCategories));
    for (const list of listNames) expansions.set(list, await readSets(session, catalog, list));
    return new Dictionary({ ranges, texts, ids, same, expansions });
  }

  /** Returns the ids that match a requested value: in any case, and for makes and models with any punctuation. Empty if no listing has it. */
  idsOf(attribute: string, value: string | number): readonly number[] {
    return this.tables.ids.get(idsKeyOf(attribute, String(value))) ?? [];
  }

  valueOf(id: number): string {
    return this.tables.texts[id] ?? "";
  }

  /** Returns the id range of an attribute's values, which is in the order of the values. */
  rangeOf(attribute: string): IdRange {
    return this.tables.ranges.get(attribute) ?? { first: 0, end: 0 };
  }

  /** Returns the values of an attribute, in their order, which is that of their ids. */
  valuesOf(attribute: string): readonly string[] {
    const { first, end } = this.rangeOf(attribute);
    return this.tables.texts.slice(first, end);
  }

  /** Returns groups of ids whose values differ in case only. */
  sameValues(attribute: string): readonly (readonly number[])[] {
    return this.tables.same.get(attribute) ?? [];
  }

  /** Returns the range of the ids in a column of the index. */
  columnRange(column: string): IdRange {
    return this.tables.expansions.get(column) ?? this.rangeOf(column);
  }

  /** The length of counts by value id. */
  get size(): number {
    return this.tables.texts.length;
  }

  /**
   * Adds the counts of the ids in a column to those of the values of some attributes that they stand for. The first one is that of the first id in the
   * range.
   */
  async addCounts(
    counts: Int32Array,
    column: string,
    added: Int32Array,
    attributes: ReadonlySet<string>,
  ): Promise<void> {
    const expansion = this.tables.expansions.get(column);
    if (expansion === undefined) return counts.set(added, this.rangeOf(column).first);
    const arrays = new BorrowedArrays();
    const present = arrays.take(added.length);
    let length = 0;
    await inBlocks(added.length, (from, end) => {
      for (let n = from; n < end; n += 1) if (added[n] !== 0) present[length++] = n;
    });
    for (const [attribute, { starts, values }] of expansion.attributes) {
      if (!attributes.has(attribute)) continue;
      await inBlocks(length, (from, end) => {
        for (let index = from; index < end; index += 1) {
          const n = present[index] as number;
          const times = added[n] as number;
          const until = starts[n + 1] as number;
          for (let at = starts[n] as number; at < until; at += 1) {
            const value = values[at] as number;
            counts[value] = (counts[value] as number) + times;
          }
        }
      });
    }
    arrays.release();
  }
}

/** Returns groups of values that differ in case only, as numbers: values are numbered in their order from `first` on. */
export function spelledAlike(values: readonly string[], first: number): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  for (const [index, value] of values.entries()) {
    const key = value.toLowerCase();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [first + index]);
    else group.push(first + index);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

const idsKeyOf = (attribute: string, value: string): string => `${attribute} ${valueKeyOf(attribute, value)}`;

/** Reads the expansion of builds or dealers: one value of each attribute. */
async function readComposite(
  session: Session,
  catalog: string,
  of: "build" | "dealer",
  categories: readonly CategoryName[],
): Promise<Expansion> {
  const selected = join(categories.map((column) => ident(column)));
  const query = sql`SELECT ${selected} FROM ${ident(catalog, `${of}s`)} ORDER BY ${ident(of)}`;
  const columns = await joinedColumns(await session.vectors(query));
  const end = 1 + (columns[0]?.length ?? 0);
  const starts = new Int32Array(end).map((_, n) => n);
  const attributes = new Map(categories.map((one, index) => [one, { starts, values: columns[index] ?? none }]));
  return { first: 1, end, attributes };
}

/** Reads the expansions of sets. */
async function readSets(session: Session, catalog: string, list: ListName): Promise<Expansion> {
  const table = setsOf(catalog, list);
  const row = await session.row(sql`SELECT coalesce(max("set"), 0)::INTEGER AS last FROM ${table}`);
  const range = { first: 1, end: 1 + integerIn(row, "last") };
  const [tokens, sets = none] = await joinedColumns(await session.vectors(sql`SELECT token, "set" FROM ${table}`));
  const [starts = none, values = none] = await groupById(sets, range, tokens);
  return { ...range, attributes: new Map([[list, { starts, values }]]) };
}

/** Distance of a dealer without coordinates, in thousandths of a mile: greater than any on the globe. */
const unknownDistance = 2 ** 25;

/** Dealers of a search index, in memory: those within a radius or inside a box, and their distances. */
export class Dealers {
  /** Their coordinates, NaN without any: those of dealer `n` are at `n - 1`. */
  private constructor(
    private readonly latitudes: Float64Array,
    private readonly longitudes: Float64Array,
  ) {}

  /** Reads the dealers of an attached index, and their coordinates from the table `dealers`. */
  static async read(session: Session, catalog: string): Promise<Dealers> {
    const rows = await session.rows(sql`
      SELECT latitude, longitude
      FROM   ${ident(catalog, "dealers")} AS of JOIN dealers USING (dealer_key) ORDER BY of.dealer`);
    const degrees = (name: string): Float64Array =>
      Float64Array.from(rows, ({ [name]: value }) => (typeof value === "number" ? value : Number.NaN));
    return new Dealers(degrees("latitude"), degrees("longitude"));
  }

  within(origin: Point, miles: number): readonly number[] {
    const degrees = degreesOf(miles);
    return this.where(
      (index) =>
        Math.abs((this.latitudes[index] ?? 0) - origin.latitude) <= degrees &&
        milesBetween(origin, this.pointAt(index)) <= miles,
    );
  }

  inside(box: Box): readonly number[] {
    return this.where((index) => isInside(this.pointAt(index), box));
  }

  get all(): readonly number[] {
    return this.where(() => true);
  }

  /** Returns a function from a dealer to its distance from a point, in thousandths of a mile. */
  distancesFrom(origin: Point): (dealer: number) => number {
    const known = new Int32Array(this.latitudes.length).fill(-1);
    return (dealer) => {
      const index = dealer - 1;
      const found = known[index] ?? unknownDistance;
      if (found >= 0) return found;
      const miles = milesBetween(origin, this.pointAt(index));
      const distance = Number.isNaN(miles) ? unknownDistance : Math.round(1000 * miles);
      known[index] = distance;
      return distance;
    };
  }

  private pointAt(index: number): Point {
    return { latitude: this.latitudes[index] ?? Number.NaN, longitude: this.longitudes[index] ?? Number.NaN };
  }

  private where(passes: (index: number) => boolean): readonly number[] {
    const found: number[] = [];
    const { length } = this.latitudes;
    for (let index = 0; index < length; index += 1) if (passes(index)) found.push(index + 1);
    return found;
  }
}
