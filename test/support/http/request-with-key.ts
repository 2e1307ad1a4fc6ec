/** Random requests that carry an API key where it does not belong, in any spelling. */
import type { Chance } from "../chance.ts";
import { getOperations, minimalRequest } from "../examples.ts";

export interface RequestWithKey {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const percentEncoded = (text: string): string =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");

/** Spellings of a key. */
const spellings: readonly ((key: string, chance: Chance) => string)[] = [
  (key) => key,
  (key) => key.toUpperCase(),
  percentEncoded,
  (key) => percentEncoded(key).toUpperCase(),
  (key) => percentEncoded(percentEncoded(key)),
  (key) => key.replaceAll("_", "%5F"),
  (key, chance) => [...key].map((character) => (chance.happens(0.2) ? percentEncoded(character) : character)).join(""),
];

/** The text around a key. */
const surroundings: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => `Bearer%20${key}`,
  (key) => `ford,${key},kia`,
  (key) => `${"x".repeat(60)}${key}`,
  (key) => `%22${key}%22`,
  (key) => `%zz${key}`,
  (key) => `%0A${key}%00`,
];

const headerNames = ["User-Agent", "Referer", "Cookie", "X-Api-Key", "X-Forwarded-For", "traceparent", "Accept"];
const all = getOperations;
const parameterNames = [...new Set(all.flatMap(({ parameters }) => parameters.map(({ name }) => name)))];

/** Returns a request with a key in a path, a path parameter, a parameter's name or value, or a header. */
export function requestWithKey(chance: Chance, key: string): RequestWithKey {
  const words = chance.pick(surroundings)(chance.pick(spellings)(key, chance));
  const operation = chance.pick(all);
  const path = minimalRequest(operation);
  const extend = (pair: string): RequestWithKey => ({
    path: `${path}${path.includes("?") ? "&" : "?"}${pair}`,
    headers: {},
  });
  const requests: readonly (() => RequestWithKey)[] = [
    () => ({ path: `/${words}`, headers: {} }),
    () => ({ path: `${path.split("?")[0]}/${words}`, headers: {} }),
    () => ({ path: path.replace(/(dealers|vins|listings)\/[^/?]+/, `$1/${words}`), headers: {} }),
    () => extend(`${words}=1`),
    () => extend(words),
    () => extend(`${chance.pick(parameterNames)}=${words}`),
    () => extend(`${chance.pick(parameterNames)}=${words}&a=${words}`),
    () => ({ path, headers: { [chance.pick(headerNames)]: words } }),
  ];
  return chance.pick(requests)();
}
