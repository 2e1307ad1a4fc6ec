/** Query string parser: percent-decoding, repeated parameters, and names whose values may be secret. Independent of operations. */
import { refuse } from "./errors.ts";

/** Parameter names under which clients send API keys by mistake. */
const keyNames = new Set(["api_key", "apikey", "key", "access_token"]);

/** Words in parameter names whose values are kept out of the log. */
const secretWords = /key|token|secret|auth|bearer|passw/i;

/** Returns whether a parameter of this name is refused as an API key. */
export const isKeyName = (name: string): boolean => keyNames.has(name.toLowerCase());

/** Returns whether the value of a parameter of this name may be a secret. */
export const isSecretName = (name: string): boolean =>
  secretWords.test(name) && name !== "keywords" && name !== "exclude_keywords";

/** The texts of parameters by name: several if a parameter is repeated. */
export type ParameterTexts = ReadonlyMap<string, readonly string[]>;

/** Splits a query string into names and values, in order, without decoding or checking them. */
export function splitQuery(queryString: string): readonly (readonly [name: string, raw: string])[] {
  return queryString
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const equals = pair.indexOf("=");
      return equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
    });
}

/** Returns a decoded parameter name; a malformed one is returned unchanged. */
export function decodedName(rawName: string): string {
  try {
    return decodeForm(rawName);
  } catch {
    return rawName;
  }
}

/**
 * Returns the decoded values of a query string by name, in order. Calls `checkName` with every name first, so that unknown names are refused
 * before malformed percent-encoding.
 */
export function parseQuery(queryString: string, checkName: (name: string) => void): ParameterTexts {
  const pairs = splitQuery(queryString).map(([rawName, raw]) => [decodedName(rawName), raw] as const);
  for (const [name] of pairs) checkName(name);
  const texts = new Map<string, string[]>();
  for (const [name, raw] of pairs) {
    const text = decodeValue(name, raw);
    if (texts.get(name)?.push(text) === undefined) texts.set(name, [text]);
  }
  return texts;
}

function decodeValue(parameter: string, raw: string): string {
  try {
    return decodeForm(raw);
  } catch {
    const allowed = "percent-encoded UTF-8";
    throw refuse("invalid_parameter_value", { parameter, value: quoted(raw), allowed, hint: "" });
  }
}

/** Decodes a name or a value as forms encode it: `+` is a space. Throws a URIError if it is malformed. */
const decodeForm = (raw: string): string => decodeURIComponent(raw.replaceAll("+", "%20"));

/** Returns a value as JSON for a message, cut to 101 characters. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…"`;
}
