/**
 * A published lake on a web server that serves files, such as a CDN or the HTTP gateway of an object store. Interrupted files are
 * resumed by `Range` with `If-Range`; a server without ranges sends them again from the start.
 */
import { messageOf, UserError } from "../base/user-error.ts";
import { type LakeSource, type OpenedFile, type ReadFrom, TransferFault } from "./source.ts";

/** Statuses of requests that can succeed later. */
const temporary = new Set([408, 425, 429]);

/** Returns the source of a lake below a URL. Its query is sent with each request; a user name and password as basic authentication. */
export function httpSource(base: URL): LakeSource {
  const urlOf = (path: string): URL => {
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
    [url.username, url.password] = ["", ""];
    return url;
  };
  const placeOf = (path: string): string => urlOf(path).href.replace(/\?.*$/, "");
  const authorization = base.username === "" ? {} : { Authorization: `Basic ${credentialsOf(base)}` };
  const open: LakeSource["open"] = async (path, from, signal) => {
    const place = placeOf(path);
    const headers = { ...authorization, ...headersOf(path, from) };
    const response = await fetch(urlOf(path), { headers, signal }).catch((thrown: unknown) => {
      throw new TransferFault(`${place}: ${messageOf(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown)}`);
    });
    if (response.status === 200 || response.status === 206) return openedBy(response, from, place);
    await response.body?.cancel();
    if (response.status === 416) return open(path, { offset: 0 }, signal);
    if (response.status === 404 || response.status === 410) return undefined;
    const message = `${place}: status ${response.status}: expected 200.`;
    throw response.status >= 500 || temporary.has(response.status)
      ? new TransferFault(message)
      : new UserError(message);
  };
  return { placeOf, open };
}

const credentialsOf = ({ username, password }: URL): string =>
  Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");

/** Files are requested as they are stored, because their sizes are compared. */
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
    throw new TransferFault(`${place}: invalid range ${headers.get("Content-Range")}: expected one from ${offset}.`);
  return { ...common, offset, bytes: Number(total) };
}

/** Returns the size of a response's content; undefined if it is unknown or compressed. */
function lengthIn(headers: Headers): number | undefined {
  const length = headers.get("Content-Length");
  return length === null || headers.has("Content-Encoding") ? undefined : Number(length);
}

const noContent: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} };
