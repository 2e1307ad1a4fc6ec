/** Webhooks: posts signed messages to the addresses of saved searches, as Standard Webhooks defines it. */
import { createHmac } from "node:crypto";
import { isIP } from "node:net";
import { messageOf } from "../../base/user-error.ts";
import { hostOf, isPublicAddress, type PublicRequestOptions, requestPublic } from "../service/public-requests.ts";

/** How long the response to a message may take. */
const responseMs = 15_000;

export interface WebhookMessage {
  /** The same for each repetition. */
  readonly id: string;
  readonly type: "search.changed" | "search.reset";
  readonly data: object;
}

/** The outcome of an attempt. */
export interface Outcome {
  readonly isDelivered: boolean;
  /** Whether the receiver wants no more messages. */
  readonly isGone: boolean;
  /** The status of the response, or why there was none. */
  readonly outcome: string;
}

/** Where a message goes, and what signs it. */
interface Receiver {
  readonly url: string;
  /** `whsec_` and Base64. */
  readonly secret: string;
}

export interface WebhookOptions extends PublicRequestOptions {
  /** Whether messages may be posted to any address, and without TLS. */
  readonly arePrivateAllowed: boolean;
}

/** Returns what is expected of the URL of a webhook, if it is not as expected. */
export function webhookFault(text: string, { arePrivateAllowed }: WebhookOptions): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocols = arePrivateAllowed ? ["https:", "http:"] : ["https:"];
  if (url === undefined || !protocols.includes(url.protocol))
    return "an https address such as https://shop.example/hook";
  if (url.username !== "" || url.password !== "") return "an address without a user name and a password";
  const host = hostOf(url);
  const isPrivate = isIP(host) !== 0 ? !isPublicAddress(host) : /(^|\.)localhost\.?$/.test(host);
  if (isPrivate && !arePrivateAllowed) return "a public address, because the operator does not allow private ones";
  return undefined;
}

/** Posts a message. Throws only if `signal` aborts. */
export async function postMessage(
  { url, secret }: Receiver,
  { id, type, data }: WebhookMessage,
  { atMs, signal, ...options }: WebhookOptions & { readonly atMs: number; readonly signal: AbortSignal },
): Promise<Outcome> {
  const body = JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
  const seconds = Math.floor(atMs / 1000);
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Carquet",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${signatureOf(`${id}.${seconds}.${body}`, secret)}`,
    "Content-Length": String(Buffer.byteLength(body)),
  };
  const allowed = options.arePrivateAllowed ? { ...options, isAllowed: () => true } : options;
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(responseMs)]);
    const response = await requestPublic(new URL(url), { method: "POST", headers, body, signal: limit }, allowed);
    const { statusCode = 0 } = response;
    response.destroy();
    return {
      isDelivered: statusCode >= 200 && statusCode < 300,
      isGone: statusCode === 410,
      outcome: String(statusCode),
    };
  } catch (thrown) {
    signal.throwIfAborted();
    const outcome = isTimeout(thrown) ? `No response in ${responseMs / 1000} seconds.` : messageOf(thrown);
    return { isDelivered: false, isGone: false, outcome };
  }
}

const isTimeout = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown.name === "TimeoutError" || thrown.name === "AbortError");

const signatureOf = (content: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(content)
    .digest("base64");
