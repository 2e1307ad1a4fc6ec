/**
 * Answers the metered operations, for requests with an API key, pages and tool calls alike. A call is limited, validated, its price held, computed
 * or taken from the cache, its body built, and charged: what fails before that costs nothing. It knows neither HTTP nor formats: its caller builds the
 * body from the result.
 */
import { createHash } from "node:crypto";
import type { Accounts, Hold } from "../accounts/accounts.ts";
import type { IdempotentRequest } from "../accounts/ledger/idempotency.ts";
import { type UsageClass, usageClassOf } from "../accounts/policy/prices.ts";
import { decoderOf } from "../contract/decode.ts";
import { refuse } from "../contract/errors.ts";
import type { RequestOf } from "../contract/types.ts";
import type { Job } from "../db/job.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import type { VersionUser } from "../serving/kept-versions.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { Admission } from "./admission.ts";
import {
  type Caller,
  type EndpointId,
  type NamedVersion,
  namedVersion,
  type OperationRequest,
  requireScope,
} from "./caller.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { type ComputedResult, canonicalJson, type ResponseCache } from "./response-cache.ts";

export interface OperationServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
  readonly accounts: Accounts;
  readonly admission: Admission;
}

/** Builds a caller's response from the result of a valid request. */
export interface Presenter<Body> {
  /** Returns whether the client already has this version's answer, which is then neither computed nor charged. */
  readonly isKnown?: (version: LakeVersion) => boolean;
  /** Builds the body. A call whose body cannot be built is not charged. */
  readonly bodyOf: (computed: ComputedResult) => Body | Promise<Body>;
}

/** The charge of a call. */
export interface Usage {
  readonly usageClass: UsageClass;
  /** 0 if the same request was charged under the same idempotency key. */
  readonly micros: number;
}

interface ChargedAnswer<Body> {
  readonly body: Body;
  readonly usage: Usage;
}

/** Opening a version counts as this much at most: it takes longer beside the load of others. */
const openingMsMax = 1000;

/** Returns the function that answers a call of an operation; undefined if the client has the answer. It refuses as documented. */
export const answererOf =
  (services: OperationServices) =>
  async <Id extends EndpointId, Body>(
    caller: Caller,
    { id, querystring, params = {} }: Pick<OperationRequest<Id>, "id" | "querystring" | "params">,
    present: (request: RequestOf<Id>) => Presenter<Body>,
  ): Promise<ChargedAnswer<Body> | undefined> => {
    const { accounts, admission } = services;
    requireScope(caller, id);
    return admission.run(caller, async (job) => {
      const request = decoderOf(id)(querystring, params);
      const named = namedVersion(request, caller.dataVersion);
      const hold = await holdPrice(accounts, id, caller, request);
      try {
        const presenter = present(request);
        const { accountId } = caller.identity.key;
        const onOpened = (ms: number): void => admission.countUncharged(caller, Math.min(ms, openingMsMax), false);
        const user = { accountId, signal: job.signal, onOpened };
        const computed = await compute(id, request, { services, job, named, user, isKnown: presenter.isKnown });
        if (computed === undefined) return undefined;
        const body = await presenter.bodyOf(computed);
        return { body, usage: await charge(accounts, caller, hold) };
      } finally {
        hold.release();
      }
    });
  };

/** Holds the price of a call while it runs, so that concurrent calls cannot overspend the balance. */
export async function holdPrice<Id extends EndpointId>(
  accounts: Accounts,
  id: Id,
  { identity, idempotencyKey, dataVersion, isFree = false }: Caller,
  request: RequestOf<Id>,
): Promise<Hold> {
  const usageClass = usageClassOf(id, request.query);
  const named = dataVersion === undefined ? {} : { dataVersion };
  const idempotent = idempotentRequestOf(idempotencyKey, id, { ...request, ...named });
  return idempotent === undefined
    ? accounts.hold(identity, usageClass, undefined, isFree ? 0 : 1)
    : accounts.holdOnce(identity, usageClass, idempotent);
}

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

interface ComputeOptions {
  readonly services: OperationServices;
  readonly job: Job;
  readonly named: NamedVersion | undefined;
  readonly user: VersionUser;
  readonly isKnown: Presenter<unknown>["isKnown"];
}

function compute<Id extends EndpointId>(
  id: Id,
  request: RequestOf<Id>,
  { services: { current, responseCache }, job, named, user, isKnown }: ComputeOptions,
): Promise<ComputedResult | undefined> {
  const endpoint: Endpoint<Id> = endpoints[id];
  return job.race(
    current.useNamed(
      named,
      async (version) => {
        if (isKnown?.(version) === true) return undefined;
        const key = { version: version.manifest.version, operation: id, request };
        return responseCache.getOrCompute(key, job, (sharedJob) => endpoint(request, version.withJob(sharedJob)));
      },
      user,
    ),
  );
}

/** Charges a hold. Resolves when the charge is in the ledger; only then may the answer be sent. A client that has disconnected is not charged. */
export async function charge(accounts: Accounts, { identity, requestId, signal }: Caller, hold: Hold): Promise<Usage> {
  signal.throwIfAborted();
  return { usageClass: hold.usageClass, micros: await accounts.charge(identity, hold, requestId) };
}
