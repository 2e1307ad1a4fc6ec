/** Compares the outputs that the documentation shows with real ones. */
import { isObject } from "../../src/base/json.ts";

/** Stands for a text, or for the rest of a list, that the documentation leaves out. */
const ellipsis = "...";

/**
 * Returns where a shown JSON value differs from the real one; empty if it is an excerpt of it. An object may lack keys, a list may end
 * early, and `...` stands for any text. With `shape`, only the keys and the kinds of values are compared.
 */
export function differences(shown: unknown, real: unknown, compared: "values" | "shape", path = ""): readonly string[] {
  if (shown === ellipsis) return [];
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [`${path}: not a list`];
    return shown.flatMap((item, index) => differences(item, real[index], compared, `${path}[${index}]`));
  }
  if (isObject(shown)) {
    if (!isObject(real)) return [`${path}: not an object`];
    return Object.entries(shown).flatMap(([key, value]) =>
      key in real ? differences(value, real[key], compared, `${path}.${key}`) : [`${path}.${key}: not in the response`],
    );
  }
  if (compared === "shape") return typeof shown === typeof real || real === null ? [] : [`${path}: ${typeof real}`];
  return shown === real ? [] : [`${path}: ${JSON.stringify(shown)} is shown, ${JSON.stringify(real)} is real`];
}

/** Returns as many lines of a text as an excerpt shows; the whole text unless the excerpt ends with a line `...`. */
export function linesShown(excerpt: string, real: string): string {
  const lines = real
    .trim()
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
  const shown = excerpt.trim().split("\n");
  const cut = shown.at(-1) === ellipsis && lines.length >= shown.length ? shown.length - 1 : undefined;
  return cut === undefined ? lines.join("\n") : [...lines.slice(0, cut), ellipsis].join("\n");
}
