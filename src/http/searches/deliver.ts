/**
 * Messages: after each published version, posts the changes of saved searches to their webhooks, signed as Standard Webhooks defines it. Messages of a
 * search go out one after the other; its row in the accounts says which is next, so that a service that was killed repeats a message at most.
 */
import { createHash, createHmac } from "node:crypto";
import { setMaxListeners } from "node:events";
import { isIP } from "node:net";
import type { Logger } from "pino";
import type { Accounts } from "../../accounts/accounts.ts";
import {
  type AttemptRecord,
  claimSearch,
  type DueSearch,
  dueSearches,
  type MessagePosition,
  recordAttempt,
  type SavedSearch,
  secretsOf,
} from "../../accounts/administration/saved-searches.ts";
import type { Clock } from "../../accounts/clock.ts";
import { hostOf, isPublicAddress } from "../../base/addresses.ts";
import { inTurnOf } from "../../base/turns.ts";
import { messageOf } from "../../base/user-error.ts";
import { Refusal } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { AccountSlots } from "../../db/account-slots.ts";
import { publishedAtMs } from "../../lake/manifest.ts";
import { changesQuery } from "../../operations/saved-searches.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { CallOperation } from "../internal-calls.ts";
import { type PublicRequestOptions, requestPublic } from "../service/public-requests.ts";

/** The pauses before a message is posted again; after the last one, messages of the search stop. */
const retryDelaysMs = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000] as const;

/** The pause after a page that took too long, as under load: that is no failure of the receiver. */
const lateRetrySeconds = 15;

/** Changes of a page, which is charged once and posted in several messages. */
const pageChangesMax = 1_000;

/** The most bytes of the changes of a message, which stays below 20 KB; a larger change is a message alone. */
const changesBytesMax = 19_400;

/** How long other services leave a search alone that one has claimed: longer than a page and its message take. */
const claimMs = 60_000;

const pollMs = 1_000;

/**
 * Searches that are delivered at once: most of them wait for receivers, of which each may take `responseMs` without holding up the others. Half of the
 * first are more than an account has searches (`accountSearchesMax`). Messages that have failed before have their own.
 */
const slotsMax = { first: 256, repeated: 64 } as const;

interface MessageServices {
  readonly accounts: Accounts;
  readonly current: CurrentVersion;
  readonly callOperation: CallOperation;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly webhooks: WebhookOptions;
}

const publishedVersion = ({ current }: MessageServices): Promise<string> =>
  current.use(async ({ manifest }) => manifest.version);

/** Starts the messages. Returns a function that stops them, and resolves when none is running; what was interrupted is repeated. */
export function startMessages(services: MessageServices): () => Promise<void> {
  const { accounts, current, clock, logger } = services;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const running = new Map<string, Promise<void>>();
  const warn = (thrown: unknown): void => {
    if (!stopping.signal.aborted) logger.warn({ error: messageOf(thrown) }, "message interrupted");
  };
  const kinds = [
    { isRepeated: false, slots: new AccountSlots(slotsMax.first), limit: 2 * slotsMax.first },
    { isRepeated: true, slots: new AccountSlots(slotsMax.repeated), limit: 2 * slotsMax.repeated },
  ];
  const start = (search: DueSearch, shared: AccountSlots): void => {
    const { searchId, accountId } = search;
    if (running.has(searchId) || !shared.isFreeFor(accountId)) return;
    const release = shared.take(accountId);
    const work = inTurnOf(accountId, () => deliver(search, services, stopping.signal)).catch(warn);
    running.set(
      searchId,
      work.finally(() => {
        release();
        running.delete(searchId);
      }),
    );
  };
  const poll = async (): Promise<void> => {
    if (current.inService === undefined) return;
    const version = await publishedVersion(services);
    const atMs = clock.wallMs();
    // Running searches, and accounts that hold as many slots as are free, are fewer than there are slots: among twice as many, all free slots find work.
    for (const { slots, ...kind } of kinds) {
      const due = await accounts.administration.call(dueSearches, { version, atMs, ...kind });
      if (!stopping.signal.aborted) for (const search of due) start(search, slots);
    }
  };
  let polling = Promise.resolve();
  const timer = setInterval(() => {
    polling = polling.then(poll).catch(warn);
  }, pollMs).unref();
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await polling;
    await Promise.all(running.values());
  };
}

/** Delivers message after message, until the receiver has reached the published version, or one fails. */
async function deliver({ searchId }: DueSearch, services: MessageServices, signal: AbortSignal): Promise<void> {
  const { administration } = services.accounts;
  const readPage = pageReader(services, signal);
  for (;;) {
    const atMs = services.clock.wallMs();
    const version = await publishedVersion(services);
    const search = await administration.call(claimSearch, { searchId, version, atMs, untilMs: atMs + claimMs });
    if (search === undefined) return;
    const attempt = await attemptNext(search, readPage, services, signal).catch(async (thrown: unknown) => {
      // Interrupted: another service, or this one after its restart, repeats the message at once.
      if (signal.aborted) await administration.call(recordAttempt, { ...search, nextAtMs: atMs });
      throw thrown;
    });
    await administration.call(recordAttempt, attempt);
    if (attempt.target === null) return;
  }
}

/** Computes and posts the next message of a search. Returns the record of that. */
async function attemptNext(
  search: SavedSearch,
  readPage: ReadPage,
  services: MessageServices,
  signal: AbortSignal,
): Promise<AttemptRecord> {
  const atMs = services.clock.wallMs();
  const { url, target } = search;
  if (url === null || target === null) throw new TypeError(`Search ${search.searchId} is not due: expected a claim.`);
  const position = { ...search, target };
  try {
    const { message, next } = await nextMessage(position, readPage, services);
    const reached = { ...search, ...next, attempts: 0, nextAtMs: atMs };
    if (message === undefined) return reached;
    const options = { ...services.webhooks, atMs, signal };
    const receiver = { url, account: search.accountId, secrets: secretsOf(search, atMs) };
    const sent = await postMessage(receiver, message, options);
    logOutcome(search, message, sent, services.logger);
    const last = { lastAtMs: atMs, lastOutcome: sent.outcome };
    if (sent.isDelivered) return { ...reached, ...last, messages: search.messages + 1 };
    return afterFailure({ ...position, ...last }, sent.isGone ? "The receiver is gone (410)." : undefined);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const failed = { ...position, lastAtMs: atMs, lastOutcome: thrown.message };
    const pauseSeconds = thrown.code === "deadline_exceeded" ? lateRetrySeconds : thrown.retryAfterSeconds;
    if (pauseSeconds !== undefined) return { ...failed, nextAtMs: services.clock.wallMs() + 1000 * pauseSeconds };
    const isFinal = thrown.code === "invalid_api_key";
    return afterFailure(failed, isFinal ? `The key that pays cannot be used: ${thrown.message}` : undefined);
  }
}

/** Postpones the message, or stops the messages for a reason. */
export function afterFailure(search: AttemptRecord & { readonly lastAtMs: number }, reason?: string): AttemptRecord {
  const attempts = search.attempts + 1;
  const delayMs = retryDelaysMs[search.attempts];
  const exhausted = `The message failed ${attempts} times, the last time with: ${search.lastOutcome}`;
  const stopped = reason ?? (delayMs === undefined ? exhausted : null);
  return { ...search, attempts, stopped, nextAtMs: search.lastAtMs + (delayMs ?? 0) };
}

/** The next message, if there is one, and where it leads. */
interface NextMessage {
  readonly message: WebhookMessage | undefined;
  readonly next: MessagePosition;
}

type Position = SavedSearch & { readonly target: string };

const messageId = (...parts: readonly (string | null)[]): string =>
  `msg_${createHash("sha256").update(parts.join(" ")).digest("base64url")}`;

/** A page of changes, and when the version that they lead to was published. */
interface ChangesPage extends Pick<AnswerOf<"listChanges">, "data" | "pagination" | "meta"> {
  readonly publishedAtMs: number;
}

type ReadPage = (search: Position) => Promise<ChangesPage>;

/** Returns a function that reads the page of a position, charged to the key of the search, once for all attempts of a day. Messages of one page follow each other. */
function pageReader(services: MessageServices, signal: AbortSignal): ReadPage {
  let last: { readonly id: string; readonly page: ChangesPage } | undefined;
  return async (search) => {
    const { searchId, keyId, since, target, pageCursor: cursor } = search;
    const id = messageId(searchId, since, target, cursor);
    if (last?.id === id) return last.page;
    const caller = {
      identity: await services.accounts.identityOfKey(keyId),
      signal,
      idempotencyKey: id,
      arrivedAtMs: performance.now(),
      parentRequestId: searchId,
      log: services.logger,
    };
    const position = cursor === null ? `data_version=${target}` : `cursor=${cursor}`;
    const querystring = `${changesQuery(search)}&limit=${pageChangesMax}&${position}`;
    const request = { id: "listChanges", path: "/v1/changes", querystring } as const;
    const { body } = await services.callOperation(caller, request);
    const page = { ...body, publishedAtMs: await publishedAt(services, target) };
    last = { id, page };
    return page;
  };
}

const publishedAt = ({ current }: MessageServices, version: string): Promise<number> =>
  current.use(({ folder }) => publishedAtMs(folder, version));

/** Returns how many changes fit into a message: at least one of any. */
export function fittingChanges(changes: ChangesPage["data"]): number {
  let bytes = 0;
  const tooMany = changes.findIndex((change) => {
    bytes += Buffer.byteLength(JSON.stringify(change)) + 1;
    return bytes > changesBytesMax;
  });
  return tooMany === -1 ? changes.length : Math.max(1, tooMany);
}

/** Returns the changes that follow those which have been delivered, in a message. */
async function nextMessage(search: Position, readPage: ReadPage, services: MessageServices): Promise<NextMessage> {
  const { searchId: search_id, name, since, target, pageCursor, pageSent } = search;
  try {
    const { data: page, pagination, meta, publishedAtMs: atMs } = await readPage(search);
    const end = pageSent + fittingChanges(page.slice(pageSent));
    const after = pagination.next_cursor;
    const is_last = end === page.length && after === null;
    const reached =
      end < page.length
        ? { since, target, pageCursor, pageSent: end }
        : { since, target, pageCursor: after, pageSent: 0 };
    const next = is_last ? { since: target, target: null, pageCursor: null, pageSent: 0 } : reached;
    const data = {
      search_id,
      name,
      since,
      version: target,
      as_of: meta.as_of,
      is_last,
      changes: page.slice(pageSent, end),
    };
    const id = messageId(search_id, since, target, pageCursor, String(pageSent));
    return { next, message: page.length === 0 ? undefined : { id, type: "search.changed", atMs, data } };
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== "version_unavailable") throw thrown;
    const version = await publishedVersion(services);
    const data = { search_id, name, since, version };
    const id = messageId(search_id, since, version, "reset");
    const reset = { id, type: "search.reset", atMs: await publishedAt(services, version), data } as const;
    return { next: { since: version, target: null, pageCursor: null, pageSent: 0 }, message: reset };
  }
}

function logOutcome({ searchId, accountId }: SavedSearch, { id }: WebhookMessage, sent: Outcome, logger: Logger): void {
  const line = { search: searchId, account: accountId, message: id, outcome: sent.outcome };
  if (sent.isDelivered) logger.info(line, "webhook delivered");
  else logger.warn(line, "webhook failed");
}

/** How long the response to a message may take. */
const responseMs = 15_000;

interface WebhookMessage {
  /** The same for each repetition. */
  readonly id: string;
  readonly type: "search.changed" | "search.reset";
  /** When the version that it leads to was published. */
  readonly atMs: number;
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
  readonly account: string;
  /** Each `whsec_` and Base64. */
  readonly secrets: readonly string[];
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
  if (url.port === "0") return "an address whose port is not 0";
  if (url.username !== "" || url.password !== "") return "an address without a user name and a password";
  const host = hostOf(url);
  const isPrivate = isIP(host) !== 0 ? !isPublicAddress(host) : /(^|\.)localhost\.?$/.test(host);
  if (isPrivate && !arePrivateAllowed) return "a public address, because the operator does not allow private ones";
  return undefined;
}

/** Posts a message. Throws only if `signal` aborts. */
export async function postMessage(
  { url, account, secrets }: Receiver,
  { id, type, atMs: eventAtMs, data }: WebhookMessage,
  { atMs, signal, ...options }: WebhookOptions & { readonly atMs: number; readonly signal: AbortSignal },
): Promise<Outcome> {
  const body = JSON.stringify({ type, timestamp: new Date(eventAtMs).toISOString(), data });
  const seconds = Math.floor(atMs / 1000);
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Carquet",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((secret) => `v1,${signatureOf(`${id}.${seconds}.${body}`, secret)}`).join(" "),
    "Content-Length": String(Buffer.byteLength(body)),
  };
  const allowed = options.arePrivateAllowed ? { ...options, isAllowed: () => true } : options;
  try {
    const request = { account, method: "POST", headers, body, signal } as const;
    const limited = { deadlineMs: responseMs, ...allowed };
    const status = await requestPublic(new URL(url), request, limited, ({ statusCode = 0 }) => statusCode);
    return { isDelivered: status >= 200 && status < 300, isGone: status === 410, outcome: String(status) };
  } catch (thrown) {
    signal.throwIfAborted();
    return { isDelivered: false, isGone: false, outcome: messageOf(thrown) };
  }
}

const signatureOf = (content: string, secret: string): string =>
  createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(content)
    .digest("base64");
