/** Query string parser: percent-decoding, repeated parameters, and which names may hold secrets. It knows no operation. */
import { refuse } from "./errors.ts";

/** A parameter's value, before and after form decoding (`+` is a space). */
export interface RawParameter {
  readonly raw: string;
  readonly text: string;
}

/** Parameter names under which clients send API keys by mistake. */
const keyNames = new Set(["api_key", "apikey", "key", "access_token"]);

/** Words in parameter names whose values are kept out of the log. */
const secretWords = /key|token|secret|auth|bearer|passw/i;

/** Returns whether a parameter of this name is refused as an API key. */
export const isKeyName = (name: string): boolean => keyNames.has(name.toLowerCase());

/** Returns whether the value of a parameter of this name may be a secret. */
export const isSecretName = (name: string): boolean =>
  secretWords.test(name) && name !== "keywords" && name !== "exclude_keywords";

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

/** Returns the parameters of a query string by name. Refuses malformed percent-encoding and repeated parameters. */
export function parseQuery(queryString: string): ReadonlyMap<string, RawParameter> {
  const parameters = new Map<string, RawParameter>();
  const counts = new Map<string, number>();
  for (const [rawName, raw] of splitQuery(queryString)) {
    const name = decode(rawName, rawName);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    parameters.set(name, { raw, text: decode(name, raw) });
  }
  for (const [parameter, times] of counts) {
    if (times > 1) throw refuse("repeated_parameter", { parameter, times });
  }
  return parameters;
}

function decode(parameter: string, raw: string): string {
  try {
    return decodeURIComponent(raw.replaceAll("+", "%20"));
  } catch {
    throw refuse("invalid_parameter_value", {
      parameter,
      value: quoted(raw),
      allowed: "percent-encoded UTF-8",
      hint: "",
    });
  }
}

/** Returns a value as JSON for a message, cut to 101 characters. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…"`;
}
