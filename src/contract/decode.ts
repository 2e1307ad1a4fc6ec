/**
 * Request decoder: turns a raw query string and path parameters into the typed, validated values of an operation. The parameter's schema
 * in the document decides how a value is split, parsed and validated.
 */
import { isUtf8 } from "node:buffer";
import type { ErrorObject } from "ajv";
import { isObject, ownValue, parsedJson, quotedNumbers, repeatedName } from "../base/json.ts";
import { normalizeText } from "../base/text.ts";
import { printable } from "../base/user-error.ts";
import { type Operation, operation, type Parameter, type Schema } from "./document.ts";
import { type Refusal, refuse } from "./errors.ts";
import { validators } from "./generated/parameters.gen.js";
import { splitList } from "./lists.ts";
import { type ParameterTexts, parseQuery, quoted } from "./query-string.ts";
import type { Validator } from "./schema.ts";
import { meantWord, parameterNames } from "./synonyms.ts";
import type { BodyOf, OperationId, PathOf, QueryOf, RequestOf } from "./types.ts";

/** Decodes the parameters of an operation. Throws a Refusal for the first unknown, malformed, missing or invalid one. */
type Decode<Id extends OperationId> = (queryString: string, path: Readonly<Record<string, string>>) => RequestOf<Id>;

const decoders: { [Id in OperationId]?: Decode<Id> } = {};

export function decoderOf<Id extends OperationId>(id: Id): Decode<Id> {
  const known: Decode<Id> | undefined = decoders[id];
  if (known !== undefined) return known;
  const decoder = createOperationDecoder(id);
  Object.assign(decoders, { [id]: decoder });
  return decoder;
}

function createOperationDecoder<Id extends OperationId>(id: Id): Decode<Id> {
  const definition = operation(id);
  const decodeQuery = createDecoder<QueryOf<Id>>(definition, "query");
  const decodePath = createDecoder<PathOf<Id>>(definition, "path");
  const names = definition.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
  const checkName = nameCheckerOf(names);
  return (queryString, path) => ({
    query: decodeQuery(parseQuery(queryString, checkName)),
    path: decodePath(new Map(Object.entries(path).map(([name, text]) => [name, [text]]))),
  });
}

interface ValidatedParameter {
  readonly parameter: Parameter;
  readonly validate: Validator;
}

/** Returns a function that refuses names other than the given ones. */
function nameCheckerOf(names: readonly string[]): (name: string) => void {
  const known = new Set(names);
  return (parameter) => {
    if (!known.has(parameter)) throw unknownParameter(parameter, names);
  };
}

/** Returns the refusal of a name that is none of the given ones. */
export const unknownParameter = (parameter: string, names: readonly string[]): Refusal =>
  refuse("unknown_query_parameter", {
    parameter: printable(parameter),
    hint: suggestion(parameterNames, parameter, names),
  });

/** Returns the decoder of the query or path parameters of an operation: values by name in the order of the document, defaults filled in. */
function createDecoder<T>(definition: Operation, location: Parameter["in"]): (texts: ParameterTexts) => T {
  const validated = withValidators(definition, location);
  return (texts) => {
    const values: Record<string, unknown> = {};
    for (const { parameter } of validated) {
      const { name, schema } = parameter;
      const repeated = texts.get(name);
      if (repeated !== undefined && !namesDefault(parameter, repeated)) values[name] = parseValue(parameter, repeated);
      else if (schema.default !== undefined) values[name] = structuredClone(schema.default);
    }
    refuseInvalid(validated, values);
    return values as T;
  };
}

const namesDefault = ({ "x-default-name": name }: Parameter, [text, ...others]: readonly string[]): boolean =>
  name !== undefined && others.length === 0 && text?.toLowerCase() === name;

function withValidators({ id, parameters }: Operation, location: Parameter["in"]): readonly ValidatedParameter[] {
  return parameters
    .filter((parameter) => parameter.in === location)
    .map((parameter) => {
      const validate = validators[id][location][parameter.name];
      if (validate === undefined) throw new TypeError(`No validator for ${id} ${parameter.name}.`);
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

/** Returns " Did you mean ...?" if a word stands for a known one, else "". */
function suggestion(parameter: string, text: string, known: readonly string[] | undefined): string {
  const meant = meantWord(parameter, text, known);
  if (meant === undefined) return "";
  return ` Did you mean ${meant.word}?${meant.advice === "" ? "" : ` ${meant.advice}`}`;
}

/**
 * Parses a parameter into a scalar, or an array without duplicates: a repeated list is the list of all items. Refuses repeated scalars, empty
 * values of the query and empty list items. A blank part of the path is a value like others.
 */
function parseValue(parameter: Parameter, texts: readonly string[]): unknown {
  const { name, schema } = parameter;
  const { items } = schema;
  if (items === undefined && texts.length > 1)
    throw refuse("repeated_parameter", { parameter: name, times: texts.length });
  const values = items === undefined ? texts : texts.flatMap((text) => splitList(text, separatorOf(parameter)));
  if (parameter.in === "query" && values.some((value) => value.trim() === "")) {
    throw refuse("invalid_parameter_value", {
      parameter: name,
      value: quoted(texts.join(separatorOf(parameter))),
      allowed: items === undefined ? expectedBy(schema) : `${expectedBy(schema)}, without empty items`,
      hint: "",
    });
  }
  return items === undefined ? parseScalar(schema, values[0] ?? "") : parseList(schema, items, values);
}

function parseList({ minItems, maxItems }: Schema, items: Schema, texts: readonly string[]): readonly unknown[] {
  const values = texts.map((item) => parseScalar(items, item.trim()));
  const isTuple = minItems !== undefined && minItems === maxItems;
  return isTuple ? values : [...new Set(values)];
}

/** Returns what separates the items of a list within one parameter. */
export const separatorOf = ({ schema }: Pick<Parameter, "schema">): string => schema["x-separator"] ?? ",";

/** Parses one value. Malformed numbers stay text, which the validator refuses. Enum values match in any case. */
function parseScalar(schema: Schema, text: string): string | number | boolean {
  if (schema.type === "boolean") return booleans.get(text.toLowerCase()) ?? text;
  if (schema.type === "integer" || schema.type === "number") return parseNumber(schema.type, text);
  return schema["x-verbatim"] === true ? text : parseText(schema, normalizeText(text) || text);
}

/** Parses a text as ingest stores it; one of invisible characters only is itself. */
function parseText(schema: Schema, text: string): string {
  if (schema.enum !== undefined) return enumValueOf(schema, schema.enum, text);
  const stem = withoutSuffix(text, schema["x-optional-suffix"]);
  if (schema["x-case"] === "upper") return stem.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
  if (schema["x-case"] === "lower") return stem.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return stem;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/** Removes a suffix. A repeated one stays, for the validator to refuse. */
function withoutSuffix(text: string, suffix: string | undefined): string {
  if (suffix === undefined || !text.endsWith(suffix)) return text;
  const stem = text.slice(0, -suffix.length);
  return stem.endsWith(suffix) ? text : stem;
}

/** Decimal numbers as programming languages print them. The query string turns an unescaped `+` of an exponent into a space. */
const numberPattern = /^-?(\d+\.?\d*|\.\d+)(e[+ -]?\d+)?$/i;

/** Returns the number that a text stands for; the text itself if it is not a finite number, or not a whole one of at most 2^53. */
function parseNumber(type: "integer" | "number", text: string): string | number {
  if (!numberPattern.test(text)) return text;
  const number = Number(text.replace(" ", "+"));
  const isRepresented = type === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
  // Adding 0 turns -0 into 0.
  return isRepresented ? number + 0 : text;
}

/** Returns the enum value that a text stands for in any case, or as an alias; a text without one is returned unchanged. */
function enumValueOf(schema: Schema, known: readonly string[], text: string): string {
  const word = text.toLowerCase();
  return ownValue(schema["x-aliases"], word) ?? known.find((value) => value.toLowerCase() === word) ?? text;
}

/** Returns the refusal of a value, or of the list item that the validator's error points to. A malformed identifier is not found. */
function invalidValue({ name, schema, ...parameter }: Parameter, value: unknown, error?: ErrorObject): Refusal {
  const { "x-resource": what } = parameter;
  if (what !== undefined) return refuse("not_found", { what, id: String(value) });
  const index = error?.instancePath.split("/")[1];
  const violated = index !== undefined && schema.items !== undefined ? schema.items : schema;
  const invalid: unknown = index !== undefined && Array.isArray(value) ? value[Number(index)] : value;
  const hint =
    typeof invalid === "string"
      ? suggestion(name, invalid, violated.enum) + textHint(invalid, violated, error?.keyword)
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
  const rejected = [...new Set(text)].filter((character) => !matcher.test(character));
  return rejected.length === 0 ? "" : ` It contains ${rejected.join(" and ")}.`;
}

/** Describes what a schema accepts, as the end of the sentence "expected ...". */
export function expectedBy(schema: Schema): string {
  const { items, maxItems } = schema;
  if (schema["x-allowed"] !== undefined) return schema["x-allowed"];
  if (items !== undefined)
    return `${maxItems === undefined ? "a list" : `a list of at most ${maxItems} items`}, each ${expectedBy(items)}`;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer" || schema.type === "number") return `${numberKinds[schema.type]}${rangeOf(schema)}`;
  if (schema.type === "boolean") return [...booleans.keys()].join(" or ");
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
    const schema = ownValue(properties, name);
    if (schema === undefined) throw invalid("body", `property ${printable(name)}`, `only ${names.join(" and ")}`);
    if (validators[id].body[name]?.(value) !== true) throw invalid(name, quoted(value), expectedBy(schema));
  }
  return body as BodyOf<Id>;
}

/** Half of a surrogate pair, which JSON can escape and UTF-8 cannot hold. */
const halfCharacter = /\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]../i;

function objectIn(text: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  const expected = `a JSON object with ${names.join(" and ")}`;
  const value = parsedJson(text);
  if (!isObject(value)) throw invalid("body", quoted(text.slice(0, 80)), expected);
  const repeated = repeatedName(text);
  const [half] = halfCharacter.exec(text.replaceAll("\\\\", "")) ?? [];
  if (half !== undefined) throw invalid("body", `with ${half}`, "whole characters");
  if (repeated !== undefined) throw invalid("body", `with ${quoted(repeated)} twice`, "each name once in an object");
  return value;
}

/** Returns the text of a body, without a byte order mark. Refuses with `invalid_parameter_value` what is not UTF-8. */
export function decodedBody(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || isUtf8(bytes)) return bytes && new TextDecoder().decode(bytes);
  throw invalid("body", quoted(bytes.toString("utf8", 0, 80)), "text in UTF-8");
}

const invalid = (parameter: string, value: string, allowed: string): Refusal =>
  refuse("invalid_parameter_value", { parameter, value, allowed, hint: "" });

/** Returns the numbers in the object `property` of a body as its JSON text writes them, by name: a double holds neither all integers nor all exponents. */
export function numberTextsIn(text: string, property: string): ReadonlyMap<string, string> {
  const objectOf = (json: string): Record<string, unknown> => {
    const value = Object(parsedJson(json))[property];
    return isObject(value) ? value : {};
  };
  const numbers = objectOf(text);
  const texts = objectOf(quotedNumbers(text));
  return new Map(
    Object.entries(texts)
      .filter(([name]) => typeof numbers[name] === "number")
      .map(([name, number]) => [name, String(number)]),
  );
}
