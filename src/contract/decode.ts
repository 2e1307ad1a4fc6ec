/**
 * From a raw request to the typed, validated values of an operation: how a value is split and read follows from the
 * parameter's schema and style, what it may be from the schema's keywords.
 */
import type { ErrorObject } from "ajv";
import { closest, distance } from "fastest-levenshtein";
import type { Operation, Parameter, Schema } from "./document.ts";
import { operation } from "./document.ts";
import { type Refusal, refuse } from "./errors.ts";
import { validators } from "./generated/parameters.gen.js";
import { type GivenParameter, quoted, readQuery } from "./query-string.ts";
import type { Validator } from "./schema.ts";
import type { OperationId, PathOf, QueryOf, RequestOf } from "./types.ts";

/** Gives the decoder of an operation: raw query string and path parameters in, typed request out; else it refuses. */
export function decoderOf<Id extends OperationId>(
  id: Id,
): (queryString: string, path: Readonly<Record<string, string>>) => RequestOf<Id> {
  const described = operation(id);
  const readQueryOf = partDecoder<QueryOf<Id>>(described, "query");
  const readPathOf = partDecoder<PathOf<Id>>(described, "path");
  return (queryString, path) => ({
    query: readQueryOf(readQuery(queryString)),
    path: readPathOf(new Map(Object.entries(path).map(([name, text]) => [name, { raw: text, text }]))),
  });
}

/** A parameter with the validator that is generated from its schema. */
interface Checked {
  readonly parameter: Parameter;
  readonly validate: Validator;
}

/** The decoder of an operation's query or path: values by parameter, with the defaults of those not given. */
function partDecoder<T>(
  described: Operation,
  part: Parameter["in"],
): (given: ReadonlyMap<string, GivenParameter>) => T {
  const checked = checkedOf(described, part);
  const byName = new Map(checked.map(({ parameter }) => [parameter.name, parameter]));
  const defaults = checked.filter(({ parameter }) => parameter.schema.default !== undefined);
  return (given) => {
    const values: Record<string, unknown> = Object.fromEntries(
      [...given].map(([name, value]) => {
        const parameter = byName.get(name);
        if (parameter === undefined) throw unknownParameter(name, [...byName.keys()]);
        return [name, readValue(parameter, value)];
      }),
    );
    refuseInvalid(checked, values);
    for (const { parameter } of defaults) values[parameter.name] ??= structuredClone(parameter.schema.default);
    return values as T;
  };
}

function checkedOf({ id, parameters }: Operation, part: Parameter["in"]): readonly Checked[] {
  return parameters
    .filter((parameter) => parameter.in === part)
    .map((parameter) => {
      const validate = validators[id][part][parameter.name];
      if (validate === undefined) throw new TypeError(`No validator of ${id} ${parameter.name}: npm run generate.`);
      return { parameter, validate };
    });
}

/** Refuses the first required parameter that is missing, else the first invalid one, in the order of the document. */
function refuseInvalid(checked: readonly Checked[], values: Readonly<Record<string, unknown>>): void {
  for (const { parameter } of checked) {
    const { name, required, schema } = parameter;
    if (required && values[name] === undefined)
      throw refuse("missing_parameter", { parameter: name, allowed: allowed(schema) });
  }
  for (const { parameter, validate } of checked) {
    const value = values[parameter.name];
    if (value !== undefined && !validate(value)) throw invalid(parameter, value, validate.errors?.[0]);
  }
}

function unknownParameter(parameter: string, known: readonly string[]): Refusal {
  return refuse("unknown_query_parameter", { parameter, hint: didYouMean(parameter, known) });
}

/** A near miss of a known word, as the end of a message. */
function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0) return "";
  const nearest = closest(word.toLowerCase(), [...known]);
  return distance(word.toLowerCase(), nearest) <= Math.max(1, Math.floor(nearest.length / 3))
    ? ` Did you mean ${nearest}?`
    : "";
}

/** A parameter's value as its schema has it: a list of items, or one. Refuses empty values and empty items. */
function readValue(parameter: Parameter, given: GivenParameter): unknown {
  const { name, schema } = parameter;
  const { items } = schema;
  const texts = items === undefined ? [given.text] : itemsIn(given, separatorOf(parameter));
  if (texts.some((text) => text.trim() === "")) {
    throw refuse("invalid_parameter_value", {
      parameter: name,
      value: quoted(given.text),
      allowed: `${allowed(schema)}, and nothing empty`,
      hint: "",
    });
  }
  if (items === undefined) return scalar(schema, given.text);
  const values = texts.map((text) => scalar(items, text.trim()));
  const isTuple = schema.minItems !== undefined && schema.minItems === schema.maxItems;
  return isTuple ? values : [...new Set(values)];
}

/**
 * The items of a list. A form writes a blank as `+`, so a list separated by `+` stays one item, as it was sent, unless a `+` that
 * stands for itself (`%2B`) separates.
 */
function itemsIn({ raw, text }: GivenParameter, separator: string): readonly string[] {
  if (separator !== "+" || /%2b/i.test(raw)) return text.split(separator);
  const parts = raw.split("+").map(decodeURIComponent);
  return parts.some((part) => part.trim() === "") ? parts : [parts.join("+")];
}

const separators: Readonly<Record<string, string>> = { form: ",", pipeDelimited: "|", spaceDelimited: " " };

function separatorOf({ schema, style }: Parameter): string {
  return schema["x-separator"] ?? separators[style ?? "form"] ?? ",";
}

/** One value; what is no number stays a text, which the check then refuses. Closed vocabularies take any case. */
function scalar(schema: Schema, text: string): string | number {
  if (schema.type === "integer" && /^\d{1,15}$/.test(text)) return Number(text);
  if (schema.type === "number" && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (schema["x-case"] === "upper") return text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
  if (schema["x-case"] === "lower") return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (schema.enum === undefined) return text;
  const word = text.toLowerCase();
  return schema["x-aliases"]?.[word] ?? word;
}

/** What is wrong, in words that name the parameter, the value and what is allowed. */
function invalid({ name, schema }: Parameter, given: unknown, error: ErrorObject | undefined): Refusal {
  const index = error?.instancePath.split("/")[1];
  const broken = index !== undefined && schema.items !== undefined ? schema.items : schema;
  const found: unknown = index !== undefined && Array.isArray(given) ? given[Number(index)] : given;
  const known = broken.enum ?? [];
  const hint = typeof found === "string" ? didYouMean(found, known) + reason(found, broken, error?.keyword) : "";
  const value = Array.isArray(found) ? `a list of ${found.length}` : quoted(found);
  return refuse("invalid_parameter_value", { parameter: name, value, allowed: allowed(broken), hint });
}

/** What exactly is wrong with a text, as the end of a message, where its length or single characters of it are. */
function reason(text: string, { pattern = "" }: Schema, keyword: string | undefined): string {
  if (keyword === "minLength" || keyword === "maxLength") return ` It has ${[...text].length} characters.`;
  const allowedOnes = new RegExp(pattern, "u");
  if (keyword !== "pattern" || !allowedOnes.test("")) return "";
  return ` It contains ${[...new Set(text)].filter((character) => !allowedOnes.test(character)).join(" and ")}.`;
}

/** What a schema allows, as the end of the sentence "allowed is ...". */
function allowed(schema: Schema): string {
  const { items, maxItems } = schema;
  if (schema["x-allowed"] !== undefined) return schema["x-allowed"];
  if (items !== undefined)
    return `${maxItems === undefined ? "a list" : `a list of at most ${maxItems}`}, each ${allowed(items)}`;
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer" || schema.type === "number") return `${kinds[schema.type]}${bounds(schema)}`;
  if (schema.format !== undefined) return formats[schema.format] ?? schema.format;
  return schema.maxLength === undefined ? "a text" : `a text of 1 to ${schema.maxLength} characters`;
}

const kinds = { integer: "a whole number", number: "a number" } as const;

const formats: Readonly<Record<string, string>> = { uuid: "a UUID", date: "a date YYYY-MM-DD" };

function bounds({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const least = minimum ?? exclusiveMinimum;
  if (least === undefined || maximum === undefined) return "";
  return exclusiveMinimum === undefined ? ` from ${least} to ${maximum}` : ` above ${least}, at most ${maximum}`;
}
