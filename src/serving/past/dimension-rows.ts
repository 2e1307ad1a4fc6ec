/**
 * Fingerprint of the dimension rows that an index was built from. Keys keep their meaning from version to version, except when days are
 * replayed: then a key can identify another row while the files of listings stay the same.
 */
import { integerIn, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { tokensNames } from "../../listing/schema.ts";
import { indexedDimensions } from "../index/index-file.ts";

type KeyOf = Readonly<Record<(typeof indexedDimensions)[number], number>>;

/** The dimension rows up to the greatest keys of some listings. */
export interface DimensionRows {
  readonly keys: KeyOf;
  readonly fingerprint: string;
}

const keyColumns = { builds: "build_key", dealers: "dealer_key", tokens: "token_key" } as const;

/** Reads the greatest keys of some listings, and the fingerprint of the tables' rows up to them. */
export async function readDimensionRows(session: Session, listings: Sql): Promise<DimensionRows> {
  const tokens = join(tokensNames.map((list) => sql`max(list_max(${ident(list)}))`));
  const row = await session.row(sql`
    SELECT coalesce(max(build_key), 0) AS builds, coalesce(max(dealer_key), 0) AS dealers, coalesce(greatest(${tokens}), 0) AS tokens
    FROM   (${listings})`);
  const keys = {
    ...{ builds: integerIn(row, "builds"), dealers: integerIn(row, "dealers") },
    tokens: integerIn(row, "tokens"),
  };
  return { keys, fingerprint: await fingerprintUpTo(session, keys) };
}

/** Returns the fingerprint of the tables' rows up to some keys. */
export async function fingerprintUpTo(session: Session, keys: KeyOf): Promise<string> {
  const fingerprints = indexedDimensions.map(
    (table) => sql`
      SELECT ${literal(table)} || ' ' || count(*) || ' ' || coalesce(bit_xor(md5_number(to_json(dimension)::VARCHAR)), 0) AS part
      FROM   ${ident(table)} AS dimension WHERE ${ident(keyColumns[table])} <= ${integerLiteral(keys[table])}`,
  );
  const row = await session.row(
    sql`SELECT string_agg(part, ' ' ORDER BY part) AS fingerprint FROM (${join(fingerprints, sql` UNION ALL `)})`,
  );
  return textIn(row, "fingerprint");
}
