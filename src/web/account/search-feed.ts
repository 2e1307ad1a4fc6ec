/** The Atom feed of a saved search: the last week's changes, newest first. Its path holds a signature instead of an API key, because feed readers have none. */
import { h, type VNode } from "preact";
import { render } from "preact-render-to-string";
import type { SavedSearch } from "../../accounts/administration/saved-searches.ts";
import { clientNetwork } from "../../base/client-network.ts";
import { plusDays } from "../../base/day.ts";
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf } from "../../contract/types.ts";
import { clientSignal, type Middleware, type RequestContext } from "../../http/context.ts";
import { isNotModified } from "../../http/responses/headers.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { compareVersions, versionsIn } from "../../lake/manifest.ts";
import { entityTag } from "../../operations/representation.ts";
import { changesQuery, findFeed } from "../../operations/saved-searches.ts";
import { dollars } from "../shell/format.ts";
import { publicOrigin } from "../shell/pages.tsx";

type Change = AnswerOf<"listChanges">["data"][number];

/** The days, the changes that are read, and those that are entries. */
const feedDays = 7;
const changesMax = 1_000;
const describedFields = "year,make,model,trim,price";
const entriesMax = 100;

/** Serves the feed that a path names. Refuses others with `not_found`; they count as failed authentications of the client's network. */
export const searchFeed =
  (services: SiteServices): Middleware =>
  async (context) => {
    const { accounts, current } = services;
    const name = String(context.params.feed);
    const search = await findFeed(name, accounts);
    if (search === undefined) {
      accounts.countFailure(clientNetwork(context.ip));
      throw refuse("not_found", { what: "feed", id: name });
    }
    const { version, asOf, folder } = await current.use(async ({ manifest, folder }) => {
      return { version: manifest.version, asOf: manifest.as_of, folder };
    });
    context.set("Cache-Control", "private, no-cache");
    if (isNotModified(context, entityTag(`${name} ${version}`))) {
      context.status = 304;
      return;
    }
    const older = (await versionsIn(folder)).filter((one) => compareVersions(one, version) < 0);
    const recent = older.sort(compareVersions).filter((one) => one >= plusDays(asOf, -feedDays));
    const changes = await recentChanges(search, recent, { context, services, version });
    context.type = "application/atom+xml";
    context.body = `<?xml version="1.0" encoding="utf-8"?>\n${render(feedOf(search, changes, { origin: publicOrigin(context, services), path: context.path, asOf }))}`;
  };

interface FeedRequest {
  readonly context: RequestContext;
  readonly services: SiteServices;
  readonly version: string;
}

/** Returns the changes since the oldest of some versions, newest first; since the newest one, if there are more than a page of them. */
async function recentChanges(
  search: SavedSearch,
  versions: readonly string[],
  request: FeedRequest,
): Promise<readonly Change[]> {
  const oldest = versions[0];
  const newest = versions.at(-1);
  if (oldest === undefined || newest === undefined) return [];
  const week = await changesSince({ ...search, since: oldest }, request);
  const isComplete = week.pagination.next_cursor === null || oldest === newest;
  const { data } = isComplete ? week : await changesSince({ ...search, since: newest }, request);
  return data.toReversed();
}

/** Returns a page of changes, charged to the key of the search, once a day. */
async function changesSince(
  search: SavedSearch,
  { context, services, version }: FeedRequest,
): Promise<AnswerOf<"listChanges">> {
  const { requestId: parentRequestId, log, arrivedAtMs } = context.state;
  const identity = await services.accounts.identityOfKey(search.keyId);
  const caller = {
    identity,
    parentRequestId,
    log,
    arrivedAtMs,
    signal: clientSignal(context),
    idempotencyKey: `atom-${search.searchId}-${search.since}-${version}`,
  };
  const query = new URLSearchParams(changesQuery(search));
  query.set("fields", describedFields);
  query.set("limit", String(changesMax));
  query.set("data_version", version);
  const request = { id: "listChanges", path: "/v1/changes", querystring: query.toString() } as const;
  return (await services.callOperation(caller, request)).body;
}

const element = (name: string, ...children: readonly (VNode | string)[]): VNode => h(name, null, ...children);

const timeOf = (day: string): string => `${day}T00:00:00Z`;

/** Returns a feed as RFC 4287 defines it. */
function feedOf(
  { searchId, name }: SavedSearch,
  changes: readonly Change[],
  { origin, path, asOf }: { readonly origin: string; readonly path: string; readonly asOf: string },
): VNode {
  const entries = changes.slice(0, entriesMax).map((change) => {
    const { id, vin, day, kind } = change;
    const text = describe(change);
    return h(
      "entry",
      null,
      element("id", `urn:carquet:${searchId}:${id}:${day}:${kind}`),
      element("title", text),
      element("updated", timeOf(day)),
      h("link", { rel: "alternate", type: "text/html", href: `${origin}/listings/${id}` }),
      element("summary", `${text}. VIN ${vin}`),
    );
  });
  return h(
    "feed",
    { xmlns: "http://www.w3.org/2005/Atom" },
    element("id", `urn:uuid:${searchId}`),
    element("title", name),
    element("updated", timeOf(changes[0]?.day ?? asOf)),
    element("author", element("name", "Carquet")),
    h("link", { rel: "self", type: "application/atom+xml", href: `${origin}${path}` }),
    ...entries,
  );
}

/** Describes a change in a line: what happened, to which vehicle, and its price. */
function describe({ kind, vin, listing, before, after, matches }: Change): string {
  const named = [listing?.year, listing?.make, listing?.model, listing?.trim].filter((word) => word != null).join(" ");
  const was = before.price;
  const is = after.price ?? listing?.price;
  const prices = kind === "price" ? [was, is] : [is];
  const price = prices.flatMap((value) => (typeof value === "number" ? [dollars(value)] : [])).join(" to ");
  const parts = [named === "" ? `VIN ${vin}` : named, price, matches ? "" : "no longer in the search"];
  return `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${parts.filter((part) => part !== "").join(", ")}`;
}
