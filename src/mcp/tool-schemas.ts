/** The schemas of a tool, derived from the parameters and the response of its operation in the document. */
import { document, type Operation, operation, type Parameter } from "../contract/document.ts";
import { resolveIn } from "../contract/operations.ts";
import type { Tool } from "./tools.ts";

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly [keyword: string]: unknown;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns a parameter of an operation. */
function parameterOf({ id, parameters }: Operation, name: string): Parameter {
  const found = parameters.find((parameter) => parameter.name === name);
  if (found === undefined)
    throw new TypeError(`Operation ${id} has no parameter ${name}: expected one of the document.`);
  return found;
}

/** Returns the schema of a tool's arguments. */
export function inputSchemaOf({ id, parameters, described, defaults }: Tool): ObjectSchema {
  const definition = operation(id);
  const offered = parameters.map((name) => parameterOf(definition, name));
  const properties = offered.map((parameter): readonly [string, JsonSchema] => {
    const { name, description = "" } = parameter;
    const isDescribed = described.includes(name);
    const schema = argumentSchema(parameter.schema, isDescribed);
    const value = defaults[name] ?? schema.default;
    return [
      name,
      {
        ...(isDescribed ? { description: withoutAdvice(description) } : {}),
        ...schema,
        ...(value === undefined ? {} : { default: value }),
      },
    ];
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: offered.filter(({ required, name }) => required && defaults[name] === undefined).map(({ name }) => name),
  };
}

/** The keywords that an agent needs; limits of sizes are left to the operation, whose errors state them. */
const argumentKeywords = ["type", "enum", "minimum", "maximum", "default"] as const;

/** The greatest integer of most parameters, which says nothing. */
const integerMost = 2 ** 31 - 1;

/** A longer list of values is in the schema of one tool only. */
const repeatedValuesMost = 10;

function argumentSchema(schema: object, isDescribed: boolean): JsonSchema {
  const { items, ...resolved }: JsonSchema = resolveIn(document, schema);
  const isSaid = (keyword: string, value: unknown): boolean =>
    value !== undefined && value !== integerMost && (keyword !== "enum" || isDescribed || !isLong(value));
  const kept = argumentKeywords
    .map((keyword) => [keyword, resolved[keyword]] as const)
    .filter(([keyword, value]) => isSaid(keyword, value));
  return { ...Object.fromEntries(kept), ...(isSchema(items) ? { items: argumentSchema(items, isDescribed) } : {}) };
}

const isLong = (values: unknown): boolean => Array.isArray(values) && values.length > repeatedValuesMost;

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a description without sentences on how to write a URL, which an agent does not. */
const withoutAdvice = (description: string): string =>
  description
    .split(/(?<=\.) /)
    .filter(
      (sentence) =>
        !/case-insensitive|Separate the values|%2B|^See |Accepts names and slugs|unknown .* are excluded/i.test(
          sentence,
        ),
    )
    .join(" ")
    .replaceAll(", in any case", "");

/** The keywords that say what a result consists of; what its values can be, the document says. */
const structure = new Set(["type", "properties", "required", "items", "additionalProperties", "oneOf"]);

/** Returns the schema of a tool's structured content: the body of its operation's response, and a note where it was shortened. */
export function outputSchemaOf({ id }: Tool): ObjectSchema {
  const body = inline(operation(id).body) as ObjectSchema;
  return { ...body, properties: { ...body.properties, note: { type: "string" } } };
}

/** Copies the structure of a schema, with its references resolved. */
function inline(schema: unknown, isProperties = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => inline(item));
  if (!isSchema(schema)) return schema;
  const { $ref } = schema;
  if (!isProperties && typeof $ref === "string") return inline(resolveIn<JsonSchema>(document, { $ref }));
  const kept = Object.entries(schema).filter(([keyword]) => isProperties || structure.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, inline(value, keyword === "properties" && !isProperties)]),
  );
}
