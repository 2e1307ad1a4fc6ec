/**
 * The dimensions of a version in memory: what the keys of a listing stand for. The rows of a page find theirs here at once; the
 * engine, asked to join them, reads all builds and all dealers.
 */
import { integerIn, isRow, type Json, type Row, textIn } from "../base/json.ts";
import { name, sql } from "../base/sql.ts";
import type { Session } from "./duckdb.ts";
import { type TokenColumn, tokenKinds } from "./layout.ts";

/** What each make's option codes stand for, as one list by code: the newest word on a code counts, if it has a name and a price. */
export const optionsByMake = sql`
  SELECT make, list({code: code, name: "name", msrp: msrp} ORDER BY code) AS options
  FROM   (SELECT DISTINCT ON (make, code) * FROM options ORDER BY make, code, option_key DESC)
  WHERE  "name" IS NOT NULL AND msrp IS NOT NULL
  GROUP BY make`;

export class Dimensions {
  private constructor(
    private readonly builds: ReadonlyMap<Json, Row>,
    private readonly dealers: ReadonlyMap<Json, Row>,
    private readonly tokens: ReadonlyMap<Json, string>,
    private readonly tokenKeys: ReadonlyMap<string, number>,
    private readonly optionsByMake: ReadonlyMap<Json, readonly Row[]>,
  ) {}

  /** Reads the tables `builds`, `dealers`, `tokens` and `options`. */
  static async read(session: Session): Promise<Dimensions> {
    const byKey = async (table: "builds" | "dealers", key: string): Promise<ReadonlyMap<Json, Row>> =>
      new Map((await session.rows(sql`FROM ${name(table)}`)).map((row) => [integerIn(row, key), row]));
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
      await byKey("builds", "build_key"),
      await byKey("dealers", "dealer_key"),
      new Map(tokens.map(({ key, token }) => [key, token])),
      new Map(tokens.map(({ key, folded }) => [folded, key])),
      new Map(options),
    );
  }

  /** The build of a listing, given its `build_key`. */
  buildOf({ build_key }: Row): Row {
    return known(this.builds.get(build_key ?? null), "build", build_key);
  }

  /** The dealer of a listing, given its `dealer_key`. */
  dealerOf({ dealer_key }: Row): Row {
    return known(this.dealers.get(dealer_key ?? null), "dealer", dealer_key);
  }

  /** The words that a list of token keys stands for; null where there is no list. */
  wordsOf(keys: Json | undefined): readonly string[] | null {
    return Array.isArray(keys) ? keys.map((key: Json) => known(this.tokens.get(key), "token", key)) : null;
  }

  /** The key of a token, in any case, that a column of listings may hold; there is none where no listing ever had it. */
  keyOf(column: TokenColumn, token: string): number | undefined {
    return this.tokenKeys.get(foldedToken(tokenKinds[column], token));
  }

  /** What a make says of some option codes: `code`, `name` and `msrp`, in the order of the codes; it need not know all of them. */
  optionsOf(make: Json | undefined, codes: readonly string[]): readonly Row[] {
    const asked = new Set<Json | undefined>(codes);
    return this.optionsByMake.get(make ?? null)?.filter(({ code }) => asked.has(code)) ?? [];
  }
}

const foldedToken = (kind: string, token: string): string => `${kind} ${token.toLowerCase()}`;

function known<T>(found: T | undefined, what: string, key: Json | undefined): T {
  if (found === undefined) throw new TypeError(`There is no ${what} with the key ${JSON.stringify(key)}.`);
  return found;
}
