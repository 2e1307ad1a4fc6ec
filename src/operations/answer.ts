/**
 * Answers the metered operations, for requests with an API key, pages and tool calls alike: a request is limited, validated, its price held, the result
 * computed or taken from the cache, encoded, and charged. What fails before that costs nothing.
 */
import { createHash } from "node:crypto";
import type { Accounts, Hold } from "../accounts/accounts.ts";
import type { IdempotentRequest } from "../accounts/ledger/idempotency.ts";
import { type UsageClass, usageClassOf } from "../accounts/policy/prices.ts";
import { isObject } from "../base/json.ts";
import { decoderOf } from "../contract/decode.ts";
import { document, operation } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { RequestOf } from "../contract/types.ts";
import type { TableEncoder } from "../formats/table-encoder.ts";
import { type FormatName, pageFormats } from "../formats/table-formats.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Admission } from "./admission.ts";
import { type Caller, type EndpointId, namedVersion, type OperationRequest } from "./caller.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import {
  type Conditions,
  entityTag,
  hasFormats,
  isDecidedByExistence,
  negotiateFormat,
  preconditionOf,
} from "./representation.ts";
import { keyTextOf, type ResponseCache } from "./response-cache.ts";
import { type Result, resultTable } from "./result.ts";

export interface OperationServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
  readonly accounts: Accounts;
  readonly admission: Admission;
  readonly encoder: Pick<TableEncoder, "encode">;
}

/** The charge of a call. */
export interface Usage {
  readonly usageClass: UsageClass;
  /** 0 if the same request was charged under the same idempotency key. */
  readonly micros: number;
}

/** A version, and the entity tag of its answer to a request in a format. */
interface Representation {
  readonly version: string;
  readonly asOf: string;
  readonly format: FormatName;
  /** Whether the query string names the format. */
  readonly isFormatNamed: boolean;
  /** Empty for a call within the process, which has no conditions. */
  readonly tag: string;
}

/** An answer without `content` is one that the client has already, or asks not to be sent, and is not charged. */
export type EncodedAnswer = Representation &
  (({ readonly content: Buffer; readonly usage: Usage } & Pick<Result, "pagination">) | { readonly content?: never });

/** Opening a version counts as this much at most: it takes longer beside the load of others. */
const openingMsMax = 1000;

/** Distinguishes releases whose responses to the same request differ. */
const documentTag = entityTag(JSON.stringify(document));

/** Answers a call of an operation. Refuses as documented. */
export async function answer<Id extends EndpointId>(
  caller: Caller,
  { id, querystring, params = {} }: Pick<OperationRequest<Id>, "id" | "querystring" | "params">,
  { current, responseCache, accounts, admission, encoder }: OperationServices,
  conditions?: Conditions,
): Promise<EncodedAnswer> {
  return admission.run(caller, id, async (job) => {
    const request = decoderOf(id)(querystring, params);
    const headers = conditions ?? {};
    const { format: requested, csv_raw: isRaw }: { readonly format?: FormatName; readonly csv_raw?: boolean } =
      request.query;
    const format = hasFormats(operation(id)) ? negotiateFormat(headers, pageFormats, requested) : "json";
    const named = namedVersion(request, caller.dataVersion);
    // Only the computed answer can say whether a resource exists.
    const isProbe = isDecidedByExistence(headers);
    const hold = await holdPrice(accounts, id, isProbe ? { ...caller, isFree: true } : caller, request);
    try {
      const onOpened = (ms: number): void => admission.countUncharged(caller, Math.min(ms, openingMsMax), false);
      const user = { accountId: caller.identity.key.accountId, signal: job.signal, onOpened };
      const endpoint: Endpoint<Id> = endpoints[id];
      const { representation, computed } = await job.race(
        current.useNamed(
          named,
          async (opened) => {
            const { data_version: version, as_of: asOf } = opened.meta;
            const key = keyTextOf(version, id, request);
            const tag = conditions === undefined ? "" : entityTag(`${documentTag} ${format} ${key}`);
            const representation = { version, asOf, format, isFormatNamed: requested !== undefined, tag };
            const condition = preconditionOf(headers, tag);
            if (condition === "not modified" && !isProbe) return { representation };
            const computed = await responseCache.getOrCompute(key, job, (shared) =>
              endpoint(request, opened.withJob(shared)),
            );
            // What is not sent is not charged.
            if (condition === "failed" || isProbe) admission.countUncharged(caller, job.usedMs(performance.now()));
            if (condition === "failed")
              throw refuse("precondition_failed", { value: quoted(headers["if-match"] ?? "") });
            return isProbe ? { representation } : { representation, computed };
          },
          user,
        ),
      );
      if (computed === undefined) return representation;
      const { json, ...pages } = computed;
      const content =
        format === "json" ? json : await encoder.encode(format, await resultTable(id, request.query, json), job, isRaw);
      return { ...representation, ...pages, content, usage: await charge(accounts, caller, hold) };
    } finally {
      hold.release();
    }
  });
}

/** Holds the price of a call while it runs, so that concurrent calls cannot overspend the balance. */
export async function holdPrice<Id extends EndpointId>(
  accounts: Accounts,
  id: Id,
  { identity, idempotencyKey, dataVersion, isFree = false }: Caller,
  request: RequestOf<Id>,
): Promise<Hold> {
  const usageClass = usageClassOf(id, request.query);
  const named = dataVersion === undefined ? {} : { dataVersion };
  const idempotent = isFree ? undefined : idempotentRequestOf(idempotencyKey, id, { ...request, ...named });
  return accounts.holdOnce(identity, usageClass, idempotent, isFree ? 0 : 1);
}

/** Returns the same text for requests that differ only in the order of their parameters. */
const canonicalJson = (request: object): string =>
  JSON.stringify(request, (_, value: unknown) => (isObject(value) ? Object.fromEntries(sortedEntries(value)) : value));

const sortedEntries = (object: object): [string, unknown][] =>
  Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1));

const idempotencyKeyPattern = /^[!-~]{1,255}$/;

/** Returns what the `Idempotency-Key` of a call stands for: the operation with its parameters; undefined without one. Refuses with `invalid_parameter_value`. */
export function idempotentRequestOf(
  idempotencyKey: string | undefined,
  operation: string,
  request: object,
): IdempotentRequest | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (!idempotencyKeyPattern.test(idempotencyKey))
    throw refuse("invalid_parameter_value", {
      parameter: "Idempotency-Key",
      value: JSON.stringify(idempotencyKey),
      allowed: "1 to 255 printable ASCII characters without spaces",
      hint: "",
    });
  const sha256 = createHash("sha256")
    .update(`${operation} ${canonicalJson(request)}`)
    .digest("hex");
  return { idempotencyKey, sha256 };
}

/** Charges a hold. Resolves when the charge is in the ledger; only then may the answer be sent. A client that has disconnected is not charged. */
export async function charge(accounts: Accounts, caller: Caller, hold: Hold): Promise<Usage> {
  caller.client.requireConnected();
  return { usageClass: hold.usageClass, micros: await accounts.charge(caller.identity, hold, caller.requestId) };
}
