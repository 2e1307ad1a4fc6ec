/**
 * Files of a web server, such as a CDN or the HTTP gateway of an object store: below a URL, or one at it. Interrupted files are resumed by `Range`
 * with `If-Range`; a server without ranges sends them again from the start. Messages never show the query of a URL, or one that is secret.
 */
import { lookup } from "node:dns/promises";
import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import { hostOf, isPublicAddress } from "../base/addresses.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { type Connector, type OpenedFile, type ReadFrom, TransferFault } from "./connector.ts";

/** Redirects that a web server can answer with, one after another. */
const redirectsMax = 5;

/** Statuses of requests that can succeed later. */
const temporary = new Set([408, 425, 429]);

const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the connector of the files below a URL. Its query is sent with each request; a user name and password as basic authentication.
 */
export function httpsConnector(base: URL): Connector {
  const urlOf = (path: string): URL => {
    const url = withoutUser(base);
    url.pathname = `${base.pathname.replace(/\/$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
    return url;
  };
  return connectorOf(urlOf, (path) => shownUrl(urlOf(path)), basicAuthorization(base));
}

/**
 * Returns the connector of the file at a URL, regardless of its path. `authorization` is the value of the header; without it, a user name and password
 * in the URL are sent as basic authentication.
 */
export const httpsFileConnector = (url: URL, isSecret: boolean, authorization: string | undefined): Connector =>
  connectorOf(
    () => withoutUser(url),
    () => (isSecret ? url.host : shownUrl(url)),
    authorization ?? basicAuthorization(url),
  );

const shownUrl = ({ origin, pathname }: URL): string => `${origin}${pathname}`;

function connectorOf(
  urlOf: (path: string) => URL,
  locationOf: (path: string) => string,
  authorization: string | undefined,
): Connector {
  const read: Connector["read"] = async (path, options, signal) => {
    const location = locationOf(path);
    const headers = { ...(authorization && { Authorization: authorization }), ...headersOf(options) };
    const response = await requestFile(urlOf(path), headers, location, signal);
    const { status } = response;
    if (status === 200 || status === 206) return openedBy(response, path, options.offset ?? 0, location);
    await response.body?.cancel();
    if (status === 304 && options.knownTag !== undefined) return "unchanged";
    if (status === 416 && (options.offset ?? 0) > 0) return read(path, { ...options, offset: 0 }, signal);
    if (status === 404 || status === 410) return undefined;
    const message = `${location}: status ${status}: expected 200.`;
    throw status >= 500 || temporary.has(status) ? new TransferFault(message) : new UserError(message);
  };
  return {
    locationOf,
    // A web server lists no folders: the pattern is the path of a file.
    list: async ({ parts }) => [{ path: parts.join("/"), bytes: undefined, modifiedMs: undefined, tag: undefined }],
    read,
  };
}

/**
 * Sends a request and follows redirects, such as those of object stores to signed URLs: never from https to another protocol, and without
 * the user name and password to another server.
 */
async function requestFile(
  url: URL,
  { Authorization, ...headers }: Readonly<Record<string, string>>,
  location: string,
  signal: AbortSignal,
): Promise<Response> {
  let at = url;
  let authorization = Authorization;
  for (let count = 0; count <= redirectsMax; count += 1) {
    const sent = authorization === undefined ? headers : { ...headers, Authorization: authorization };
    const response = await fetch(at, { headers: sent, signal, redirect: "manual" }).catch((thrown: unknown) => {
      const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
      throw new TransferFault(`${location}: ${messageOf(cause)}`);
    });
    const target = response.headers.get("Location");
    if (target === null || !redirects.has(response.status)) return response;
    await response.body?.cancel();
    const next = redirectTarget(target, at, location);
    if (next.origin !== at.origin) authorization = undefined;
    if (!(await isPublic(next)) && !(await isPrivate(url)))
      throw new UserError(`${location}: redirects to ${next.host}, which is not public: expected a public server.`);
    at = next;
  }
  throw new UserError(`${location}: too many redirects: expected at most ${redirectsMax}.`);
}

/** Returns whether all addresses of a server are on the internet. One whose name cannot be resolved cannot be reached either. */
const isPublic = async (url: URL): Promise<boolean> => (await addressesOf(url)).every(isPublicAddress);

/** Returns whether no address of a server is on the internet. */
async function isPrivate(url: URL): Promise<boolean> {
  const addresses = await addressesOf(url);
  return addresses.length > 0 && !addresses.some(isPublicAddress);
}

const addressesOf = async (url: URL): Promise<readonly string[]> =>
  (await lookup(hostOf(url), { all: true }).catch(() => [])).map(({ address }) => address);

/** Returns the URL of a redirect. Messages never show its path and query, which can be secret. */
function redirectTarget(target: string, from: URL, location: string): URL {
  if (!URL.canParse(target, from)) throw new UserError(`${location}: invalid redirect: expected a URL.`);
  const url = new URL(target, from);
  if (url.protocol !== "https:" && (url.protocol !== "http:" || from.protocol === "https:"))
    throw new UserError(`${location}: redirects to ${url.protocol}//${url.host}: expected an https:// URL.`);
  return withoutUser(url);
}

function withoutUser(from: URL): URL {
  const url = new URL(from);
  url.username = "";
  url.password = "";
  return url;
}

/** Returns the header of basic authentication; undefined for a URL without a user name and password. */
function basicAuthorization({ username, password, host }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  try {
    return basic(decodeURIComponent(username), decodeURIComponent(password));
  } catch {
    throw new UserError(
      `${host}: invalid user name or password in the URL: expected percent-encoding, such as %25 for %.`,
    );
  }
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** Files are requested uncompressed, because their sizes are compared. A weak tag cannot be compared by `If-Range`. */
function headersOf({ offset = 0, tag, knownTag, isFresh }: ReadFrom): Readonly<Record<string, string>> {
  return {
    "Accept-Encoding": "identity",
    ...(isFresh && { "Cache-Control": "no-cache" }),
    ...(knownTag !== undefined && { "If-None-Match": knownTag }),
    ...(offset > 0 && { Range: `bytes=${offset}-` }),
    ...(offset > 0 && tag !== undefined && !tag.startsWith("W/") && { "If-Range": tag }),
  };
}

function openedBy({ headers, body, status }: Response, path: string, offset: number, location: string): OpenedFile {
  const tag = headers.get("ETag") ?? undefined;
  const modified = Date.parse(headers.get("Last-Modified") ?? "");
  const modifiedMs = Number.isNaN(modified) ? undefined : modified;
  const content = body ?? noContent;
  if (status === 206) {
    const range = headers.get("Content-Range") ?? "";
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(range) ?? [];
    if (Number(start) !== offset)
      throw new TransferFault(`${location}: invalid range ${printable(range)}: expected one from ${offset}.`);
    return { offset, bytes: Number(total), modifiedMs, tag, content };
  }
  const length = headers.get("Content-Length");
  const isEncoded = headers.has("Content-Encoding");
  // Some servers declare the compression of the file as an encoding, which is then decoded.
  const isDecoded = isEncoded && path.toLowerCase().endsWith(".gz");
  return {
    offset: 0,
    bytes: length === null || isEncoded ? undefined : Number(length),
    modifiedMs,
    tag,
    content: isDecoded ? compressed(content) : content,
  };
}

const noContent: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };

/** Yields content compressed by gzip; unchanged if it already is. */
async function* compressed(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = content[Symbol.asyncIterator]();
  const first = await chunks.next();
  const whole = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  const isGzip = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b;
  yield* isGzip ? whole() : pipeline(whole(), createGzip(), () => {});
}
