/**
 * The request of an operation that a tool call stands for, and the confirmation of an expensive one. A client that can ask its user gets the price as a
 * question (`input_required`), and repeats the call with the answer; nothing is charged before. The question is a service to the user, not a protection from
 * the client, so its answer is not signed.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isObject, parsedJson } from "../base/json.ts";
import { separatorOf } from "../contract/decode.ts";
import { operation, type Parameter } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import { joinList } from "../contract/lists.ts";
import { quoted } from "../contract/query-string.ts";
import { type AttributeName, attributeOf, attributes } from "../listing/schema.ts";
import { type OperationRequest, operationRequest, type TextParameters } from "../operations/caller.ts";
import type { AnyTool, Tool } from "./tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments of the tools themselves, and parameters of the transport, which tools do not have. */
export const otherNames: ReadonlySet<string> = new Set(["filters", "detail", "format", "csv_raw"]);

/**
 * Returns the request of a call; the operation decodes and refuses the arguments as it does those of a URL. Arguments that are null or an empty
 * list count as omitted. Refuses an argument that is in `filters` too, and a text that begins as an array and is none.
 */
export function requestOfCall(tool: Tool, values: Arguments): OperationRequest {
  const reports = new Map(Object.entries(tool.reports));
  const { report = null, ...rest } = values;
  const others = reports.size === 0 ? values : rest;
  const isUsual = report === null || reports.size === 0;
  const id = isUsual ? tool.id : reports.get(textOf(report));
  const allowed = `one of ${[...reports.keys()].join(", ")}`;
  if (id === undefined)
    throw refuse("invalid_parameter_value", { parameter: "report", value: quoted(textOf(report)), allowed, hint: "" });
  const { query, params } = parametersOfCall(isUsual ? tool : { ...tool, id, defaults: {} }, others);
  return operationRequest(id, query, params);
}

/** Returns what `read` returns. If it refuses the arguments, no operation counts the call against the rate limit, and `countUncalled` does. */
export async function countingRefusals<T>(countUncalled: (() => Promise<void>) | undefined, read: () => T): Promise<T> {
  try {
    return read();
  } catch (thrown) {
    await countUncalled?.();
    throw thrown;
  }
}

/** Returns the parameters of a call, in the query and in the path. */
export function parametersOfCall(
  { id, defaults }: AnyTool,
  values: Arguments,
): { readonly query: TextParameters; readonly params: TextParameters } {
  const parameters = new Map(operation(id).parameters.map((parameter) => [parameter.name, parameter]));
  const query: [string, string][] = [];
  const params: [string, string][] = [];
  const given = givenIn(values, parameters);
  const further = givenIn(furtherFilters(values.filters, parameters), parameters);
  for (const parameter of Object.keys(further))
    if (Object.hasOwn(given, parameter)) throw refuse("repeated_parameter", { parameter, times: 2 });
  const called = Object.entries({ ...defaults, ...given, ...further });
  for (const [name, value] of called) {
    const parameter = parameters.get(name);
    const isUsual = name === "fields" && value === defaults.fields;
    const list = isUsual && Array.isArray(value) ? [...value, ...called.flatMap(fieldsShowing)] : value;
    const text = Array.isArray(list) ? joinList(list.map(textOf), separatorIn(parameter)) : textOf(list);
    (parameter?.in === "path" ? params : query).push([name, text]);
  }
  return { query: Object.fromEntries(query), params: Object.fromEntries(params) };
}

/** The fields that show what a sort or a range is about. */
const fieldsByWord: ReadonlyMap<string, string> = new Map([
  ...(Object.keys(attributes) as AttributeName[]).flatMap((name) => {
    const { range, sort } = attributeOf(name);
    return [range, sort].flatMap((word): (readonly [string, string])[] => (word === undefined ? [] : [[word, name]]));
  }),
  ...["price_drop_percent", "value_rating"].map((name) => [name, name] as const),
]);

/** Returns the field of the number that a parameter sorts or filters by. */
function fieldsShowing([name, value]: readonly [name: string, value: unknown]): readonly string[] {
  const word = name === "sort" ? textOf(value).replace(/^-/, "").toLowerCase() : name.replace(/^m(in|ax)_/, "");
  const field = fieldsByWord.get(word);
  return field === undefined ? [] : [field];
}

type Parameters = ReadonlyMap<string, Parameter>;

const separatorIn = (parameter: Parameter | undefined): string =>
  parameter === undefined ? "," : separatorOf(parameter);

/** Returns the values of `filters`, a query string. Many agents send an object. */
function furtherFilters(filters: unknown, parameters: Parameters): Arguments {
  if (isObject(filters)) return filters;
  if (typeof filters !== "string") return {};
  const query = new URLSearchParams(filters);
  const textsOf = (name: string): string => query.getAll(name).join(separatorIn(parameters.get(name)));
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, textsOf(name)]));
}

function givenIn(values: Arguments, parameters: Parameters): Arguments {
  const isOmitted = (value: unknown): boolean =>
    value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  const read = Object.entries(values)
    .filter(([name]) => !otherNames.has(name))
    .map(([name, value]) => {
      const isList = parameters.get(name)?.schema.items !== undefined;
      return [name, isList ? listArgument(name, value) : value] as const;
    });
  return Object.fromEntries(read.filter(([, value]) => !isOmitted(value)));
}

/** Returns the array that an argument is, or is the JSON text of; another argument unchanged. Refuses a text that begins as an array and is none, and arrays in arrays. */
export function listArgument(parameter: string, value: unknown): unknown {
  const isText = typeof value === "string" && value.trimStart().startsWith("[");
  const list = isText ? parsedJson(value) : value;
  const isNested = Array.isArray(list) && list.some((item) => typeof item === "object");
  if (!isNested && (!isText || Array.isArray(list))) return list;
  const allowed = "a list of texts or numbers";
  throw refuse("invalid_parameter_value", {
    parameter,
    value: quoted(value),
    allowed,
    hint: ' Send an array, such as ["SUV"].',
  });
}

/** An object is no value of any parameter; its JSON text appears in the refusal. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A call of a higher price is confirmed: a search with `include`, and the export of more than 2,000 listings. */
const unconfirmedMicrosMax = 25_000;

/** Returns a price in US dollars. */
export const priceText = (micros: number): string => `$${(micros / 1_000_000).toFixed(6).replace(/0{1,3}$/, "")}`;

/** Returns the question about a price, or the result of a declined call; undefined if the call may be charged. */
export function confirmPrice(
  name: string,
  micros: number,
  context: ServerContext,
): InputRequiredResult | CallToolResult | undefined {
  if (micros <= unconfirmedMicrosMax || !canAskUser(context)) return undefined;
  // Names the price, so that the answer to another price does not count.
  const key = `pay_${micros}_micros`;
  const response = inputResponse(context.mcpReq.inputResponses, key);
  if (response.kind !== "elicit") {
    const message = `This call of ${name} costs ${priceText(micros)}. Accept to pay for it.`;
    const question = inputRequired.elicit({ message, requestedSchema: { type: "object", properties: {} } });
    return inputRequired({ inputRequests: { [key]: question } });
  }
  if (response.action === "accept") return undefined;
  const text = `Not called: the price of ${priceText(micros)} was not accepted. Nothing was charged.`;
  return { content: [{ type: "text", text }], isError: true };
}

/** Returns whether the client can show a form to its user. One that declares no mode can show forms. */
function canAskUser(context: ServerContext): boolean {
  const elicitation = declared(context).elicitation;
  return isObject(elicitation) && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Returns the settings of an extension of the protocol; undefined if the client does not support it. */
export function extensionOf(context: ServerContext, id: string): Record<string, unknown> | undefined {
  const { extensions } = declared(context);
  const settings = isObject(extensions) ? extensions[id] : undefined;
  return isObject(settings) ? settings : undefined;
}

function declared({ mcpReq }: ServerContext): Record<string, unknown> {
  const envelope: unknown = mcpReq.envelope;
  const capabilities = isObject(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined;
  return isObject(capabilities) ? capabilities : {};
}
