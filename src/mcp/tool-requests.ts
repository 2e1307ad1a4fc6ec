/** Turns a call of a tool into a request of its operation, which decodes and refuses its arguments as it does those of a URL. */
import { separatorOf } from "../contract/decode.ts";
import { operation } from "../contract/document.ts";
import { type OperationRequest, operationRequest } from "../operations/operation-request.ts";
import type { Tool } from "./tools.ts";

/** Parameters of the transport, which tools do not have. */
const transportParameters = new Set(["format", "csv_raw"]);

/** Returns the request. Arguments that are null or an empty list count as omitted. */
export function requestOfCall({ id, defaults }: Tool, values: Readonly<Record<string, unknown>>): OperationRequest {
  const { parameters } = operation(id);
  const query: Record<string, string> = {};
  const params: Record<string, string> = {};
  const isOmitted = (value: unknown): boolean =>
    value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  const given = Object.entries(values).filter(([name, value]) => !isOmitted(value) && !transportParameters.has(name));
  for (const [name, value] of Object.entries({ ...defaults, ...Object.fromEntries(given) })) {
    const parameter = parameters.find((known) => known.name === name);
    const separator = parameter === undefined ? "," : separatorOf(parameter);
    const text = Array.isArray(value) ? value.map(textOf).join(separator) : textOf(value);
    (parameter?.in === "path" ? params : query)[name] = text;
  }
  return operationRequest(id, query, params);
}

/** An object is no value of any parameter; its JSON text appears in the refusal. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
