/** Requests of operations as clients of the API send them: paths and query strings from parameters as texts. */

import type { MeteredId } from "../accounts/policy/prices.ts";
import { operation } from "../contract/document.ts";

export type TextParameters = Readonly<Record<string, string>>;

/** The metered operations that answer from an open version; the others start a process, which writes a file. */
export type EndpointId = Exclude<MeteredId, "exportListings" | "runSql">;

/** Those of them that pages and tools call: not the change feed, which is for programs. */
export type CalledId = Exclude<EndpointId, "listChanges">;

/** The operations that pages and tools can call: those that answer an account in JSON. */
export type CallableId = CalledId | "getUsage";

/** The operations that can be called within the process. */
export type InternalId = EndpointId | "getUsage";

/** An operation with its parameters, as a client of the API sends them. */
export interface OperationRequest<Id extends InternalId = CallableId> {
  readonly id: Id;
  /** The path of the operation with its parameters. */
  readonly path: string;
  readonly params?: TextParameters;
  /** Without the question mark. */
  readonly querystring: string;
}

/** Returns a request as a client of the API sends it. */
export function operationRequest<Id extends CallableId>(
  id: Id,
  query: TextParameters,
  params: TextParameters = {},
): OperationRequest<Id> {
  const path = operation(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  return { id, path, params, querystring: queryString(query) };
}

/** Encodes parameters, except commas, which separate the values of lists. */
export const queryString = (query: TextParameters): string =>
  new URLSearchParams(query).toString().replaceAll("%2C", ",");
