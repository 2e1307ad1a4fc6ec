/** A raw query string as parameters: decoded once, each given once, none empty. */
import { refuse } from "./errors.ts";

/** A parameter's value as it was sent, and decoded as a form is (`+` is a blank). */
export interface GivenParameter {
  readonly raw: string;
  readonly text: string;
}

/** Names under which people send keys by mistake. */
const keyNames = new Set(["api_key", "apikey", "key", "access_token"]);

/** Words in names whose values are not for a log, whatever they turn out to be. */
const secretWords = /key|token|secret|auth|bearer|passw/i;

/** Whether a parameter's name says that its value is a key. */
export const isKeyName = (name: string): boolean => keyNames.has(name.toLowerCase());

/** Whether the value of a parameter may be a secret. */
export const isSecretName = (name: string): boolean =>
  secretWords.test(name) && name !== "keywords" && name !== "exclude_keywords";

/** The names and the raw values in a query string, in their order; nothing is judged. */
export function pairsIn(queryString: string): readonly (readonly [name: string, raw: string])[] {
  return queryString
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    });
}

/** The parameters of a query string by name. Refuses what cannot be decoded, is empty, or is given more than once. */
export function readQuery(queryString: string): ReadonlyMap<string, GivenParameter> {
  const given = new Map<string, GivenParameter>();
  const times = new Map<string, number>();
  for (const [rawName, raw] of pairsIn(queryString)) {
    const name = decoded(rawName, rawName);
    times.set(name, (times.get(name) ?? 0) + 1);
    given.set(name, { raw, text: decoded(name, raw) });
  }
  for (const [parameter, count] of times) {
    if (count > 1)
      throw refuse("repeated_parameter", {
        parameter,
        times: count,
        how: ", several values separated by commas where it takes a list",
      });
  }
  return given;
}

function decoded(parameter: string, raw: string): string {
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

/** A value as messages show it: in quotes, and cut where it is long. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 99)}…"`;
}
