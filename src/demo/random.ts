/**
 * Chance that is none: every draw is a function of the seed, of what it is drawn for, and of what it is drawn about, so that any
 * part of a market can be computed without the others, in any order and on any number of threads.
 */
import { numberLiteral, type Sql, sql } from "../db/sql.ts";

const steps = 2 ** 32;

export interface RandomDraws {
  /** A number in [0, 1), evenly. */
  uniform(purpose: string, about: Sql): Sql;
  /** A whole number in [0, below). */
  integerBelow(purpose: string, about: Sql, below: number | Sql): Sql;
  /** A number around 0 with a deviation of 1. */
  normal(purpose: string, about: Sql): Sql;
  /** One of some words or relations. */
  pick(purpose: string, about: Sql, list: Sql): Sql;
  occurs(purpose: string, about: Sql, share: number | Sql): Sql;
}

/** The draws of a seed. */
export function randomDraws(seed: number): RandomDraws {
  const bits = (purpose: string, about: Sql): Sql =>
    sql`(hash((${about})::BIGINT + ${numberLiteral(saltOf(`${seed} ${purpose}`))}) % ${numberLiteral(steps)})`;
  const even = (purpose: string, about: Sql): Sql => sql`(${bits(purpose, about)}::DOUBLE / ${numberLiteral(steps)})`;
  const below = (purpose: string, about: Sql, limit: number | Sql): Sql =>
    sql`(${bits(purpose, about)} % ${typeof limit === "number" ? numberLiteral(limit) : limit})::INTEGER`;
  return {
    uniform: even,
    integerBelow: below,
    normal: (purpose, about) =>
      sql`(sqrt(-2 * ln(1 - ${even(purpose, about)})) * cos(2 * pi() * ${even(`${purpose} angle`, about)}))`,
    pick: (purpose, about, list) => sql`(${list})[1 + ${below(purpose, about, sql`len(${list})`)}]`,
    occurs: (purpose, about, share) =>
      sql`(${even(purpose, about)} < ${typeof share === "number" ? numberLiteral(share) : share})`,
  };
}

/**
 * A number of 52 bits that stands for a text. It is added to what is drawn about: the engine's hash of one number mixes all its
 * bits, while that of two is little more than an exclusive or, by which draws for two purposes would go together.
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
