/** The change feed between kept versions of a random lake, some of whose days were ingested again, against an oracle in plain JavaScript. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { plusDays } from "../../src/base/day.ts";
import { isObject } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operation } from "../../src/contract/document.ts";
import { join as joinSql, sql } from "../../src/db/sql.ts";
import { compareVersions, versionsIn } from "../../src/lake/manifest.ts";
import { activeOn, unorderedListings } from "../../src/lake/market.ts";
import { matchesAll } from "../../src/query/changes/matching.ts";
import { filtersOf } from "../../src/query/filters.ts";
import { filterOf } from "../oracle/answers/filters.ts";
import { readInventory } from "../oracle/answers/inventory.ts";
import {
  applyChanges,
  assertMirrors,
  changeFields,
  expectedChanges,
  type ListingChange,
  mirrorOf,
  readMarket,
  type VersionMarket,
} from "../oracle/compare/changes.ts";
import { randomFeeds } from "../oracle/random-lake/feeds.ts";
import { draws } from "../oracle/random-requests/parameters.ts";
import type { Query } from "../oracle/random-requests/query.ts";
import { randomFilters } from "../oracle/random-requests/requests.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, type FeedRow, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const [cars, randomQueries] = extentOf([80, 1], [600, 40]);
const extent = { seed: 20261127, days: 4, cars };
const replayedFeeds = 2;
/** Without serving files, changes are read from the tables. The last version has some. */
const noServingFiles = { hasServingFiles: false };

/** Every day in a version; then the last days again, from feeds without some cars and with other prices; then one more day. */
const feeds = await temporaryFolder(fileScope);
const days = withIntermittentCar(randomFeeds(extent));
for (const { day, feeds: ofDay } of days) await writeFeeds(feeds, day, ofDay);
const { lake } = await createLake(fileScope, feeds, noServingFiles);
const corrected = await temporaryFolder(fileScope);
for (const { day, feeds: ofDay } of days.slice(-replayedFeeds)) {
  const inventory = (ofDay.inventory ?? []).flatMap((row, index) =>
    index % 9 === 4 ? [] : [index % 7 === 2 ? { ...row, price: 100 * (index + 1) } : row],
  );
  await writeFeeds(corrected, day, { ...ofDay, inventory });
}
const replayFrom = days.at(-replayedFeeds)?.day ?? "";
await ingestPath(lake, corrected, { ...noServingFiles, replayFrom });
const nextDay = plusDays(days.at(-1)?.day ?? "", 1);
await ingestPath(lake, await writeFeeds(join(corrected, "next"), nextDay, days.at(-1)?.feeds ?? {}));

const versions = [...(await versionsIn(lake))].sort(compareVersions);
const newest = await readInventory(lake, [nextDay]);
const markets = new Map<string, VersionMarket>();
async function marketOf(version: string): Promise<VersionMarket> {
  const market = markets.get(version) ?? (await readMarket(fileScope, lake, version, newest));
  markets.set(version, market);
  return market;
}
const client = await startService(fileScope, lake);

/** Returns all changes from a version to another, read in pages. */
async function changes(since: string, version: string, query: Query, limit = 1000): Promise<readonly ListingChange[]> {
  const filters = [...query].map(([name, value]) => `&${name}=${value}`).join("");
  const path = `/v1/changes?since=${since}&data_version=${version}&fields=${changeFields}&limit=${limit}${filters}`;
  const found: ListingChange[] = [];
  for (let cursor = ""; ; ) {
    const { data, pagination } = await client.getBody("listChanges", `${path}${cursor}`);
    found.push(...data);
    if (pagination.next_cursor === null) return found;
    assert.ok(data.length > 0 && data.length <= limit);
    cursor = `&cursor=${pagination.next_cursor}`;
  }
}

test("a cursor whose day is none is refused as one of another request is", async () => {
  const path = `/v1/changes?since=${versions[0]}&limit=1`;
  const { pagination } = await client.getBody("listChanges", path);
  const cursor = Buffer.from(pagination.next_cursor ?? "", "base64url").toString();
  const changed = cursor.replace(/\d{4}-\d\d-\d\d(?= [0-9a-f]{32}$)/, "2026-02-31");
  assert.notEqual(changed, cursor);
  const { status, code } = await client.getError(`${path}&cursor=${Buffer.from(changed).toString("base64url")}`);
  assert.deepEqual([status, code], [400, "invalid_parameter_value"]);
});

const none: Query = new Map();
const [first = "", second = "", third = "", fourth = "", replayed = "", last = ""] = versions;
/** Each from the one before it; the third continues the second one only until days were ingested again. */
const steps = [
  [first, third],
  [third, fourth],
  [fourth, replayed],
  [replayed, last],
] as const;
const pairs = [...steps, [second, replayed], [third, last], [first, last]] as const;

const feedsOfPairs = new Map<string, Promise<readonly ListingChange[]>>();
function allChanges(since: string, version: string): Promise<readonly ListingChange[]> {
  const known = feedsOfPairs.get(`${since} ${version}`) ?? changes(since, version, none);
  feedsOfPairs.set(`${since} ${version}`, known);
  return known;
}

/** Removes a car from every second day: it is missing in two versions, and active in the one between them. */
function withIntermittentCar(all: ReturnType<typeof randomFeeds>): ReturnType<typeof randomFeeds> {
  const count = (rows: readonly FeedRow[], car: FeedRow): number => rows.filter(({ vin }) => vin === car.vin).length;
  const inventories = all.map(({ feeds: ofDay }) => ofDay.inventory ?? []);
  const car = inventories[0]?.find((row) => inventories.every((rows) => count(rows, row) === 1));
  assert.ok(car);
  return all.map(({ day, feeds: ofDay }, index) => {
    const inventory = (ofDay.inventory ?? []).filter(({ vin }) => index % 2 === 0 || vin !== car.vin);
    return { day, feeds: { ...ofDay, inventory } };
  });
}

test("the lake has a version for each day, one that replays the last days, and one more", () => {
  assert.equal(versions.length, extent.days + 2);
  assert.ok(replayed.startsWith(days.at(-1)?.day ?? "?") && last.startsWith(nextDay));
});

test("the changes between two versions are those of the definition, and applied to the older market yield the newer", async () => {
  const kinds = new Set<string>();
  for (const [since, version] of pairs) {
    const before = await marketOf(since);
    const after = await marketOf(version);
    const found = await allChanges(since, version);
    const message = `${since} to ${version}`;
    const mirror = mirrorOf(before);
    applyChanges(mirror, found);
    assertMirrors(mirror, after, message);
    assert.deepEqual(summary(found), expectedChanges(before, after, none), message);
    assert.deepEqual(found, found.toSorted(inOrderOfFeed), message);
    for (const { kind } of found) kinds.add(kind);
    assertNamed(found, before, message);
  }
  assert.deepEqual([...kinds].sort(), ["changed", "ended", "missing", "new", "price", "removed", "returned", "sold"]);
});

/** What stays the same while a listing is missing. */
const namingFields = ["id", "vin", "year", "make", "model", "trim", "dealer_id", "listed_at"] as const;

/** Checks that each change has the last known row: of listings that have left, what names it is that of the older version; all of it, if it was removed. */
function assertNamed(found: readonly ListingChange[], before: VersionMarket, message: string): void {
  for (const { id, kind, state, listing } of found) {
    const row = listing ?? assert.fail(`${message}: ${kind} ${id} without a listing`);
    const older = before.rows.get(id) as Readonly<Record<string, unknown>> | undefined;
    if (older === undefined || state === "active" || state === "sold") continue;
    assert.equal(row.status, older.status, message);
    const names = kind === "removed" ? Object.keys(older) : namingFields;
    for (const name of names) assert.deepEqual(row[name as "id"], older[name], `${message}: ${kind} ${id} ${name}`);
  }
}

const inOrderOfFeed = (one: ListingChange, other: ListingChange): number =>
  `${one.day} ${one.id}` < `${other.day} ${other.id}` ? -1 : 1;

const summary = (found: readonly ListingChange[]) =>
  found
    .map(({ id, kind, state_before, state, matched_before, matches }) => ({
      id,
      kind,
      state_before,
      state,
      matched_before,
      matches,
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));

test("attributes before and after are those of the two markets", async () => {
  const before = await marketOf(third);
  const after = await marketOf(last);
  let compared = 0;
  for (const change of await allChanges(third, last)) {
    for (const [side, market] of [
      [change.before, before],
      [change.after, after],
    ] as const)
      for (const [name, value] of Object.entries(side)) {
        const flat: Readonly<Record<string, unknown>> = { ...market.listings.get(change.id)?.flat };
        if (flat[name] === undefined) continue;
        assert.deepEqual(value ?? null, flat[name] ?? null, `${change.id} ${name}`);
        compared += 1;
      }
    assert.equal(Object.keys(change.before).length > 0, change.state === change.state_before);
  }
  assert.ok(compared > 20, `${compared} values`);
});

test("a feed in small pages is the feed in one, and feeds compose", async () => {
  const whole = await allChanges(first, last);
  assert.deepEqual(await changes(first, last, none, Math.ceil(whole.length / 3)), whole);
  const mirror = mirrorOf(await marketOf(first));
  for (const [since, version] of steps) applyChanges(mirror, await allChanges(since, version));
  assertMirrors(mirror, await marketOf(last), "step by step");
});

/** Filters that the feed does not take: the state of a listing, and what changes without it. */
const refused = /^(inventory_status|sold_within_days|snapshot_date|value_rating|m(in|ax)_days_on_market)$/;

test("a filtered feed has what matches before or after, so that a filtered copy stays right", async () => {
  let delivered = 0;
  let left = 0;
  for (const [index, [since, version]] of pairs.slice(2).entries()) {
    const before = await marketOf(since);
    const after = await marketOf(version);
    const drawn = [...randomFilters(after.inventory, { seed: extent.seed + index, count: 8 * randomQueries })];
    const usable = drawn.filter((query) => query.size > 0 && ![...query.keys()].some((name) => refused.test(name)));
    for (const query of [new Map([["max_price", "15000"]]), ...usable.slice(0, randomQueries)]) {
      const found = await changes(since, version, query);
      const message = `${since} to ${version}: ${[...query].join("&")}`;
      assert.deepEqual(summary(found), expectedChanges(before, after, query), message);
      delivered += found.length;
      left += found.filter(({ matched_before, matches }) => matched_before && !matches).length;
    }
  }
  assert.ok(delivered > 40 && left > 2, `${delivered} changes, ${left} listings that left a search`);
});

const drawsOfFilter = extentOf(1, 3);

test("the feed applies each kind of filter as search does, a box across the antimeridian too", async (scope) => {
  const names = operation("listChanges")
    .parameters.map(({ name }) => name)
    .filter((name) => draws[name] !== undefined && !["fields", "limit"].includes(name));
  const chance = new Chance(extent.seed);
  const after = await marketOf(last);
  const origin: Query = new Map([["postal_code", "94110"]]);
  const drawn = names.flatMap((name) =>
    Array.from({ length: drawsOfFilter }, () => {
      const parameters = Object.entries(draws[name]?.(chance, after.inventory, origin) ?? {});
      return new Map([...(name === "radius" ? origin : []), ...parameters]);
    }),
  );
  const boxes = ["175,48,-175,55", "-125,32,-115,40"].map((bbox): Query => new Map([["bbox", bbox]]));
  // A bound between two whole numbers excludes the one beyond it.
  const prices = [...after.listings.values()].flatMap(({ state, price }) =>
    state === "active" && typeof price === "number" ? [price] : [],
  );
  const bounds = [Math.max(...prices) - 0.5, Math.min(...prices) + 0.5].flatMap((bound): readonly Query[] => [
    new Map([["max_price", String(bound)]]),
    new Map([["min_price", String(bound)]]),
  ]);
  const queries = [...boxes, ...bounds, ...drawn].filter((query) => query.has("latitude") === query.has("longitude"));
  const version = await openVersion(scope, lake);
  const { manifest, folder, dimensions } = version;
  const matches = queries.map((query) => {
    const text = [`since=${third}`, ...[...query].map(([name, value]) => `${name}=${value}`)].join("&");
    return matchesAll(filtersOf(decoderOf("listChanges")(text, {}).query, dimensions));
  });
  const active = activeOn(manifest, manifest.as_of);
  const listings = unorderedListings(active, { folder, hasFeeds: false });
  const rows = await version.rowsFrom(
    active.files,
    sql`SELECT id, [${joinSql(matches)}] AS matches FROM (${listings})`,
  );
  const expected = queries.map((query) => filterOf(query, after.inventory));
  const found = queries.map(() => 0);
  for (const row of rows) {
    const flat = after.listings.get(String(row.id))?.flat ?? assert.fail(String(row.id));
    for (const [index, query] of queries.entries()) {
      const isMatch = Array.isArray(row.matches) && row.matches[index] === true;
      assert.equal(isMatch, expected[index]?.(flat), [...query].join("&"));
      found[index] = (found[index] ?? 0) + Number(isMatch);
    }
  }
  const finding = queries.filter((_, index) => (found[index] ?? 0) > 0 && (found[index] ?? 0) < rows.length);
  assert.ok(finding.length > queries.length / 2 && found[0], `${finding.length} of ${queries.length} chose some`);
});

test("pages end before 256 KiB, and all of them are one comparison of the two markets", async (scope) => {
  const folder = await temporaryFolder(scope);
  const cars = 700;
  const publishedOn = (day: string, price: number) =>
    writeFeeds(folder, day, {
      dealers: [{ dealer_id: dealerIdOf(1), name: "A dealer" }],
      inventory: Array.from({ length: cars }, (_, n) => ({
        vin: vinOf(n),
        dealer_id: dealerIdOf(1),
        make: "Honda",
        version: `${n} ${"é".repeat(150)}`,
        price: price + n,
      })),
    });
  await publishedOn("2026-03-01", 10_000);
  await publishedOn("2026-03-02", 11_000);
  const { lake: large } = await createLake(scope, folder);
  const service = await startService(scope, large);
  const [since = "", version = ""] = [...(await versionsIn(large))].sort(compareVersions);
  const read: ListingChange[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path: string = `/v1/changes?since=${since}&limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { data, pagination } = await service.getBody("listChanges", path);
    read.push(...data);
    sizes.push(Buffer.byteLength(JSON.stringify(data)));
    cursor = pagination.next_cursor;
  }
  assert.ok(sizes.length > 2 && sizes.every((size) => size <= 256 * 1024), sizes.join());
  assert.ok(
    sizes.slice(0, -1).every((size) => size > 250 * 1024),
    sizes.join(),
  );
  const inventory = await readInventory(large, ["2026-03-02"]);
  const older = await readMarket(scope, large, since, inventory);
  const newer = await readMarket(scope, large, version, inventory);
  assert.equal(read.length, cars);
  assert.deepEqual(summary(read), expectedChanges(older, newer, none));
  assert.deepEqual(read, read.toSorted(inOrderOfFeed));
});

test("a page of changes takes one statement, with any fields: the row store has its listings", async (scope) => {
  let statements = 0;
  const version = await openVersion(scope, lake, { onStatement: () => (statements += 1) });
  const contents = ["fields=id", `fields=${changeFields}`];
  for (const [index, content] of contents.entries()) {
    const body = await answerPath(version, `/v1/changes?since=${replayed}&limit=1000&${content}`);
    assert.ok(isObject(body) && Array.isArray(body.data) && body.data.length > 10, content);
    assert.equal(statements, index + 1, content);
  }
});

test("kinds are chosen, and a feed from a version to itself is empty", async () => {
  const all = await allChanges(third, last);
  const some = await changes(third, last, new Map([["kinds", "price,removed"]]));
  assert.deepEqual(
    some,
    all.filter(({ kind }) => kind === "price" || kind === "removed"),
  );
  assert.deepEqual(await changes(last, last, none), []);
});
