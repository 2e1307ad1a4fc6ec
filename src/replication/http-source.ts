/**
 * A published lake on a web server that serves files, such as a CDN or the HTTP gateway of an object store. Interrupted files are
 * resumed by `Range` with `If-Range`; a server without ranges sends them again from the start.
 */
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { type LakeSource, type OpenedFile, type ReadFrom, TransferFault } from "./source.ts";

/** Redirects that a web server can answer with, one after another. */
const redirectsMax = 5;

/** Statuses of requests that can succeed later. */
const temporary = new Set([408, 425, 429]);

const redirects = new Set([301, 302, 303, 307, 308]);

/** Returns the source of a lake below a URL. Its query is sent with each request; a user name and password as basic authentication. */
export function httpSource(base: URL): LakeSource {
  const urlOf = (path: string): URL => {
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
    [url.username, url.password] = ["", ""];
    return url;
  };
  const placeOf = (path: string): string => urlOf(path).href.replace(/\?.*$/, "");
  const authorization = authorizationOf(base);
  const open: LakeSource["open"] = async (path, from, signal) => {
    const place = placeOf(path);
    const request = { url: urlOf(path), headers: { ...authorization, ...headersOf(path, from) }, place };
    const response = await requestFile(request, signal);
    if (response.status === 200 || response.status === 206) return openedBy(response, from, place);
    await response.body?.cancel();
    if (response.status === 416 && from.offset > 0) return open(path, { offset: 0 }, signal);
    if (response.status === 404 || response.status === 410) return undefined;
    throw statusFault(response.status, place);
  };
  return { placeOf, open };
}

/** Returns the error of a status: a TransferFault if it can change. */
export function statusFault(status: number, place: string): Error {
  const message = `${place}: status ${status}: expected 200.`;
  return status >= 500 || temporary.has(status) ? new TransferFault(message) : new UserError(message);
}

/** A request of a file. `place` names it in messages. */
export interface FileRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly place: string;
}

/**
 * Sends a request and follows redirects, such as those of object stores to signed URLs: never from https to another protocol, and without
 * the user name and password to another server.
 */
export async function requestFile(request: FileRequest, signal: AbortSignal): Promise<Response> {
  const { place } = request;
  let { url, headers } = request;
  for (let count = 0; count <= redirectsMax; count += 1) {
    const response = await fetch(url, { headers, signal, redirect: "manual" }).catch((thrown: unknown) => {
      const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
      throw new TransferFault(`${place}: ${messageOf(cause)}`);
    });
    const location = response.headers.get("Location");
    if (location === null || !redirects.has(response.status)) return response;
    await response.body?.cancel();
    const next = redirectTarget(location, url, place);
    if (next.origin !== url.origin) headers = withoutAuthorization(headers);
    url = next;
  }
  throw new UserError(`${place}: too many redirects: expected at most ${redirectsMax}.`);
}

/** Returns the URL of a redirect. Messages never show its path and query, which can be secret. */
function redirectTarget(location: string, from: URL, place: string): URL {
  if (!URL.canParse(location, from)) throw new UserError(`${place}: invalid redirect: expected a URL.`);
  const url = new URL(location, from);
  if (url.protocol !== "https:" && (url.protocol !== "http:" || from.protocol === "https:"))
    throw new UserError(`${place}: redirects to ${url.protocol}//${url.host}: expected an https:// URL.`);
  [url.username, url.password] = ["", ""];
  return url;
}

const withoutAuthorization = ({ Authorization: _, ...headers }: FileRequest["headers"]): FileRequest["headers"] =>
  headers;

/** Returns the header of basic authentication; none for a URL without a user name and password. */
function authorizationOf({ username, password, host }: URL): FileRequest["headers"] {
  if (username === "" && password === "") return {};
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { Authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  } catch {
    throw new UserError(
      `${host}: invalid user name or password in the URL: expected percent-encoding, such as %25 for %.`,
    );
  }
}

/** Files are requested uncompressed, because their sizes are compared. */
function headersOf(path: string, { offset, tag }: ReadFrom): Readonly<Record<string, string>> {
  return {
    "Accept-Encoding": "identity",
    ...(path === "CURRENT" ? { "Cache-Control": "no-cache" } : {}),
    ...(offset === 0 ? {} : { Range: `bytes=${offset}-`, ...(tag === undefined ? {} : { "If-Range": tag }) }),
  };
}

function openedBy(response: Response, { offset }: ReadFrom, place: string): OpenedFile {
  const { headers, body, status } = response;
  const etag = headers.get("ETag") ?? undefined;
  // A weak tag cannot be compared by `If-Range`.
  const common = { tag: etag?.startsWith("W/") ? undefined : etag, content: body ?? noContent };
  if (status === 200) return { ...common, offset: 0, bytes: lengthIn(headers) };
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("Content-Range") ?? "") ?? [];
  if (Number(start) !== offset)
    throw new TransferFault(
      `${place}: invalid range ${printable(headers.get("Content-Range") ?? "")}: expected one from ${offset}.`,
    );
  return { ...common, offset, bytes: Number(total) };
}

/** Returns the size of a response's content; undefined if it is unknown or compressed. */
export function lengthIn(headers: Headers): number | undefined {
  const length = headers.get("Content-Length");
  return length === null || headers.has("Content-Encoding") ? undefined : Number(length);
}

const noContent: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };
