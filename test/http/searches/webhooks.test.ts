/** Webhooks of saved searches: the messages, applied in order, lead from one market to the next, in spite of failures in between. */
import assert from "node:assert/strict";
import { rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SaxesParser } from "saxes";
import { Webhook } from "standardwebhooks";
import { plusDays } from "../../../src/base/day.ts";
import { isObject } from "../../../src/base/json.ts";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { type Sql, sql } from "../../../src/db/sql.ts";
import { fittingChanges } from "../../../src/http/searches/deliver.ts";
import { compareVersions, currentManifest, manifestPath, versionsIn } from "../../../src/lake/manifest.ts";
import { mountSite } from "../../../src/web/site.ts";
import { readInventory } from "../../oracle/answers/inventory.ts";
import {
  applyChanges,
  assertMirrors,
  changeFields,
  type ListingChange,
  mirrorOf,
  readMarket,
} from "../../oracle/compare/changes.ts";
import { randomFeeds } from "../../oracle/random-lake/feeds.ts";
import { createCustomer, inAccountsFile, temporaryAccounts } from "../../support/accounts.ts";
import { eventually } from "../../support/eventually.ts";
import { type Client, startService } from "../../support/http/service.ts";
import { vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { ajv, schemaAt } from "../../support/schemas.ts";
import { fileScope, onScopeEnd, type Scope } from "../../support/scope.ts";

const folder = await temporaryFolder(fileScope);
const lake = join(folder, "lake");
const feeds = join(folder, "feeds");
const days = randomFeeds({ seed: 20261128, days: 5, cars: 160 });
const publish = async (index: number): Promise<void> => {
  const { day = "", feeds: ofDay = {} } = days[index] ?? {};
  await ingestPath(lake, await writeFeeds(feeds, day, ofDay));
};
await publish(0);
await publish(1);

interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A message that arrived. */
interface Received extends Message {
  readonly status: Response;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Response = number | "none";

/** A receiver that verifies the messages, keeps them, and answers with the next of `responses`. */
async function startReceiver(scope: Scope) {
  const state = { secret: "", responses: [] as Response[], received: [] as Received[] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const status = state.responses.shift() ?? 204;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const bytes = Buffer.concat(chunks);
      const body = bytes.toString();
      const message = messageIn(new Webhook(state.secret).verify(body, headers));
      assert.deepEqual(messageFaults(message), []);
      state.received.push({ ...message, id: headers["webhook-id"] ?? "", status, bytes: bytes.length, headers, body });
      if (status !== "none") response.writeHead(status, { Location: "/elsewhere" }).end("ignored");
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onScopeEnd(scope, async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const delivered = (): readonly Message[] => state.received.filter(({ status }) => status === 204);
  return Object.assign(state, { url, delivered });
}

function messageIn(value: unknown): Omit<Message, "id"> {
  assert.ok(isObject(value) && isObject(value.data), JSON.stringify(value));
  return { type: String(value.type), timestamp: String(value.timestamp), data: value.data };
}

/** Validates messages as the document describes its webhook. */
const validate = ajv.compile(
  schemaAt("webhooks", "searchMessage", "post", "requestBody", "content", "application/json", "schema"),
);
const messageFaults = (message: object): readonly unknown[] => (validate(message) ? [] : (validate.errors ?? []));

const changesIn = (messages: readonly Message[]): readonly ListingChange[] =>
  messages.flatMap(({ data }) => data.changes as readonly ListingChange[]);

/** The time of the services, which a test advances past the pauses between attempts: it is slow, so that no pause ends before. */
const clock = {
  aheadMs: Date.now(),
  wallMs: () => clock.aheadMs + Math.round(performance.now() / 2),
  monotonicMs: () => performance.now(),
};

const accounts = await temporaryAccounts(fileScope, "SQLite");
const start = (scope: Scope): Promise<Client> => startService(scope, lake, { accounts, clock, privateWebhooks: true });

type Change = AnswerOf<"listChanges">["data"][number];
type Saved = AnswerOf<"createSearch">["data"];

const customer = await createCustomer(accounts);

async function send(client: Client, method: string, path: string, body?: object) {
  const headers = { ...customer.bearer };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${client.url}${path}`, { method, headers, ...sent });
  const answer: unknown = await response.json();
  assert.ok(isObject(answer));
  return {
    status: response.status,
    data: answer.data as Saved,
    message: isObject(answer.error) ? answer.error.message : "",
  };
}

const search = async (client: Client): Promise<Saved> => {
  const { data } = await send(client, "GET", "/v1/searches");
  const [first] = data as unknown as readonly Saved[];
  return first ?? assert.fail("no search");
};

/** Waits for a state of the search that only a poll of the service changes, hence without hurry. */
const until = (what: string, client: Client, isReached: (saved: Saved) => boolean): Promise<void> =>
  eventually(what, async () => {
    await sleep(100);
    return isReached(await search(client));
  });

test("messages lead from market to market across failures, restarts, a gone receiver and a version that is no longer kept", async (t) => {
  const receiver = await startReceiver(t);
  const first = await startService(fileScope, lake, { accounts, clock, privateWebhooks: true });
  const saved = await send(first, "POST", "/v1/searches", {
    name: "All",
    query: `fields=${changeFields}`,
    webhook_url: receiver.url,
  });
  assert.equal(saved.status, 200);
  receiver.secret = saved.data.secret ?? "";
  const reached = async (client: Client): Promise<void> => {
    const newest = [...(await versionsIn(lake))].sort(compareVersions).at(-1);
    await until("all delivered", client, ({ since }) => since === newest);
  };

  // Failures repeat a message with its id, before the next one is sent.
  receiver.responses.push(500, 302, 204);
  await publish(2);
  for (const [attempts, pauseMs] of [
    [1, 5_000],
    [2, 300_000],
  ] as const) {
    await until("a failure", first, ({ messages }) => messages.failed_attempts === attempts);
    const { last_attempt_at: last, next_attempt_at: next } = (await search(first)).messages;
    assert.equal(Date.parse(next ?? "") - Date.parse(last ?? ""), pauseMs);
    await sleep(50);
    assert.equal(receiver.received.length, attempts, "repeated after the pause only");
    clock.aheadMs += 5_000;
  }
  await send(first, "POST", `/v1/searches/${saved.data.search_id}/resume`);
  await reached(first);
  const pages = receiver.delivered().length;
  assert.ok(pages > 1, `${pages} messages`);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, pages, "ids of repeated messages");
  const [posted, repeated] = receiver.received;
  assert.deepEqual([repeated?.status, repeated?.body], [302, posted?.body]);
  assert.notEqual(repeated?.headers["webhook-timestamp"], posted?.headers["webhook-timestamp"], "of its attempt");
  const published = await stat(manifestPath(lake, String(posted?.data.version)));
  assert.equal(posted?.timestamp, published.mtime.toISOString());

  // A new secret: messages have two signatures for a day.
  const rotated = await send(first, "POST", `/v1/searches/${saved.data.search_id}/rotate`);
  assert.notEqual(rotated.data.secret, receiver.secret);
  for (const path of [saved.data.feed_url, rotated.data.feed_url])
    assert.equal((await fetch(`${first.url}${path}`)).status, 200);

  // A receiver that is gone ends the messages; two versions later they go on with the message that it refused.
  receiver.responses.push(204, 410);
  await publish(3);
  await until("stopped", first, ({ status }) => status === "stopped");
  assert.match((await search(first)).messages.stopped_because ?? "", /gone \(410\)/);
  const { body, headers } = receiver.received.at(-1) ?? assert.fail("no message");
  assert.equal(headers["webhook-signature"]?.split(" ").length, 2);
  receiver.secret = rotated.data.secret ?? "";
  new Webhook(receiver.secret).verify(body, headers);
  await inAccountsFile(accounts, (database) => void database.run(sql`UPDATE saved_searches SET old_until_ms = 0`));
  await publish(4);
  receiver.responses.push("none");
  const { message: _, ...resumed } = await send(first, "POST", `/v1/searches/${saved.data.search_id}/resume`);
  assert.deepEqual([resumed.status, resumed.data.status], [200, "active"]);

  // A service that stops while a message is on its way repeats it after its restart.
  await eventually("a message without a response", async () => receiver.received.at(-1)?.status === "none");
  await first.stop();
  const second = await start(t);
  await reached(second);
  assert.equal(receiver.received.filter(({ id }) => id === receiver.received.at(pages + 3)?.id).length, 3);

  const versions = [...(await versionsIn(lake))].sort(compareVersions);
  const from = versions[1] ?? "";
  const to = versions.at(-1) ?? "";
  const newest = await readInventory(lake, [to.slice(0, 10)]);
  const mirror = mirrorOf(await readMarket(t, lake, from, newest));
  applyChanges(mirror, changesIn(receiver.delivered()));
  assertMirrors(mirror, await readMarket(t, lake, to, newest), "all messages in order");
  const lasts = receiver.delivered().filter(({ data }) => data.is_last === true);
  assert.deepEqual(
    lasts.map(({ data }) => [data.since, data.version]),
    versions.slice(2).map((version, index) => [versions[index + 1], version]),
  );

  for (const { bytes, data } of receiver.received)
    assert.ok(bytes < 20_000 || (data.changes as readonly unknown[]).length === 1, `${bytes} bytes`);
  const last = receiver.delivered().at(-1);
  assert.equal(receiver.received.find(({ id }) => id === last?.id)?.headers["webhook-signature"]?.split(" ").length, 1);
  assert.equal((await fetch(`${second.url}${saved.data.feed_url}`)).status, 404, "the feed of the old secret");

  // Each page is charged once, however many messages it takes, and however often they were posted; so is the feed that was read.
  const usage = await (await fetch(`${second.url}/v1/usage`, { headers: customer.bearer })).json();
  assert.ok(isObject(usage) && Array.isArray(usage.data));
  const charged = usage.data.filter((row: { metering_class: string }) => row.metering_class === "listing_changes");
  const requests = charged.reduce((sum: number, row: { charged_micros: number }) => sum + row.charged_micros, 0) / 5000;
  assert.equal(requests, (await pagesOf(second, versions.slice(1))) + 1);

  const feed = await assertFeed(second, saved.data);
  // A search that changes lead out of.
  const cheap = await send(second, "POST", "/v1/searches", { name: "Cheap", query: "max_price=25000" });
  await assertFeed(second, cheap.data);
  await assertWeek(second, rotated.data.feed_url);

  // A version that is no longer kept: the receiver is asked to read the search again.
  receiver.responses.push(410);
  const replayed = await writeFeeds(join(folder, "replayed"), days[4]?.day ?? "", days[3]?.feeds ?? {});
  await ingestPath(lake, replayed, { replayFrom: days[4]?.day ?? "" });
  await until("stopped", second, ({ status }) => status === "stopped");
  await rm(manifestPath(lake, to));
  await second.stop();
  const third = await start(t);
  await send(third, "POST", `/v1/searches/${saved.data.search_id}/resume`);
  await reached(third);
  const again = await fetch(`${third.url}${rotated.data.feed_url}`, { headers: { "If-None-Match": feed } });
  assert.equal(again.status, 200, "another version");
  const reset = receiver.delivered().at(-1);
  assert.deepEqual(
    [reset?.type, reset?.data.since, reset?.data.version],
    ["search.reset", to, (await search(third)).since],
  );
  assert.notEqual(reset?.id, receiver.received.at(-2)?.id, "the message that was refused has the same versions");

  assert.equal((await send(third, "DELETE", `/v1/searches/${saved.data.search_id}`)).status, 200);
  assert.equal((await send(third, "DELETE", `/v1/searches/${saved.data.search_id}`)).status, 404);
});

/** Returns how many pages the changes from each version to the next have; reads them by another account. */
async function pagesOf(client: Client, versions: readonly string[]): Promise<number> {
  let pages = 0;
  for (const [index, version] of versions.slice(1).entries()) {
    const path = `/v1/changes?since=${versions[index]}&data_version=${version}&fields=${changeFields}&limit=1000`;
    for (let next: string | null = ""; next !== null; pages += 1) {
      const page: AnswerOf<"listChanges"> = await client.getBody("listChanges", `${path}${next}`);
      const after = page.pagination.next_cursor;
      next = after === null ? null : `&cursor=${after}`;
    }
  }
  return pages;
}

/** Checks that a feed is of the published day and the seven days before: a version without files says that it is read. */
async function assertWeek(client: Client, feedUrl: string): Promise<void> {
  const asOf = (await currentManifest(lake))?.as_of ?? "";
  for (const [daysBefore, isRead] of [
    [8, false],
    [7, true],
  ] as const) {
    const path = manifestPath(lake, `${plusDays(asOf, -daysBefore)}.1`);
    await writeFile(path, "{}");
    const answer = await fetch(`${client.url}${feedUrl}`);
    assert.equal(answer.status !== 200, isRead, `${path}: ${answer.status} ${await answer.text()}`);
    await rm(path);
  }
}

/** What the title of an entry says of a change. */
function titleOf({ kind, listing, before, after, matches }: Change): string {
  const { year, make, model, trim, price } = { ...listing };
  const named = [year, make, model, trim].filter((word) => word !== null && word !== undefined).join(" ");
  const dollars = (value: unknown): string => `$${Number(value).toLocaleString("en-US")}`;
  const is = after.price ?? price;
  const prices = [...(kind === "price" ? [before.price] : []), is].filter((value) => typeof value === "number");
  const parts = [named, prices.map(dollars).join(" to "), ...(matches ? [] : ["no longer in the search"])];
  return `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${parts.filter((part) => part !== "").join(", ")}`;
}

/** Checks an Atom feed against the changes of the API: the newest hundred, newest first, without an API key. Returns its entity tag. */
async function assertFeed(client: Client, { search_id, changes_url }: Saved): Promise<string> {
  const { data: saved } = await send(client, "GET", "/v1/searches");
  const { name, feed_url } =
    (saved as unknown as readonly Saved[]).find((one) => one.search_id === search_id) ?? assert.fail("no search");
  const read = (path: string, headers: Record<string, string> = {}) => fetch(`${client.url}${path}`, { headers });
  const response = await read(feed_url);
  assert.deepEqual([response.status, response.headers.get("Content-Type")], [200, "application/atom+xml"]);
  const tags: { readonly name: string; readonly text: string }[] = [];
  const parser = new SaxesParser();
  const texts: string[] = [];
  parser.on("text", (text) => texts.push(text));
  parser.on("closetag", ({ name }) => tags.push({ name, text: texts.splice(0).join("") }));
  parser.write(await response.text()).close();
  const kept = [...(await versionsIn(lake))].sort(compareVersions);
  const oldest = kept.find((version) => version >= plusDays(kept.at(-1)?.slice(0, 10) ?? "", -7));
  const fields = "id,year,make,model,trim,price";
  const since = changes_url
    .replace(/fields=[^&]*&/, "")
    .replace(/since=.*/, `since=${oldest}&limit=1000&fields=${fields}`);
  const { data } = await client.getBody("listChanges", since);
  const newest = data.toReversed().slice(0, 100);
  const textsIn = (wanted: string): readonly string[] =>
    tags.flatMap(({ name, text }) => (name === wanted ? text : []));
  assert.deepEqual(
    textsIn("id").filter((text) => text.startsWith("urn:carquet:")),
    newest.map(({ id, day, kind }) => `urn:carquet:${search_id}:${id}:${day}:${kind}`),
  );
  assert.deepEqual(textsIn("title").toSorted(), [name, ...newest.map(titleOf)].toSorted());
  assert.equal(textsIn("updated")[0], `${newest[0]?.day}T00:00:00Z`);
  assert.equal(response.headers.get("Cache-Control"), "private, no-cache");
  const tag = response.headers.get("ETag") ?? "";
  assert.equal((await read(feed_url, { "If-None-Match": tag })).status, 304);
  const forged = `${feed_url.slice(0, -4)}AAAA`;
  for (const path of [forged, "/feeds/x", `/feeds/${search_id}.`]) assert.equal((await read(path)).status, 404, path);
  return tag;
}

test("searches that cannot be delivered are refused, and say what is expected", async (t) => {
  const client = await startService(t, lake, { accounts });
  const cases: readonly (readonly [body: object, message: RegExp])[] = [
    [{}, /Missing parameter name/],
    [{ name: "" }, /name: expected 1 to 80 characters/],
    [{ name: "a", query: "colour=red" }, /Unknown query parameter colour/],
    [{ name: "a", query: "since=2026-11-19.1" }, /query: expected no parameter since/],
    [{ name: "a", query: "min_price=x" }, /min_price/],
    [{ name: "a", query: "min_price=30000&max_price=20000" }, /minimum 30000 is above the maximum 20000/],
    [{ name: "a", query: "radius=50" }, /radius requires an origin/],
    [{ name: "a", query: "postal_code=00000" }, /00000/],
    [{ name: "a", webhook_url: "http://shop.example/hook" }, /webhook_url: expected an https address/],
    [{ name: "a", webhook_url: "https://shop.example:0/hook" }, /webhook_url: expected an address whose port is not 0/],
    ...["u:p", "u", ":p"].map(
      (user) =>
        [
          { name: "a", webhook_url: `https://${user}@shop.example/hook` },
          /without a user name and a password/,
        ] as const,
    ),
    ...[
      "https://10.1.2.3/",
      "https://[::1]/",
      "https://localhost/",
      "https://api.localhost./",
      "https://169.254.169.254/",
    ].map((webhook_url) => [{ name: "a", webhook_url }, /expected a public address/] as const),
    [{ name: "a", x: 1 }, /property x/],
  ];
  for (const [body, message] of cases) {
    const { status, message: actual } = await send(client, "POST", "/v1/searches", body);
    assert.deepEqual([status, message.test(String(actual))], [400, true], `${JSON.stringify(body)}: ${actual}`);
  }
  const answer = await fetch(`${client.url}/v1/searches`, {
    method: "POST",
    headers: customer.bearer,
    body: JSON.stringify({ name: "a", query: "make=Toyta" }),
  });
  const { meta } = (await answer.json()) as AnswerOf<"createSearch">;
  assert.deepEqual(
    meta?.unmatched?.map(({ parameter, value }) => [parameter, value]),
    [["make", "Toyta"]],
  );
  const long = await send(client, "POST", "/v1/searches", { name: "a", query: "x".repeat(9000) });
  assert.equal(long.status, 413);
  assert.equal((await send(client, "POST", "/v1/searches/00000000-0000-4000-8000-000000000000/resume")).status, 404);

  await t.test("guesses of a feed's address are as limited as those of keys", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 101; count += 1)
      statuses.push((await fetch(`${client.url}/feeds/guess.${count}`)).status);
    assert.deepEqual([new Set(statuses.slice(0, 100)), statuses.at(-1)], [new Set([404]), 429]);
  });
});

test("a message holds changes up to 19,400 bytes, or one that is larger", () => {
  const change = (bytes: number) => ({ vin: "x".repeat(bytes - '{"vin":""},'.length) }) as unknown as Change;
  assert.equal(Buffer.byteLength(`${JSON.stringify(change(100))},`), 100);
  assert.equal(fittingChanges([change(10_000), change(9_400), change(100)]), 2);
  assert.equal(fittingChanges([change(10_000), change(9_401), change(100)]), 1);
  assert.equal(fittingChanges([change(30_000), change(100)]), 1);
});

test("a message whose delivery could not be recorded is repeated, and is no other one after another version is published", async (t) => {
  const ownFolder = await temporaryFolder(t);
  const ownLake = join(ownFolder, "lake");
  // A change with these is larger than a message.
  const photo_urls = Array.from({ length: 300 }, (_, n) => `https://photos.example/${"x".repeat(60)}/${n}`).join("|");
  // Within a week, which a feed is of.
  const dayOf = (index: number): string => plusDays("2026-06-01", index);
  const publishDay = async (index: number): Promise<void> => {
    const { feeds: ofDay = {} } = days[index] ?? {};
    const [car] = ofDay.inventory ?? [];
    const inventory = [...(ofDay.inventory ?? []), { ...car, vin: vinOf(1), photo_urls }];
    const delivered = index === 1 ? { ...ofDay, inventory } : ofDay;
    await ingestPath(ownLake, await writeFeeds(join(ownFolder, "feeds"), dayOf(index), delivered));
  };
  await publishDay(0);
  const client = await startService(t, ownLake, {
    clock,
    privateWebhooks: true,
    metricsPort: 0,
    // Feeds read pages of few changes.
    mountSite: (app, services) =>
      mountSite(app, {
        ...services,
        callOperation: (caller, request) =>
          services.callOperation(caller, {
            ...request,
            querystring: request.querystring.replace("limit=1000", "limit=5"),
          }),
      }),
  });
  const receiver = await startReceiver(t);
  const { bearer } = client.customer;
  const body = JSON.stringify({ name: "all", query: "fields=id,photo_urls", webhook_url: receiver.url });
  const response = await fetch(`${client.url}/v1/searches`, { method: "POST", headers: bearer, body });
  const { secret = "", feed_url, search_id } = ((await response.json()) as { data: Saved }).data;
  receiver.secret = secret;
  const readPages = async (): Promise<number> => {
    const metrics = await (await fetch(client.metricsUrl ?? "")).text();
    const counted =
      /^carquet_internal_operation_duration_seconds_count\{operation="listChanges",caller="tool",status="200"\} (\d+)$/m.exec(
        metrics,
      );
    return Number(counted?.[1] ?? 0);
  };
  const readFeed = async (): Promise<string> => (await fetch(`${client.url}${feed_url}`)).text();
  assert.match(await readFeed(), /<updated>.*T00:00:00Z<\/updated>/);
  assert.equal(await readPages(), 0, "the feed of a lake's first version has no changes to read");
  const change = (statement: Sql): Promise<number> =>
    inAccountsFile(client.accounts, (database) => database.run(statement));
  await change(sql`
    CREATE TRIGGER unrecorded BEFORE UPDATE OF messages ON saved_searches WHEN NEW.messages > OLD.messages
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
  await publishDay(1);
  await eventually("a message", async () => receiver.received.length === 1);
  await publishDay(2);
  const served = async () => (await client.getBody("searchListings", "/v1/listings?limit=1")).meta.data_version;
  await eventually("the next version", async () => (await served()).startsWith(dayOf(2)));
  await change(sql`DROP TRIGGER unrecorded`);
  clock.aheadMs += 60_000;
  const versions = (): readonly string[] => receiver.received.map(({ data }) => `${data.since} ${data.version}`);
  await eventually(
    "the messages of both versions",
    async () =>
      versions()
        .at(-1)
        ?.endsWith(await served()) === true,
  );
  const [first, repeated] = receiver.received;
  assert.deepEqual([repeated?.id, repeated?.data], [first?.id, first?.data]);
  const [before, between, last] = [...(await versionsIn(ownLake))].sort(compareVersions);
  assert.deepEqual([...new Set(versions())], [`${before} ${between}`, `${between} ${last}`]);
  const sizes = receiver.received.map(
    ({ bytes, data }) => [bytes > 20_000, (data.changes as readonly unknown[]).length] as const,
  );
  assert.ok(
    sizes.some(([isLarge]) => isLarge) && sizes.every(([isLarge, changes]) => (isLarge ? changes === 1 : changes > 0)),
  );
  assert.ok(receiver.received.length > 4, `${receiver.received.length} messages`);
  assert.equal(await readPages(), 3, "each page is read once for its messages, and again after the failure");

  // A feed of more changes than a page is of those of the last version.
  const path = `/v1/changes?since=${between}&limit=5&fields=id`;
  const newest = (await client.getBody("listChanges", path)).data.toReversed();
  assert.deepEqual(
    (await readFeed()).match(/urn:carquet:[^<]+/g),
    newest.map(({ id, day, kind }) => `urn:carquet:${search_id}:${id}:${day}:${kind}`),
  );
});
