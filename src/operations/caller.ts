/**
 * A call of an operation: its caller (a request with an API key, a page, or a tool call), its path and query string, the version of the data that it names,
 * and the limits of calls.
 */
import type { Accounts, Identity } from "../accounts/accounts.ts";
import type { MeteredId } from "../accounts/policy/prices.ts";
import { operation } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { OperationId } from "../contract/types.ts";
import { versionPattern } from "../lake/manifest.ts";
import { type PagedRequest, versionOfCursor } from "../query/cursors.ts";

/** A page of the web application, which counts against the rate limit as one request, however many operations it calls. */
export interface CountedPage {
  isCounted: boolean;
}

/** The client of a call, which can disconnect before its answer. */
export interface CallClient {
  /** Throws Abandoned if the client has disconnected. */
  requireConnected(): void;
  /** Calls a function with `Abandoned` when the client disconnects. Returns a function that stops this. */
  onDisconnect(listener: (reason: Error) => void): () => void;
}

/** Returns the client of a call within the process, whose signal aborts when it disconnects. */
export const clientOfSignal = (signal: AbortSignal): CallClient => ({
  requireConnected: () => signal.throwIfAborted(),
  onDisconnect(listener) {
    const onAbort = (): void => listener(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  },
});

export interface Caller {
  readonly identity: Identity;
  /** Identifies the call in the log and, if it is charged, in the ledger. */
  readonly requestId: string;
  /** When the request arrived, on the monotonic clock. Its deadline counts from then. */
  readonly arrivedAtMs: number;
  readonly client: CallClient;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  /** The header `Carquet-Version`. */
  readonly dataVersion?: string | undefined;
  readonly page?: CountedPage | undefined;
  /** Whether nothing is charged. */
  readonly isFree?: boolean;
}

/** Refuses with `missing_scope` if the key of a caller lacks the scope of an operation. */
export function requireScope({ identity }: Caller, id: OperationId): void {
  const { scope } = operation(id);
  const granted: readonly string[] = identity.key.scopes;
  if (scope === undefined || !granted.includes(scope)) throw refuse("missing_scope", { scope: scope ?? "none" });
}

/** Counts a call against the rate limit; of the operations of a page, only the first. Refuses with `rate_limit_exceeded`. Returns whether it counted. */
export async function countCall(accounts: Accounts, { identity, page }: Caller): Promise<boolean> {
  if (page?.isCounted === true) return false;
  if (page !== undefined) page.isCounted = true;
  try {
    await accounts.countRequest(identity);
    return true;
  } catch (thrown) {
    if (page !== undefined) page.isCounted = false;
    throw thrown;
  }
}

export type TextParameters = Readonly<Record<string, string>>;

/** The metered operations that answer from an open version; the others start a process, which writes a file. */
export type EndpointId = Exclude<MeteredId, "exportListings" | "runSql">;

/** The operations that pages and tools can call: those that answer an account in JSON. */
export type CallableId = EndpointId | "getUsage";

/** An operation with its parameters, as a client of the API sends them. */
export interface OperationRequest<Id extends CallableId = CallableId> {
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

/** A version, and what names it. */
export interface NamedVersion {
  readonly version: string;
  readonly parameter: string;
}

const header = "Carquet-Version";

/** Returns the version that a request names; undefined if it names none. Refuses two different versions with `incompatible_parameters`. */
export function namedVersion(
  request: PagedRequest & { readonly query: { readonly data_version?: string | undefined } },
  requested: string | undefined,
): NamedVersion | undefined {
  if (requested !== undefined && !versionPattern.test(requested))
    throw refuse("invalid_parameter_value", {
      parameter: header,
      value: quoted(requested),
      hint: "",
      allowed: "a version such as 2026-11-19.1",
    });
  const names = { data_version: request.query.data_version, [header]: requested, cursor: versionOfCursor(request) };
  const [first, ...others] = Object.entries(names).flatMap(([parameter, version]) =>
    version === undefined ? [] : [{ parameter, version }],
  );
  const other = others.find(({ version }) => version !== first?.version);
  if (first === undefined || other === undefined) return first;
  const reason = `they name different versions, ${first.version} and ${other.version}`;
  throw refuse("incompatible_parameters", { parameters: `${first.parameter} and ${other.parameter}`, reason });
}

/** Requests of one account in progress, waiting ones included. */
export const accountRequestsMax = 128;

/** From the arrival of a request to its response. */
export const requestDeadlineMs = 10_000;
