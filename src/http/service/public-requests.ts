/**
 * Requests to addresses that clients name, such as documents of OAuth clients and webhooks, so that none reaches the service's own network through it:
 * to public addresses only, without redirects. A host name is resolved once, and the connection goes to one of the checked addresses, even if
 * the name resolves to others later.
 */
import { lookup as resolveHost } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { hostOf, isPublicAddress } from "../../base/addresses.ts";
import { orAborted, withTimeLimit } from "../../base/time-limit.ts";
import { slotPool } from "../../db/fair-pool.ts";
import { jobUntil } from "../../db/job.ts";

/** The size of a document. */
export const documentBytesMax = 5_120;

type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Which addresses may be requested, and replacements for tests. */
export interface PublicRequestOptions {
  readonly resolve?: ResolveHost;
  readonly isAllowed?: (address: string) => boolean;
  /** Certificates of authorities (PEM) instead of those of Node.js. */
  readonly ca?: string;
  /** From the look-up of the address to the end of what uses the response. */
  readonly deadlineMs?: number;
}

/** The most responses such as `103 Early Hints`, which a server could send without end. */
const informationalMax = 16;

/**
 * Look-ups of names at once, and those that wait. Each holds a thread until a name server answers or the system times out, also when its request has ended:
 * they are divided by account, as writers of exports are.
 */
const lookUpsMax = 8;
const waitingLookUpsMax = 512;
const lookUps = slotPool(lookUpsMax, waitingLookUpsMax);

/** In place of an account: documents of clients, which have none, share one share of the look-ups. */
const clientDocuments = "documents of clients";

/** How long a request may take by default. */
const requestMs = 10_000;

const systemResolve: ResolveHost = async (host) =>
  (await resolveHost(host, { all: true })).map(({ address }) => address);

interface SentRequest {
  /** The account that the request is for, or `clientDocuments`. */
  readonly account: string;
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request, and calls `use` with the response, which is destroyed afterwards. Rejects refused addresses, and when the deadline passes or the signal aborts. */
export function requestPublic<T>(
  url: URL,
  { account, body, signal, ...request }: SentRequest,
  { resolve = systemResolve, isAllowed = isPublicAddress, ca, deadlineMs: ms = requestMs }: PublicRequestOptions,
  use: (response: IncomingMessage) => T | Promise<T>,
): Promise<T> {
  const send = async (limited: AbortSignal): Promise<T> => {
    const host = hostOf(url);
    const job = jobUntil(limited, account);
    const addresses = isIP(host) === 0 ? await lookUps.use(job, () => resolve(host)) : [host];
    // Without the address: accounts see the message, and not what names of the service's own network lead to.
    if (addresses.length === 0 || !addresses.every(isAllowed))
      throw new TypeError(`Address of ${host} is not public: expected a public one.`);
    limited.throwIfAborted();
    const options = { ...request, signal: limited, agent: false, lookup: lookupOf(addresses), ...(ca && { ca }) };
    const sent = (url.protocol === "http:" ? requestHttp : requestHttps)(url, options);
    const response = await new Promise<IncomingMessage>((settle, reject) => {
      sent.on("error", reject);
      sent.once("response", settle);
      let informational = 0;
      sent.on("information", () => {
        informational += 1;
        if (informational > informationalMax)
          reject(new TypeError(`Too many informational responses: expected at most ${informationalMax}.`));
      });
      sent.end(body);
    });
    return use(response);
  };
  const error = new Error(`No response in ${ms / 1000} seconds.`);
  return withTimeLimit({ ms, error, signal }, (limited) => orAborted(limited, send(limited)));
}

/** Returns a `fetch` for GET requests of public documents over HTTPS, up to a size. */
export function fetchPublic(options: PublicRequestOptions = {}): typeof fetch {
  return async (input, init) => {
    const url = new URL(String(input));
    if (url.protocol !== "https:") throw new TypeError(`Invalid URL ${url.href}: expected https.`);
    const request = { account: clientDocuments, headers: { Accept: "application/json" } };
    return requestPublic(url, { ...request, signal: init?.signal ?? undefined }, options, readResponse);
  };
}

/** A look-up that returns addresses which have been checked. */
const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (all === true || first === undefined) done(null, found);
    else done(null, first.address, first.family);
  };

async function readResponse(message: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes > documentBytesMax)
      throw new RangeError(`The document is too long: expected at most ${documentBytesMax} bytes.`);
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const name of ["content-type", "cache-control", "expires"])
    for (const value of message.headersDistinct[name] ?? []) headers.append(name, value);
  const status = message.statusCode ?? 0;
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(chunks), { status, headers });
}
