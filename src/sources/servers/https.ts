/** A feed at a URL, which is requested with the tag of the last one. Messages never show the query of a URL, or one that is secret. */
import { UserError } from "../../base/user-error.ts";
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
        const content = response.body ?? new Response("").body ?? [];
        return {
          ...{ ...file, tag, bytes: lengthIn(response.headers), content: content as AsyncIterable<Uint8Array> },
          modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
        };
      }
      await response.body?.cancel();
      if (response.status === 304) return undefined;
      throw statusFault(response.status, place);
    },
  };
}
