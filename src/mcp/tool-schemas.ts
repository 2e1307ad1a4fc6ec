/** The schemas of a tool, derived from the parameters and the response of its operation in the document. */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";
import { document, operation, type Parameter } from "../contract/document.ts";
import { type ResponseSchema, resolveIn } from "../contract/operations.ts";
import { type AnyTool, operationsOf } from "./tools.ts";

type ObjectSchema = {
  type: "object";
  properties: Record<string, JSONObject>;
  required: string[];
};

function parameterOf(tool: AnyTool, name: string): Parameter {
  const found = parametersOf(tool).find((parameter) => parameter.name === name);
  if (found === undefined)
    throw new TypeError(`Tool ${tool.name} has no parameter ${name}: expected one of the document.`);
  return found;
}

/** Returns the parameters of the operations of a tool, each once. */
export function parametersOf(tool: AnyTool): readonly Parameter[] {
  const all = operationsOf(tool).flatMap((id) => operation(id).parameters);
  return all.filter(({ name }, index) => all.findIndex((other) => other.name === name) === index);
}

/** Tools only read. Hints about writes have no meaning for them. */
export const annotations = { readOnlyHint: true, openWorldHint: false } as const;

/** The arguments of the tools themselves, by name. */
const ownSchemas: Readonly<Record<string, JSONObject>> = {
  filters: {
    type: "string",
    description:
      "Further filters as a query string, such as `exclude_make=Ford&min_msrp=30000&seating_capacity=7`. " +
      "`describe_parameters` lists them; most attributes have an `exclude_` filter.",
  },
  detail: { type: "string", enum: ["full"], description: "`full` allows answers of twice the size." },
};

export function inputSchemaOf(tool: AnyTool): ObjectSchema {
  const { id, parameters, described, defaults, reports } = tool;
  const properties = parameters.map((name): readonly [string, JSONObject] => {
    const isDescribed = described.includes(name);
    const own = name === "report" ? { type: "string", enum: Object.keys(reports) } : ownSchemas[name];
    if (own !== undefined) return [name, isDescribed ? own : withoutDescription(own)];
    return [name, schemaOf(parameterOf(tool, name), isDescribed, defaults[name])];
  });
  const required = operation(id).parameters.filter(
    (parameter) => parameter.required && defaults[parameter.name] === undefined,
  );
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => name),
  };
}

const withoutDescription = ({ description: _, ...schema }: JSONObject): JSONObject => schema;

function schemaOf(
  { description = "", schema }: Parameter,
  isDescribed: boolean,
  usual: JSONValue | undefined,
): JSONObject {
  const kept = argumentSchema(copyOf(schema), isDescribed);
  const value = usual ?? kept.default;
  const sentence = isDescribed ? adviceOf(description) : "";
  return {
    ...(sentence === "" ? {} : { description: sentence }),
    ...kept,
    ...(value === undefined ? {} : { default: value }),
  };
}

/** The keywords that an agent needs; other limits are left to the operation, whose errors state them. */
const argumentKeywords = new Set(["type", "enum", "default"]);

/** A longer list of values is in the schema of one tool only; one that is longer still, in none. */
const repeatedValuesMax = 4;
const valuesMax = 40;

function argumentSchema(schema: JSONObject, isDescribed: boolean): JSONObject {
  const { items, ...resolved } = resolveIn<JSONObject>(document, schema);
  const shown = isDescribed ? valuesMax : repeatedValuesMax;
  const kept = Object.entries(resolved).filter(
    ([keyword, value]) => argumentKeywords.has(keyword) && !(Array.isArray(value) && value.length > shown),
  );
  return { ...Object.fromEntries(kept), ...(isSchema(items) ? { items: argumentSchema(items, isDescribed) } : {}) };
}

const isSchema = (value: JSONValue | undefined): value is JSONObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const copyOf = (part: object): JSONObject => JSON.parse(JSON.stringify(part));

/** Sentences that the name of a parameter says already, or about URLs, which agents do not write. */
const needless =
  /^Only return listings (with|of) (one of these|at (least|most) this)|^The sort order\.$| are excluded\.$|case-insensitive|Separate the values|%2B|^See |Accepts names and slugs/i;

/** Returns the first sentence of a description that an agent needs; empty if none is. */
const adviceOf = (description: string): string =>
  description
    .split(/(?<=\.) /)
    .find((sentence) => !needless.test(sentence) && !/ facet to list the values/.test(sentence))
    ?.replaceAll(", in any case", "") ?? "";

/** Returns the schema of a tool's structured content: the body of its operation's response, and a note where it was shortened. */
export function outputSchemaOf(tool: AnyTool): JSONObject {
  const bodies = operationsOf(tool).map((id) => resolveIn<ResponseSchema>(document, operation(id).body));
  const typeIn = ({ properties = {} }: ResponseSchema, name: string): string | undefined => {
    const schema = properties[name];
    return schema && String(resolveIn<ResponseSchema>(document, schema).type);
  };
  const types = Object.keys(bodies[0]?.properties ?? {}).map((name): readonly [string, JSONObject] => {
    const [type = "", ...others] = new Set(bodies.flatMap((body) => typeIn(body, name) ?? []));
    return [name, others.length === 0 ? { type } : {}];
  });
  const required = (bodies[0]?.required ?? []).filter((name) => bodies.every((body) => body.required?.includes(name)));
  return { type: "object", properties: { ...Object.fromEntries(types), note: { type: "string" } }, required };
}
