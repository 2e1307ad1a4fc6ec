/** The request of an operation that a tool call stands for. */
import { isObject } from "../base/json.ts";
import { separatorOf } from "../contract/decode.ts";
import { operation } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import { type OperationRequest, operationRequest, type TextParameters } from "../operations/operation-request.ts";
import type { AnyTool, Tool } from "./tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Arguments of the tools themselves, and parameters of the transport, which tools do not have. */
export const otherNames: ReadonlySet<string> = new Set(["filters", "detail", "format", "csv_raw"]);

/**
 * Returns the request of a call; the operation decodes and refuses the arguments as it does those of a URL. Arguments that are null or an empty
 * list count as omitted. Refuses an argument that is in `filters` too.
 */
export function requestOfCall(tool: Tool, values: Arguments): OperationRequest {
  const { query, params } = parametersOfCall(tool, values);
  return operationRequest(tool.id, query, params);
}

/** Returns what `read` returns. If it refuses the arguments, no operation counts the call against the rate limit, and `countUncalled` does. */
export function countingRefusals<T>(countUncalled: (() => void) | undefined, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    countUncalled?.();
    throw thrown;
  }
}

/** Returns the parameters of a call, in the query and in the path. */
export function parametersOfCall(
  { id, defaults }: AnyTool,
  values: Arguments,
): { readonly query: TextParameters; readonly params: TextParameters } {
  const { parameters } = operation(id);
  const query: [string, string][] = [];
  const params: [string, string][] = [];
  const given = givenIn(values);
  const further = givenIn(furtherFilters(values.filters));
  for (const parameter of Object.keys(further))
    if (Object.hasOwn(given, parameter)) throw refuse("repeated_parameter", { parameter, times: 2 });
  for (const [name, value] of Object.entries({ ...defaults, ...given, ...further })) {
    const parameter = parameters.find((known) => known.name === name);
    const separator = parameter === undefined ? "," : separatorOf(parameter);
    const text = Array.isArray(value) ? value.map(textOf).join(separator) : textOf(value);
    (parameter?.in === "path" ? params : query).push([name, text]);
  }
  return { query: Object.fromEntries(query), params: Object.fromEntries(params) };
}

/** Returns the values of `filters`, a query string. Many agents send an object. */
function furtherFilters(filters: unknown): Arguments {
  if (isObject(filters)) return filters;
  if (typeof filters !== "string") return {};
  const query = new URLSearchParams(filters);
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
}

function givenIn(values: Arguments): Arguments {
  const isOmitted = (value: unknown): boolean =>
    value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !isOmitted(value) && !otherNames.has(name)),
  );
}

/** An object is no value of any parameter; its JSON text appears in the refusal. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
