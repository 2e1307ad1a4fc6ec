/**
 * Dictionary of a search index, in memory: translates requested values to ids before a statement, and ids to values after it.
 *
 * A composite id (build, dealer, set of features) stands for several values: its expansion. Values that differ in case only match the
 * same request and are counted as one.
 */
import { textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, sql } from "../../db/sql.ts";
import { type CategoryName, type ListName, listNames } from "../../listing/schema.ts";
import { valueKeyOf } from "../../listing/values.ts";
import { buildCategories, dealerCategories, firstValueId, setsOf } from "./build.ts";

/** The consecutive ids of an attribute's values, or of a kind of composite ids. */
export interface IdRange {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** The values of composite ids in a column: those of id `first + n` are `values[starts[n]]` up to `values[starts[n + 1]]`, exclusive. */
interface Expansion extends IdRange {
  readonly starts: Int32Array;
  readonly values: Int32Array;
}

export type ValueCounts = Int32Array;

interface DictionaryTables {
  readonly ranges: ReadonlyMap<string, IdRange>;
  /** Values by id, from `firstValueId` on. */
  readonly texts: readonly string[];
  /** Ids by attribute and `valueKeyOf` of the value. */
  readonly ids: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
  /** Groups of ids per attribute whose values differ in case only. */
  readonly same: ReadonlyMap<string, readonly (readonly number[])[]>;
  /** By column. */
  readonly expansions: ReadonlyMap<string, Expansion>;
}

export class Dictionary {
  private constructor(private readonly tables: DictionaryTables) {}

  static async read(session: Session, catalog: string): Promise<Dictionary> {
    const rows = await session.rows(sql`FROM ${ident(catalog, "dictionary")} ORDER BY id`);
    const texts = rows.map((row) => textIn(row, "value"));
    const attributesOfRows = rows.map((row) => textIn(row, "attribute"));
    const ranges = new Map<string, IdRange>();
    const ids = new Map<string, Map<string, number[]>>();
    for (const [index, attribute] of attributesOfRows.entries()) {
      const id = firstValueId + index;
      ranges.set(attribute, { first: ranges.get(attribute)?.first ?? id, end: id + 1 });
      add(ids, attribute, valueKeyOf(attribute, texts[index] ?? ""), id);
    }
    const same = new Map(
      [...ranges].map(([attribute, { first, end }]) => [
        attribute,
        spelledAlike(texts.slice(first - firstValueId, end - firstValueId), first),
      ]),
    );
    const expansions = new Map<string, Expansion>();
    expansions.set("build", await readComposite(session, catalog, "build", buildCategories));
    expansions.set("dealer", await readComposite(session, catalog, "dealer", dealerCategories));
    for (const list of listNames) expansions.set(list, await readSets(session, catalog, list));
    return new Dictionary({ ranges, texts, ids, same, expansions });
  }

  /** Returns the ids that match a requested value: in any case, and for makes and models with any punctuation. Empty if no listing has it. */
  idsOf(attribute: string, value: string | number): readonly number[] {
    return this.tables.ids.get(attribute)?.get(valueKeyOf(attribute, String(value))) ?? [];
  }

  valueOf(id: number): string {
    return this.tables.texts[id - firstValueId] ?? "";
  }

  /** Returns the id range of an attribute's values, which is in the order of the values. */
  rangeOf(attribute: string): IdRange {
    return this.tables.ranges.get(attribute) ?? { first: 0, end: 0 };
  }

  /** Returns the values of an attribute, in their order, which is that of their ids. */
  valuesOf(attribute: string): readonly string[] {
    const { first, end } = this.rangeOf(attribute);
    return this.tables.texts.slice(Math.max(0, first - firstValueId), Math.max(0, end - firstValueId));
  }

  /** Returns groups of ids whose values differ in case only. */
  sameValues(attribute: string): readonly (readonly number[])[] {
    return this.tables.same.get(attribute) ?? [];
  }

  /** Returns the range of the ids in a column of the index. */
  columnRange(column: string): IdRange {
    return this.tables.expansions.get(column) ?? this.rangeOf(column);
  }

  /** Returns counts by value id, all of them zero. */
  zeros(): ValueCounts {
    return new Int32Array(firstValueId + this.tables.texts.length);
  }

  /** Adds the counts of the ids in a column to those of the values that they stand for. The first one is that of the first id in the range. */
  addCounts(counts: ValueCounts, column: string, added: Int32Array): void {
    const expansion = this.tables.expansions.get(column);
    if (expansion === undefined) counts.set(added, this.rangeOf(column).first);
    else expand(counts, added, expansion);
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

/** Adds the counts of composite ids to those of their values. */
function expand(counts: ValueCounts, composite: Int32Array, { starts, values }: Expansion): void {
  for (let n = 0; n < composite.length; n += 1) {
    const times = composite[n] as number;
    if (times === 0) continue;
    const until = starts[n + 1] as number;
    for (let at = starts[n] as number; at < until; at += 1) {
      const value = values[at] as number;
      counts[value] = (counts[value] as number) + times;
    }
  }
}

function add(groups: Map<string, Map<string, number[]>>, attribute: string, key: string, id: number): void {
  const ofAttribute = groups.get(attribute) ?? new Map<string, number[]>();
  groups.set(attribute, ofAttribute);
  const ids = ofAttribute.get(key) ?? [];
  ofAttribute.set(key, ids);
  ids.push(id);
}

/** Reads the expansions of builds or dealers: the same number of values each. */
async function readComposite(
  session: Session,
  catalog: string,
  of: "build" | "dealer",
  categories: readonly CategoryName[],
): Promise<Expansion> {
  const columns = [of, ...categories].map((column) => ident(column));
  const parts = await session.vectors(
    sql`SELECT ${join(columns)} FROM ${ident(catalog, `${of}s`)} ORDER BY ${ident(of)}`,
  );
  const count = parts.reduce((sum, [ids]) => sum + (ids?.length ?? 0), 0);
  const first = parts[0]?.[0]?.[0] ?? 0;
  const values = new Int32Array(count * categories.length);
  let row = 0;
  for (const [ids, ...columnsOfPart] of parts) {
    for (const [column, vector] of columnsOfPart.entries())
      for (let index = 0; index < vector.length; index += 1)
        values[(row + index) * categories.length + column] = vector[index] ?? 0;
    row += ids?.length ?? 0;
  }
  return {
    first,
    end: first + count,
    starts: Int32Array.from({ length: count + 1 }, (_, n) => n * categories.length),
    values,
  };
}

/** Reads the expansions of sets. The table is ordered by token; a counting sort regroups it by set. */
async function readSets(session: Session, catalog: string, list: ListName): Promise<Expansion> {
  const table = setsOf(catalog, list);
  const [bounds] = await session.vectors(
    sql`SELECT coalesce(min("set"), 0)::INTEGER, coalesce(max("set"), -1)::INTEGER FROM ${table}`,
  );
  const first = bounds?.[0]?.[0] ?? 0;
  const end = (bounds?.[1]?.[0] ?? -1) + 1;
  const parts = await session.vectors(sql`SELECT token, "set" FROM ${table}`);
  const starts = new Int32Array(end - first + 1);
  for (const [, sets] of parts)
    for (const set of sets ?? []) starts[set - first + 1] = (starts[set - first + 1] ?? 0) + 1;
  for (let set = 1; set < starts.length; set += 1) starts[set] = (starts[set] ?? 0) + (starts[set - 1] ?? 0);
  const values = new Int32Array(starts.at(-1) ?? 0);
  const next = starts.slice();
  for (const [tokens, sets] of parts) {
    for (let index = 0; index < (sets?.length ?? 0); index += 1) {
      const at = next[(sets?.[index] ?? 0) - first] ?? 0;
      values[at] = tokens?.[index] ?? 0;
      next[(sets?.[index] ?? 0) - first] = at + 1;
    }
  }
  return { first, end, starts, values };
}
