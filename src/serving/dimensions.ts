/**
 * The dimensions of a version in memory: what the keys of a listing stand for. The rows of a page find theirs here at once; the
 * engine, asked to join them, reads all builds and all dealers.
 */
import { integerIn, isRow, type Json, type Row, textIn } from "../base/json.ts";
import type { Session } from "../db/duckdb.ts";
import { columnsOf, ident, type Sql, sql } from "../db/sql.ts";
import { type JsonRow, JsonRowFormat } from "../lake/json-row.ts";
import { buildColumns, dealerColumns, type TokenColumn, tokenKinds } from "../lake/tables.ts";
import { attributeOf, type CategoryName, categoryNames } from "../listing/schema.ts";
import { valueKeyOf } from "../listing/values.ts";

/** Builds and dealers without their keys, in whose place they stand. */
export const buildRow = new JsonRowFormat(columnsOf("builds", Object.keys(buildColumns)));
export const dealerRow = new JsonRowFormat(columnsOf("dealers", Object.keys(dealerColumns)));

/** What each make's option codes stand for, as one list by code: the newest word on a code counts, if it has a name and a price. */
export const optionsByMake = sql`
  SELECT make, list({code: code, name: "name", msrp: msrp} ORDER BY code) AS options
  FROM   (SELECT DISTINCT ON (make, code) * FROM options ORDER BY make, code, option_key DESC)
  WHERE  "name" IS NOT NULL AND msrp IS NOT NULL
  GROUP BY make`;

export class Dimensions {
  private constructor(
    private readonly builds: ReadonlyMap<Json, string>,
    private readonly dealers: ReadonlyMap<Json, string>,
    private readonly tokens: ReadonlyMap<Json, string>,
    private readonly tokenKeys: ReadonlyMap<string, number>,
    private readonly optionsByMake: ReadonlyMap<Json, readonly Row[]>,
    private readonly spellings: ReadonlyMap<CategoryName, ReadonlyMap<string, readonly string[]>>,
  ) {}

  /** Reads the tables `builds`, `dealers`, `tokens` and `options`. */
  static async read(session: Session): Promise<Dimensions> {
    const tokens = (await session.rows(sql`FROM tokens ORDER BY token_key DESC`)).map((row) => ({
      key: integerIn(row, "token_key"),
      token: textIn(row, "token"),
      folded: foldedToken(textIn(row, "kind"), textIn(row, "token")),
    }));
    const options = (await session.rows(optionsByMake)).map((row): [Json, readonly Row[]] => [
      row.make ?? null,
      Array.isArray(row.options) ? row.options.filter(isRow) : [],
    ]);
    return new Dimensions(
      await textsByKey(session, sql`SELECT build_key AS key, ${buildRow.selectText()} AS text FROM builds`),
      await textsByKey(session, sql`SELECT dealer_key AS key, ${dealerRow.selectText()} AS text FROM dealers`),
      new Map(tokens.map(({ key, token }) => [key, token])),
      new Map(tokens.map(({ key, folded }) => [folded, key])),
      new Map(options),
      new Map(await spellingsOfAll(session)),
    );
  }

  /** The build of a listing, given its `build_key`. */
  buildOf(key: Json | undefined): JsonRow {
    return buildRow.parse(known(this.builds.get(key ?? null), "build", key));
  }

  /** The dealer of a listing, given its `dealer_key`. */
  dealerOf(key: Json | undefined): JsonRow {
    return dealerRow.parse(known(this.dealers.get(key ?? null), "dealer", key));
  }

  /** The words that a list of token keys stands for; null where there is no list. */
  wordsOf(keys: Json | undefined): readonly string[] | null {
    return Array.isArray(keys) ? keys.map((key: Json) => known(this.tokens.get(key), "token", key)) : null;
  }

  /** The key of a token, in any case, that a list may hold; undefined where no listing ever had it. */
  tokenKeyOf(list: TokenColumn, token: string): number | undefined {
    return this.tokenKeys.get(foldedToken(tokenKinds[list], token));
  }

  /** The values of an attribute of builds that match a requested one, in any case, and a make or model in any punctuation. */
  spellingsOf(attribute: CategoryName, value: string): readonly string[] {
    return this.spellings.get(attribute)?.get(valueKeyOf(attribute, value)) ?? [];
  }

  /** Whether some build has a value, in any case. */
  isKnown(attribute: CategoryName, value: string): boolean {
    return this.spellingsOf(attribute, value).length > 0;
  }

  /** What a make says of some option codes: `code`, `name` and `msrp`, in the order of the codes; it need not know all of them. */
  optionsOf(make: Json | undefined, codes: readonly string[]): readonly Row[] {
    const asked = new Set<Json | undefined>(codes);
    return this.optionsByMake.get(make ?? null)?.filter(({ code }) => asked.has(code)) ?? [];
  }
}

const textsByKey = async (session: Session, query: Sql): Promise<ReadonlyMap<Json, string>> =>
  new Map((await session.rows(query)).map((row) => [integerIn(row, "key"), textIn(row, "text")]));

/** The values of each attribute of builds that is a text, by what their spellings have in common. */
async function spellingsOfAll(
  session: Session,
): Promise<readonly (readonly [CategoryName, Map<string, readonly string[]>])[]> {
  const found: [CategoryName, Map<string, readonly string[]>][] = [];
  for (const attribute of buildTexts) {
    const spellings = new Map<string, readonly string[]>();
    const value = ident(attributeOf(attribute).column);
    for (const row of await session.rows(
      sql`SELECT DISTINCT ${value} AS value FROM builds WHERE ${value} IS NOT NULL ORDER BY value`,
    )) {
      const key = valueKeyOf(attribute, textIn(row, "value"));
      spellings.set(key, [...(spellings.get(key) ?? []), textIn(row, "value")]);
    }
    found.push([attribute, spellings]);
  }
  return found;
}

const buildTexts = categoryNames.filter(
  (one) => attributeOf(one).home === "builds" && attributeOf(one).type === "VARCHAR",
);

const foldedToken = (kind: string, token: string): string => `${kind} ${token.toLowerCase()}`;

function known<T>(found: T | undefined, what: string, key: Json | undefined): T {
  if (found === undefined) throw new TypeError(`There is no ${what} with the key ${JSON.stringify(key)}.`);
  return found;
}
