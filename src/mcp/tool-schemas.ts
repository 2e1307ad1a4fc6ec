/** The schemas of a tool, derived from the parameters and the response of its operation in the document. */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";
import { document, type Operation, operation, type Parameter } from "../contract/document.ts";
import { resolveIn } from "../contract/operations.ts";
import type { Tool } from "./tools.ts";

type ObjectSchema = {
  type: "object";
  properties: Record<string, JSONObject>;
  required: string[];
};

function parameterOf({ id, parameters }: Operation, name: string): Parameter {
  const found = parameters.find((parameter) => parameter.name === name);
  if (found === undefined)
    throw new TypeError(`Operation ${id} has no parameter ${name}: expected one of the document.`);
  return found;
}

export function inputSchemaOf({ id, parameters, described, defaults }: Tool): ObjectSchema {
  const definition = operation(id);
  const offered = parameters.map((name) => parameterOf(definition, name));
  const properties = offered.map((parameter): readonly [string, JSONObject] => {
    const { name, description = "" } = parameter;
    const isDescribed = described.includes(name);
    const schema = argumentSchema(copyOf(parameter.schema), isDescribed);
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
const argumentKeywords = new Set(["type", "enum", "minimum", "maximum", "default"]);

/** The maximum of most integer parameters, which is left out of schemas. */
const integerMax = 2 ** 31 - 1;

/** A longer list of values is in the schema of one tool only. */
const repeatedValuesMax = 10;

function argumentSchema(schema: JSONObject, isDescribed: boolean): JSONObject {
  const { items, ...resolved } = resolveIn<JSONObject>(document, schema);
  const isSaid = (keyword: string, value: JSONValue): boolean =>
    argumentKeywords.has(keyword) && value !== integerMax && (keyword !== "enum" || isDescribed || !isLong(value));
  const kept = Object.entries(resolved).filter(([keyword, value]) => isSaid(keyword, value));
  return { ...Object.fromEntries(kept), ...(isSchema(items) ? { items: argumentSchema(items, isDescribed) } : {}) };
}

const isLong = (values: JSONValue): boolean => Array.isArray(values) && values.length > repeatedValuesMax;

const isSchema = (value: JSONValue | undefined): value is JSONObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const copyOf = (part: object): JSONObject => JSON.parse(JSON.stringify(part));

/** Returns a description without sentences about URLs, which agents do not write. */
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

/** The keywords of a result's structure. The document states the range of its values. */
const structure = new Set(["type", "properties", "required", "items", "additionalProperties", "oneOf"]);

/** Returns the schema of a tool's structured content: the body of its operation's response, and a note where it was shortened. */
export function outputSchemaOf({ id }: Tool): JSONObject {
  const body = structureOf(copyOf(operation(id).body));
  const properties = isSchema(body.properties) ? body.properties : {};
  return { ...body, properties: { ...properties, note: { type: "string" } } };
}

/** Copies the structure of a schema, with its references resolved. */
function structureOf(schema: JSONObject): JSONObject {
  if (typeof schema.$ref === "string") return structureOf(resolveIn<JSONObject>(document, { $ref: schema.$ref }));
  const kept = Object.entries(schema).filter(([keyword]) => structure.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, keyword === "properties" ? propertiesOf(value) : partOf(value)]),
  );
}

const propertiesOf = (properties: JSONValue): JSONValue =>
  isSchema(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, partOf(value)]))
    : properties;

const partOf = (value: JSONValue): JSONValue => {
  if (Array.isArray(value)) return value.map(partOf);
  return isSchema(value) ? structureOf(value) : value;
};
