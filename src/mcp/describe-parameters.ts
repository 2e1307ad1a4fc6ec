/** The tool that describes what a tool accepts beyond the parameters in its schema. It calls no operation and is free. */
import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import type { Parameter, Schema } from "../contract/document.ts";
import { type Refusal, refuse } from "../contract/errors.ts";
import { meantWord, parameterNames } from "../contract/synonyms.ts";
import { listArgument, otherNames } from "./call-request.ts";
import { annotations, parametersOf } from "./tool-schemas.ts";
import type { AnyTool } from "./tools.ts";

/** The tool as clients see it. */
export const describingTool: ToolListing = {
  name: "describe_parameters",
  title: "Describe all parameters of a tool",
  description:
    "Describes every parameter that a tool takes, also those that its schema leaves out and `filters` takes: exclusions, exact colors, " +
    "engines, options, seats, ranges, coordinates, VIN masks. Free.",
  inputSchema: {
    type: "object",
    properties: {
      tool: { type: "string" },
      names: { type: "array", description: "Only these parameters.", items: { type: "string" } },
    },
    required: ["tool"],
  },
  annotations,
};

/** Returns a line for each parameter of a tool. Throws a Refusal for an unknown tool. */
export function describeParameters(
  tools: readonly AnyTool[],
  { tool: name, names }: Readonly<Record<string, unknown>>,
): CallToolResult {
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) throw refusalOfName("tool", name, tools);
  const parameters = parametersOf(tool).filter(({ name }) => !otherNames.has(name));
  const chosen = [listArgument("names", names) ?? []].flat();
  const stranger = chosen.find((chosenName) => !parameters.some((parameter) => parameter.name === chosenName));
  if (stranger !== undefined) throw refusalOfName("names", stranger, parameters);
  const described = parameters.filter((parameter) => chosen.length === 0 || chosen.includes(parameter.name));
  return { content: [{ type: "text", text: described.map(lineOf).join("\n") }] };
}

function refusalOfName(parameter: string, value: unknown, known: readonly { readonly name: string }[]): Refusal {
  const names = known.map(({ name }) => name);
  const meant = meantWord(parameterNames, String(value), names);
  return refuse("invalid_parameter_value", {
    parameter,
    value: JSON.stringify(value) ?? "",
    allowed: `one of ${names.join(", ")}`,
    hint: meant === undefined ? "" : ` Did you mean ${meant.word}?`,
  });
}

function lineOf({ name, description = "", schema }: Parameter): string {
  const { items } = schema;
  const type = items === undefined ? typeOf(schema) : `list of ${typeOf(items)}`;
  return `${name} (${type}): ${description.replaceAll(/\s+/g, " ").trim()}`;
}

const typeOf = ({ type, enum: values }: Schema): string =>
  values === undefined || values.length > valuesMax ? String(type) : values.join(", ");

/** A longer list of values, such as that of states, is not repeated. */
const valuesMax = 50;
