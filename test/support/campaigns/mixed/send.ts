/** Sends the requests of the mixed load. */
import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../../src/base/json.ts";

/** A response, or `aborted` without a complete one. */
export interface Reply {
  readonly path: string;
  readonly status: number | "aborted";
  /** The error code of a refusal, or of the system without a response. */
  readonly code: string | undefined;
  readonly requestId: string;
  /** The version that an answer names; empty in other responses. */
  readonly version: string;
  readonly micros: number;
  readonly body: string;
  readonly sentAtMs: number;
  readonly ms: number;
}

export interface SendOptions {
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  /** Time after which the client leaves. */
  readonly abortMs?: number;
  /** `GET`, or `POST` with a body, by default. */
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: object | undefined;
}

/** What is known of a response that did not come, or not whole. */
export const unanswered = {
  status: "aborted",
  code: undefined,
  requestId: "",
  version: "",
  micros: 0,
  body: "",
} as const;

/** Sends a request and reads its response. Never rejects. */
export async function sendRequest(url: string, path: string, options: SendOptions): Promise<Reply> {
  const { agent, headers, abortMs, body: sent, method = sent === undefined ? "GET" : "POST" } = options;
  const sentAtMs = Date.now();
  const startedAtMs = performance.now();
  const replyOf = (reply: Partial<Reply> = {}): Reply => ({
    path,
    ...unanswered,
    ...reply,
    sentAtMs,
    ms: performance.now() - startedAtMs,
  });
  let leaving: NodeJS.Timeout | undefined;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest(`${url}${path}`, { agent, headers, method }, resolve).on("error", reject);
      request.end(sent === undefined ? undefined : JSON.stringify(sent));
      // Destroying a request that has ended would destroy its socket, over which another one may be sent by then.
      if (abortMs !== undefined) leaving = setTimeout(() => request.destroy(), abortMs).unref();
    });
    const body = await text(response);
    const header = (name: string): string => String(response.headers[name] ?? "");
    const status = response.statusCode ?? 0;
    const code = response.statusCode === 200 ? undefined : codeIn(body);
    if (!response.complete) return replyOf();
    return replyOf({
      status,
      code,
      requestId: header("x-request-id"),
      version: header("carquet-version"),
      micros: Number(header("x-usage-cost-micros")),
      body,
    });
  } catch (thrown) {
    return replyOf({ code: isObject(thrown) ? String(thrown.code) : undefined });
  } finally {
    clearTimeout(leaving);
  }
}

function codeIn(body: string): string | undefined {
  const parsed: unknown = JSON.parse(body);
  return isObject(parsed) && isObject(parsed.error) ? String(parsed.error.code) : undefined;
}

/** Starts work at a fixed rate, whether or not earlier work has ended, until `isOver`; then waits for all of it. */
export async function atRate(perSecond: number, isOver: () => boolean, work: () => Promise<void>): Promise<void> {
  const pending = new Set<Promise<void>>();
  const startedAtMs = performance.now();
  for (let started = 0; !isOver(); started += 1) {
    await sleep(Math.max(0, startedAtMs + (started * 1000) / perSecond - performance.now()));
    const promise = work().finally(() => pending.delete(promise));
    pending.add(promise);
  }
  await Promise.all(pending);
}
