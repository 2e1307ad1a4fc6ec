/**
 * Saved searches of the calling account: operations `listSearches`, `createSearch`, `deleteSearch`, `resumeSearch` and `rotateSearchSecret`, and most of them on pages. A search is
 * served without its secret, except when that is new.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Accounts, Identity } from "../accounts/accounts.ts";
import {
  accountSearchesMax,
  findSearch,
  listSearches,
  type SavedSearch,
  secretsOf,
} from "../accounts/administration/saved-searches.ts";
import { UserError } from "../base/user-error.ts";
import { decoderOf } from "../contract/decode.ts";
import { type Refusal, refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { AnswerOf, BodyOf, QueryOf } from "../contract/types.ts";
import { filtersOf } from "../query/filters.ts";
import { unmatchedIn } from "../query/unmatched.ts";
import type { CurrentVersion } from "../serving/current-version.ts";
import { redactApiKeys } from "./result.ts";

export interface AccountServices {
  readonly accounts: Accounts;
  readonly current: CurrentVersion;
  /** Returns what is expected of a webhook's URL, if it is not as expected. */
  readonly webhookFault: (url: string) => string | undefined;
}

type Served = AnswerOf<"resumeSearch">["data"];

export async function listSavedSearches({ key }: Identity, { accounts }: AccountServices): Promise<Served[]> {
  const searches = await accounts.administration.call(listSearches, key.accountId);
  return searches.map(servedSearch);
}

/** Saves a search; `meta` names values that the data has never had. Refuses one that `listChanges` would refuse, and more than an account can have. */
export async function saveSearch(
  { key: { accountId, keyId } }: Identity,
  { name, query = "", webhook_url: url }: BodyOf<"createSearch">,
  { accounts: { administration }, current, webhookFault }: AccountServices,
): Promise<AnswerOf<"createSearch">> {
  const { since, meta } = await current.use(async (version) => {
    const { version: since } = version.manifest;
    const changes = queryOf(query, since);
    filtersOf(changes, version.dimensions);
    const { unmatched = [] } = redactApiKeys(await unmatchedIn(changes, version));
    return { since, meta: { unmatched: [...unmatched] } };
  });
  const expected = url === undefined ? undefined : webhookFault(url);
  if (expected !== undefined) throw invalid("webhook_url", url, expected);
  const search = { accountId, keyId, name, query, url: url ?? null, since };
  const tooMany = invalid("name", name, `at most ${accountSearchesMax} saved searches of an account`);
  const created = await administration.change(accountId, "searches create", search).catch(refuseWith(tooMany));
  return { data: { ...servedSearch(created), secret: created.secret }, ...(meta.unmatched.length > 0 && { meta }) };
}

/** Changes a search of an account. Returns the changed or the deleted one, with its secret if that is new. */
export async function changeSearch(
  { key: { accountId } }: Identity,
  id: string,
  change: "delete" | "resume" | "rotate",
  { accounts }: AccountServices,
): Promise<Served> {
  const { administration } = accounts;
  const search = await administration.call(findSearch, id);
  const notFound = refuse("not_found", { what: "saved search", id });
  if (search?.accountId !== accountId) throw notFound;
  const changing = administration.change(accountId, `searches ${change}`, search);
  const changed = (await changing.catch(refuseWith(notFound))) ?? search;
  return { ...servedSearch(changed), ...(change === "rotate" && { secret: changed.secret }) };
}

/** Replaces the UserError of a change by a refusal. */
const refuseWith =
  (refusal: Refusal) =>
  (thrown: unknown): never => {
    throw thrown instanceof UserError ? refusal : thrown;
  };

/** Parameters of `listChanges` that messages set. */
const messageParameters = ["since", "data_version", "cursor", "limit"] as const;

/** Returns the changes that a query string asks for. Refuses parameters that `listChanges` does not have, and their invalid values. */
function queryOf(query: string, since: string): QueryOf<"listChanges"> {
  const named = new URLSearchParams(query);
  const set = messageParameters.find((name) => named.has(name));
  if (set !== undefined) throw invalid("query", query, `no parameter ${set}, which each message sets`);
  return decoderOf("listChanges")(changesQuery({ query, since }), {}).query;
}

const invalid = (parameter: string, value: string | undefined, allowed: string): Refusal =>
  refuse("invalid_parameter_value", { parameter, value: quoted(value), allowed, hint: "" });

/** Returns the query string of the changes of a search after a version, as a URL has it: what its author has not encoded is encoded. */
export const changesQuery = ({ query, since }: Pick<SavedSearch, "query" | "since">): string =>
  query === "" ? `since=${since}` : `${query.replaceAll(/[^!-~]|#/gu, encodeURIComponent)}&since=${since}`;

const feedSignature = (searchId: string, secret: string): Buffer =>
  createHmac("sha256", secret).update(`feed ${searchId}`).digest();

/** Returns the search whose feed a path names; undefined for a path that is not one of `feed_url`. */
export async function findFeed(name: string, { administration }: Accounts): Promise<SavedSearch | undefined> {
  const [searchId = "", signature = ""] = name.split(".");
  const search = await administration.call(findSearch, searchId);
  if (search === undefined) return undefined;
  const given = Buffer.from(signature, "base64url");
  const known = secretsOf(search, administration.nowMs).map((secret) => feedSignature(searchId, secret));
  return known.some((one) => given.length === one.length && timingSafeEqual(given, one)) ? search : undefined;
}

const timeOf = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());

/** Returns schema `SavedSearch`. */
export function servedSearch(search: SavedSearch): Served {
  const { searchId, name, query, url, secret, createdAtMs, since, stopped, attempts, messages, lastAtMs, lastOutcome } =
    search;
  return {
    search_id: searchId,
    name,
    query,
    webhook_url: url,
    created_at: new Date(createdAtMs).toISOString(),
    status: stopped === null ? "active" : "stopped",
    since,
    changes_url: `/v1/changes?${changesQuery(search)}`,
    feed_url: `/feeds/${searchId}.${feedSignature(searchId, secret).toString("base64url")}`,
    messages: {
      delivered: messages,
      failed_attempts: attempts,
      last_attempt_at: timeOf(lastAtMs),
      last_outcome: lastOutcome,
      next_attempt_at: attempts === 0 || stopped !== null ? null : timeOf(search.nextAtMs),
      stopped_because: stopped,
    },
  };
}
