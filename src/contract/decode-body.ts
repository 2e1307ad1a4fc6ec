/** Decodes the JSON object that a request sends. The schema of the operation's body in the document decides what is valid. */
import { isObject } from "../base/json.ts";
import { printable } from "../base/user-error.ts";
import { expectedBy } from "./decode.ts";
import { operation } from "./document.ts";
import { type Refusal, refuse } from "./errors.ts";
import { validators } from "./generated/parameters.gen.js";
import { quoted } from "./query-string.ts";
import type { BodyOf, OperationId } from "./types.ts";

/** Returns the object that a text is; an empty one for an operation whose requests send none. Refuses with `invalid_parameter_value` or `missing_parameter` what the document does not allow. */
export function decodeBody<Id extends OperationId>(id: Id, text: string): BodyOf<Id> {
  const { requestBody } = operation(id);
  if (requestBody === undefined) return {} as BodyOf<Id>;
  const { properties, required = [] } = requestBody;
  const names = Object.keys(properties);
  const body = objectIn(text, names);
  const missing = required.find((name) => body[name] === undefined);
  if (missing !== undefined)
    throw refuse("missing_parameter", { parameter: missing, allowed: expectedBy(properties[missing] ?? {}) });
  for (const [name, value] of Object.entries(body)) {
    const schema = properties[name];
    if (schema === undefined) throw invalid("body", `property ${printable(name)}`, `only ${names.join(" and ")}`);
    if (validators[id].body[name]?.(value) !== true) throw invalid(name, quoted(value), expectedBy(schema));
  }
  return body as BodyOf<Id>;
}

function objectIn(text: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  const expected = `a JSON object with ${names.join(" and ")}`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("body", quoted(text.slice(0, 80)), expected);
  }
  if (isObject(value)) return value;
  throw invalid("body", quoted(text.slice(0, 80)), expected);
}

const invalid = (parameter: string, value: string, allowed: string): Refusal =>
  refuse("invalid_parameter_value", { parameter, value, allowed, hint: "" });
