/**
 * Requests to addresses that clients name, such as documents of OAuth clients and webhooks, so that none reaches the service's own network through it:
 * to public addresses only, without redirects. A host name is resolved once, and the connection goes to one of the checked addresses, even if
 * the name resolves to others later.
 */
import { lookup as resolveHost } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { hostOf, isPublicAddress } from "../../base/addresses.ts";

/** The size of a document. */
export const documentBytesMax = 5_120;

type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Which addresses may be requested, and replacements for tests. */
export interface PublicRequestOptions {
  readonly resolve?: ResolveHost;
  readonly isAllowed?: (address: string) => boolean;
  /** Certificates of authorities (PEM) instead of those of Node.js. */
  readonly ca?: string;
  /** From the look-up of the address to the response, or to the end of a document. */
  readonly deadlineMs?: number;
}

/** How long a request may take by default. */
const requestMs = 10_000;

const systemResolve: ResolveHost = async (host) =>
  (await resolveHost(host, { all: true })).map(({ address }) => address);

interface SentRequest {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request; returns the response, whose body must be read or destroyed. Rejects refused addresses, and when the deadline passes or the signal aborts,
 * which destroy a response that is being read.
 */
export async function requestPublic(
  url: URL,
  { body, signal, ...request }: SentRequest,
  { resolve = systemResolve, isAllowed = isPublicAddress, ca, deadlineMs = requestMs }: PublicRequestOptions = {},
): Promise<IncomingMessage> {
  const limit = new AbortController();
  const onAbort = (): void => limit.abort(signal?.reason);
  const late = new Error(`No response in ${deadlineMs / 1000} seconds.`);
  const timer = setTimeout(() => limit.abort(late), deadlineMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  const end = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
  const send = async (): Promise<IncomingMessage> => {
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await resolve(host) : [host];
    // Without the address: accounts see the message, and not what names of the service's own network lead to.
    if (addresses.length === 0 || !addresses.every(isAllowed))
      throw new TypeError(`Address of ${host} is not public: expected a public one.`);
    limit.signal.throwIfAborted();
    const options = { ...request, agent: false, lookup: lookupOf(addresses), ...(ca === undefined ? {} : { ca }) };
    const sent = (url.protocol === "http:" ? requestHttp : requestHttps)(url, options);
    limit.signal.addEventListener("abort", () => sent.destroy(limit.signal.reason));
    return new Promise((settle, reject) => {
      sent.on("error", reject);
      sent.once("response", settle);
      sent.end(body);
    });
  };
  const aborted = new Promise<never>((_, reject) => {
    limit.signal.addEventListener("abort", () => reject(limit.signal.reason));
  });
  if (signal?.aborted === true) onAbort();
  try {
    const response = await Promise.race([send(), aborted]);
    response.once("close", end);
    return response;
  } catch (thrown) {
    end();
    throw thrown;
  }
}

/** Returns a `fetch` for GET requests of public documents over HTTPS, up to a size. */
export function fetchPublic(options: PublicRequestOptions = {}): typeof fetch {
  return async (input, init) => {
    const url = new URL(String(input));
    if (url.protocol !== "https:") throw new TypeError(`Invalid URL ${url.href}: expected https.`);
    const headers = { Accept: "application/json" };
    return readResponse(await requestPublic(url, { headers, signal: init?.signal ?? undefined }, options));
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
    if (bytes > documentBytesMax) {
      message.destroy();
      throw new RangeError(`The document is too long: expected at most ${documentBytesMax} bytes.`);
    }
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const name of ["content-type", "cache-control", "expires"])
    for (const value of message.headersDistinct[name] ?? []) headers.append(name, value);
  const status = message.statusCode ?? 0;
  return new Response(status === 204 || status === 304 ? null : Buffer.concat(chunks), { status, headers });
}
