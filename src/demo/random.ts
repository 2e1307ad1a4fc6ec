/**
 * Counter-based random numbers in SQL. A draw is a hash of the seed, a purpose and a key, so any part of a market can be computed
 * independently, in any order and on any number of threads.
 */
import { numberLiteral, type Sql, sql } from "../db/sql.ts";

const hashRange = 2 ** 32;

/** Random draws. `purpose` names the quantity that is drawn, `key` is an SQL expression of the entity it is drawn for. */
export interface RandomDraws {
  uniform(purpose: string, key: Sql): Sql;
  integerBelow(purpose: string, key: Sql, limit: number | Sql): Sql;
  normal(purpose: string, key: Sql): Sql;
  /** A uniformly chosen item of an SQL list. */
  pick(purpose: string, key: Sql, list: Sql): Sql;
  occurs(purpose: string, key: Sql, share: number | Sql): Sql;
}

export function randomDraws(seed: number): RandomDraws {
  const bits = (purpose: string, key: Sql): Sql =>
    sql`(hash((${key})::BIGINT + ${numberLiteral(saltOf(`${seed} ${purpose}`))}) % ${numberLiteral(hashRange)})`;
  const uniform = (purpose: string, key: Sql): Sql =>
    sql`(${bits(purpose, key)}::DOUBLE / ${numberLiteral(hashRange)})`;
  const integerBelow = (purpose: string, key: Sql, limit: number | Sql): Sql =>
    sql`(${bits(purpose, key)} % ${typeof limit === "number" ? numberLiteral(limit) : limit})::INTEGER`;
  return {
    uniform,
    integerBelow,
    normal: (purpose, key) =>
      sql`(sqrt(-2 * ln(1 - ${uniform(purpose, key)})) * cos(2 * pi() * ${uniform(`${purpose} angle`, key)}))`,
    pick: (purpose, key, list) => sql`(${list})[1 + ${integerBelow(purpose, key, sql`len(${list})`)}]`,
    occurs: (purpose, key, share) =>
      sql`(${uniform(purpose, key)} < ${typeof share === "number" ? numberLiteral(share) : share})`,
  };
}

/** Returns the key of an entity that a text names, for draws. */
export const textKey = (text: Sql): Sql => sql`('0x' || left(md5(${text}), 8))::BIGINT`;

/**
 * Hashes a text to 52 bits. The salt is added to the key because DuckDB's hash of one number mixes all bits, whereas its hash of two
 * numbers is little more than an exclusive or, which would correlate draws for different purposes.
 */
function saltOf(text: string): number {
  return fnv(text) * 2 ** 20 + (fnv(`${text} more`) >>> 12);
}

/** FNV-1a, 32 bits. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
