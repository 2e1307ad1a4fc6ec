/** A feed at a URL, which is requested with the tag of the last one. Messages never show the query of a URL, or one that is secret. */
import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import { UserError } from "../../base/user-error.ts";
import { fileOf } from "../../ingest/feed/feed-file.ts";
import { lengthIn, requestFile, statusFault } from "../../replication/http-source.ts";
import type { FeedServer, SecretOf } from "../feed-server.ts";
import type { HttpsSettings } from "../sources-file.ts";

export function httpsServer(settings: HttpsSettings, secret: SecretOf): FeedServer {
  const { url: text = secret("https.urlVariable", settings.urlVariable) ?? "", username, name } = settings;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UserError(
      `invalid URL in ${settings.urlVariable ?? "https.url"}: expected one that begins with https://.`,
    );
  const url = new URL(text);
  const place = settings.url === undefined ? url.host : `${url.origin}${url.pathname}`;
  const path = name ?? decodeURI(url.pathname.split("/").at(-1) ?? "");
  const token = secret("https.tokenVariable", settings.tokenVariable);
  const password = secret("https.passwordVariable", settings.passwordVariable);
  const authorization =
    token === undefined ? `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` : `Bearer ${token}`;
  const headers = {
    "Accept-Encoding": "identity",
    ...((token ?? password) === undefined ? {} : { Authorization: authorization }),
  };
  return {
    list: async () => [{ path, bytes: undefined, modifiedMs: undefined, tag: undefined }],
    open: async (file, known, signal) => {
      const condition = known === undefined ? {} : { "If-None-Match": known };
      const response = await requestFile({ url, headers: { ...headers, ...condition }, place }, signal);
      if (response.status === 200) {
        const modifiedMs = Date.parse(response.headers.get("Last-Modified") ?? "");
        const tag = response.headers.get("ETag") ?? undefined;
        const body = (response.body ?? new Response("").body ?? []) as AsyncIterable<Uint8Array>;
        // Some servers declare the compression of the file as an encoding, which is then decoded.
        const isDecoded = response.headers.has("Content-Encoding") && fileOf(path)?.isGzip === true;
        return {
          ...{ ...file, tag, bytes: lengthIn(response.headers), content: isDecoded ? compressed(body) : body },
          modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
        };
      }
      await response.body?.cancel();
      if (response.status === 304) return undefined;
      throw statusFault(response.status, place);
    },
  };
}

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
