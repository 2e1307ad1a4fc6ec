/**
 * A question: what Carquet is asked by a path of its API, and a peer in SQL. Both answer with a body in the shape of the API, so that
 * answers can be compared, and a peer can be put behind the same HTTP layer.
 */
import { isObject, type Json } from "../../src/base/json.ts";
import type { Peer } from "../peers/peer.ts";

export interface Question {
  readonly path: string;
  /** Asks a peer; gives a body. */
  readonly ask: (peer: Peer) => Promise<object>;
  /** What of a body is compared: all that the question is about, and nothing that depends on who answers. */
  readonly essence: (body: unknown) => Json;
  /** How many listings, or whatever is asked about, match. */
  readonly rows: (body: unknown) => number;
}

/** What stands at a path of keys in a value; null where nothing does. */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce((inner: unknown, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] ?? null;
    return isObject(inner) ? (inner[key] ?? null) : null;
  }, value);
}

/** A list at a path of keys; an empty one where there is none. */
export function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}
