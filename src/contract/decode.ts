/**
 * Request decoder: turns a raw query string and path parameters into the typed, validated values of an operation. How a value is
 * split and parsed follows from the parameter's schema and style in the document; what it may be, from the schema's keywords.
 */
import type { ErrorObject } from "ajv";
import { closest, distance } from "fastest-levenshtein";
import type { Operation, Parameter, Schema } from "./document.ts";
import { operation } from "./document.ts";
import { type Refusal, refuse } from "./errors.ts";
import { validators } from "./generated/parameters.gen.js";
import { parseQuery, quoted, type RawParameter } from "./query-string.ts";
import type { Validator } from "./schema.ts";
import type { OperationId, PathOf, QueryOf, RequestOf } from "./types.ts";

/** Returns the decoder of an operation. It throws a Refusal for the first unknown, malformed, missing or invalid parameter. */
export function decoderOf<Id extends OperationId>(
  id: Id,
): (queryString: string, path: Readonly<Record<string, string>>) => RequestOf<Id> {
  const definition = operation(id);
  const decodeQuery = createDecoder<QueryOf<Id>>(definition, "query");
  const decodePath = createDecoder<PathOf<Id>>(definition, "path");
  return (queryString, path) => ({
    query: decodeQuery(parseQuery(queryString)),
    path: decodePath(new Map(Object.entries(path).map(([name, text]) => [name, { raw: text, text }]))),
  });
}

interface ValidatedParameter {
  readonly parameter: Parameter;
  readonly validate: Validator;
}

/** Returns the decoder of the query or path parameters of an operation: values by name, defaults filled in. */
function createDecoder<T>(
  definition: Operation,
  location: Parameter["in"],
): (raw: ReadonlyMap<string, RawParameter>) => T {
  const validated = withValidators(definition, location);
  const byName = new Map(validated.map(({ parameter }) => [parameter.name, parameter]));
  const withDefault = validated.filter(({ parameter }) => parameter.schema.default !== undefined);
  return (raw) => {
    const values: Record<string, unknown> = Object.fromEntries(
      [...raw].map(([name, value]) => {
        const parameter = byName.get(name);
        if (parameter === undefined) throw unknownParameter(name, [...byName.keys()]);
        return [name, parseValue(parameter, value)];
      }),
    );
    refuseInvalid(validated, values);
    for (const { parameter } of withDefault) values[parameter.name] ??= structuredClone(parameter.schema.default);
    return values as T;
  };
}

function withValidators({ id, parameters }: Operation, location: Parameter["in"]): readonly ValidatedParameter[] {
  return parameters
    .filter((parameter) => parameter.in === location)
    .map((parameter) => {
      const validate = validators[id][location][parameter.name];
      if (validate === undefined)
        throw new TypeError(`No validator for ${id} ${parameter.name}: run \`npm run generate\`.`);
      return { parameter, validate };
    });
}

/** Refuses the first missing required parameter, else the first invalid one, in the order of the document. */
function refuseInvalid(validated: readonly ValidatedParameter[], values: Readonly<Record<string, unknown>>): void {
  for (const { parameter } of validated) {
    const { name, required, schema } = parameter;
    if (required && values[name] === undefined)
      throw refuse("missing_parameter", { parameter: name, allowed: expectedBy(schema) });
  }
  for (const { parameter, validate } of validated) {
    const value = values[parameter.name];
    if (value !== undefined && !validate(value)) throw invalidValue(parameter, value, validate.errors?.[0]);
  }
}

function unknownParameter(parameter: string, known: readonly string[]): Refusal {
  return refuse("unknown_query_parameter", { parameter, hint: suggestion(parameter, known) });
}

/** Returns " Did you mean ...?" if a known word differs in at most a third of its letters, else "". */
function suggestion(word: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const nearest = closest(word.toLowerCase(), [...known]);
  return distance(word.toLowerCase(), nearest) <= Math.max(1, Math.floor(nearest.length / 3))
    ? ` Did you mean ${nearest}?`
    : "";
}

/** Parses a parameter into a scalar, or an array without duplicates. Refuses empty values and empty list items. */
function parseValue(parameter: Parameter, raw: RawParameter): unknown {
  const { name, schema } = parameter;
  const { items } = schema;
  const texts = items === undefined ? [raw.text] : splitItems(raw, separatorOf(parameter));
  if (texts.some((text) => text.trim() === "")) {
    throw refuse("invalid_parameter_value", {
      parameter: name,
      value: quoted(raw.text),
      allowed: items === undefined ? expectedBy(schema) : `${expectedBy(schema)}, without empty items`,
      hint: "",
    });
  }
  if (items === undefined) return parseScalar(schema, raw.text);
  const values = texts.map((text) => parseScalar(items, text.trim()));
  const isTuple = schema.minItems !== undefined && schema.minItems === schema.maxItems;
  return isTuple ? values : [...new Set(values)];
}

/**
 * Splits a list. The separator `+` is ambiguous, because forms encode a space as `+`: if the raw value contains `%2B`, that separates
 * and `+` is a space; otherwise the list stays one item with its `+`, for the filter to resolve.
 */
function splitItems({ raw, text }: RawParameter, separator: string): readonly string[] {
  if (separator !== "+" || /%2b/i.test(raw)) return text.split(separator);
  const parts = raw.split("+").map(decodeURIComponent);
  return parts.some((part) => part.trim() === "") ? parts : [parts.join("+")];
}

const separators: Readonly<Record<string, string>> = { form: ",", pipeDelimited: "|", spaceDelimited: " " };

function separatorOf({ schema, style }: Parameter): string {
  return schema["x-separator"] ?? separators[style ?? "form"] ?? ",";
}

/** Parses one value. Malformed numbers stay text, which the validator refuses. Enum values match in any case. */
function parseScalar(schema: Schema, text: string): string | number {
  if (schema.type === "integer" && /^\d{1,15}$/.test(text)) return Number(text);
  if (schema.type === "number" && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (schema["x-case"] === "upper") return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
  if (schema["x-case"] === "lower") return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (schema.enum === undefined) return text;
  const word = text.toLowerCase();
  return schema["x-aliases"]?.[word] ?? word;
}

/** Returns the refusal of a value, or of the list item that the validator's error points to. */
function invalidValue({ name, schema }: Parameter, value: unknown, error: ErrorObject | undefined): Refusal {
  const index = error?.instancePath.split("/")[1];
  const violated = index !== undefined && schema.items !== undefined ? schema.items : schema;
  const invalid: unknown = index !== undefined && Array.isArray(value) ? value[Number(index)] : value;
  const hint =
    typeof invalid === "string"
      ? suggestion(invalid, violated.enum ?? []) + textHint(invalid, violated, error?.keyword)
      : "";
  return refuse("invalid_parameter_value", {
    parameter: name,
    value: Array.isArray(invalid) ? `(${invalid.length} items)` : quoted(invalid),
    allowed: expectedBy(violated),
    hint,
  });
}

/** Returns the length of a text, or the characters that a one-character pattern rejects, as a further sentence of a message. */
function textHint(text: string, { pattern = "" }: Schema, keyword: string | undefined): string {
  if (keyword === "minLength" || keyword === "maxLength") return ` It has ${[...text].length} characters.`;
  const matcher = new RegExp(pattern, "u");
  if (keyword !== "pattern" || !matcher.test("")) return "";
  return ` It contains ${[...new Set(text)].filter((character) => !matcher.test(character)).join(" and ")}.`;
}

/** Describes what a schema accepts, as the end of the sentence "expected ...". */
function expectedBy(schema: Schema): string {
  const { items, maxItems } = schema;
  if (schema["x-allowed"] !== undefined) return schema["x-allowed"];
  if (items !== undefined)
    return `${maxItems === undefined ? "a list" : `a list of at most ${maxItems} items`}, each ${expectedBy(items)}`;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer" || schema.type === "number") return `${numberKinds[schema.type]}${rangeOf(schema)}`;
  if (schema.format !== undefined) return formats[schema.format] ?? schema.format;
  return schema.maxLength === undefined ? "text" : `text of 1 to ${schema.maxLength} characters`;
}

const numberKinds = { integer: "a whole number", number: "a number" } as const;

const formats: Readonly<Record<string, string>> = { uuid: "a UUID", date: "a date, YYYY-MM-DD" };

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const low = minimum ?? exclusiveMinimum;
  if (low === undefined || maximum === undefined) return "";
  return exclusiveMinimum === undefined ? ` from ${low} to ${maximum}` : ` above ${low}, at most ${maximum}`;
}
