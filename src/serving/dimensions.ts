/**
 * Dimensions of a version in memory: builds, dealers, tokens and options by key.
 *
 * A page looks up its few keys here. Joining in DuckDB instead would scan all builds and all dealers.
 */
import { integerIn, isRow, type Json, type Row, textIn } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import type { Session } from "../db/duckdb.ts";
import { columnsOf, ident, type Sql, sql } from "../db/sql.ts";
import { pricedOptions } from "../lake/derived-relations.ts";
import { type JsonRow, JsonRowFormat } from "../lake/json-row.ts";
import { columnsInSequence } from "../lake/served-columns.ts";
import { buildColumns, dealerColumns } from "../lake/tables.ts";
import {
  type AttributeName,
  attributeOf,
  type CategoryName,
  categoryNames,
  namesIn,
  type TokensName,
  tokensNames,
} from "../listing/schema.ts";
import { valueKeyOf } from "../listing/values.ts";

/** Returns the row format of builds or dealers, without their keys. */
function formatOf(home: "builds" | "dealers", columns: object): JsonRowFormat<string> {
  const names: readonly AttributeName[] = namesIn(home);
  const columnOf = new Map<string, string>(names.map((name) => [name, attributeOf(name).column]));
  return new JsonRowFormat(columnsOf(home, Object.keys(columns)), {
    pieces: columnsInSequence((field) => columnOf.get(field)),
    properties: Object.fromEntries([...columnOf].map(([name, column]) => [column, name])),
  });
}

export const buildRow = formatOf("builds", buildColumns);
export const dealerRow = formatOf("dealers", dealerColumns);

/** Query for the options of each make, ordered by code. */
export const optionsByMake = sql`
  SELECT make, list({code: code, name: "name", msrp: msrp} ORDER BY code) AS options
  FROM   (${pricedOptions(sql`FROM options`)})
  GROUP BY make`;

interface DimensionMaps {
  /** By `build_key`: texts until their first use. */
  readonly builds: Map<Json, string | JsonRow>;
  /** By `dealer_key`, likewise. */
  readonly dealers: Map<Json, string | JsonRow>;
  readonly tokens: ReadonlyMap<Json, string>;
  readonly options: ReadonlyMap<Json, readonly Row[]>;
  /** Spellings of the values of build attributes and lists, by `valueKeyOf`. */
  readonly spellings: ReadonlyMap<CategoryName | TokensName, ReadonlyMap<string, readonly string[]>>;
}

export class Dimensions {
  private constructor(private readonly maps: DimensionMaps) {}

  /** Reads the tables `builds`, `dealers`, `tokens` and `options`. */
  static async read(session: Session): Promise<Dimensions> {
    const options = (await session.rows(optionsByMake)).map((row): [Json, readonly Row[]] => [
      row.make ?? null,
      Array.isArray(row.options) ? row.options.filter(isRow) : [],
    ]);
    return new Dimensions({
      builds: await textsByKey(session, sql`SELECT build_key AS key, ${buildRow.selectText()} AS text FROM builds`),
      dealers: await textsByKey(session, sql`SELECT dealer_key AS key, ${dealerRow.selectText()} AS text FROM dealers`),
      tokens: await textsByKey(session, sql`SELECT token_key AS key, token AS text FROM tokens`),
      options: new Map(options),
      spellings: await readSpellings(session),
    });
  }

  /** Returns the build with a `build_key`. Throws if the key is unknown. */
  buildOf(key: Json | undefined): JsonRow {
    return rowIn(this.maps.builds, buildRow, "build", key);
  }

  /** Returns the dealer with a `dealer_key`. Throws if the key is unknown. */
  dealerOf(key: Json | undefined): JsonRow {
    return rowIn(this.maps.dealers, dealerRow, "dealer", key);
  }

  /** Returns the tokens of a list of token keys; null if it is not a list. Throws if a key is unknown. */
  wordsOf(keys: Json | undefined): readonly string[] | null {
    return Array.isArray(keys) ? keys.map((key: Json) => required(this.maps.tokens.get(key), "token", key)) : null;
  }

  /** Returns the values that builds have in an attribute, or the listings of all days in a list, in all their spellings. */
  valuesOf(attribute: CategoryName | TokensName): readonly string[] {
    return [...(this.maps.spellings.get(attribute)?.values() ?? [])].flat();
  }

  /** Returns the spelling of a value that builds or lists have, matched as a filter is; undefined if none has it. */
  spellingOf(attribute: CategoryName | TokensName, value: string): string | undefined {
    return this.maps.spellings.get(attribute)?.get(valueKeyOf(attribute, value))?.[0];
  }

  /** Returns `code`, `name` and `msrp` of a make's options, ordered by code. Codes that the make does not describe are omitted. */
  optionsOf(make: Json | undefined, codes: readonly string[]): readonly Row[] {
    const requested = new Set<Json | undefined>(codes);
    return this.maps.options.get(make ?? null)?.filter(({ code }) => requested.has(code)) ?? [];
  }
}

async function textsByKey(session: Session, query: Sql): Promise<Map<Json, string>> {
  const texts = new Map<Json, string>();
  await forEachInTurns(await session.rows(query), (row) => texts.set(integerIn(row, "key"), textIn(row, "text")));
  return texts;
}

/** Returns the values of each category of builds, and of each list, as text, grouped by `valueKeyOf`. */
async function readSpellings(session: Session): Promise<DimensionMaps["spellings"]> {
  const spellingsByAttribute = new Map<CategoryName | TokensName, Map<string, readonly string[]>>();
  for (const attribute of [...buildAttributes, ...tokensNames]) {
    const { column, kind } = attributeOf(attribute);
    const spellings = new Map<string, readonly string[]>();
    const value = kind === undefined ? ident(column) : sql`token`;
    const from = kind === undefined ? sql`builds` : sql`(FROM tokens WHERE kind = ${kind})`;
    const rows = await session.rows(
      sql`SELECT DISTINCT ${value}::VARCHAR AS value FROM ${from} WHERE ${value} IS NOT NULL ORDER BY value`,
    );
    for (const row of rows) {
      const key = valueKeyOf(attribute, textIn(row, "value"));
      spellings.set(key, [...(spellings.get(key) ?? []), textIn(row, "value")]);
    }
    spellingsByAttribute.set(attribute, spellings);
  }
  return spellingsByAttribute;
}

const buildAttributes = categoryNames.filter((name) => attributeOf(name).home === "builds");

/** Returns the row with a key. Its text is split when it is first needed. */
function rowIn(
  rows: Map<Json, string | JsonRow>,
  format: JsonRowFormat<string>,
  dimension: string,
  key: Json = null,
): JsonRow {
  const row = required(rows.get(key), dimension, key);
  if (typeof row !== "string") return row;
  const parsed = format.parse(row);
  rows.set(key, parsed);
  return parsed;
}

function required<T>(row: T | undefined, dimension: string, key: Json | undefined): T {
  if (row === undefined)
    throw new TypeError(`Unknown ${dimension} key ${JSON.stringify(key)}: expected one of this version.`);
  return row;
}
