/** Requests of operations as clients of the API send them: paths and query strings from parameters as texts. */

import type { MeteredId } from "../accounts/policy/prices.ts";
import { operation } from "../contract/document.ts";

/** The parameters of a request, as texts. */
export type TextParameters = Readonly<Record<string, string>>;

/** The metered operations whose response is JSON. */
export type EndpointId = Exclude<MeteredId, "exportListings">;

/** The operations that can be asked for within the process: those that answer an account in JSON. */
export type AskedId = EndpointId | "getUsage";

/** An operation with its parameters, as a client of the API sends them. */
export interface OperationRequest<Id extends AskedId = AskedId> {
  readonly id: Id;
  /** The path of the operation with its parameters. */
  readonly path: string;
  readonly params?: TextParameters;
  /** Without the question mark. */
  readonly querystring: string;
}

/** Returns a request as a client of the API sends it. */
export function operationRequest<Id extends AskedId>(
  id: Id,
  query: TextParameters,
  params: TextParameters = {},
): OperationRequest<Id> {
  const path = operation(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return { id, path, params, querystring: queryString(query) };
}

/** Encodes parameters. Commas stay as they are, because they separate the values of lists. */
export const queryString = (query: TextParameters): string =>
  new URLSearchParams(query).toString().replaceAll("%2C", ",");
