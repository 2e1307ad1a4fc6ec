/** Operations `searchDealers`, `getDealer` and `searchDealerListings`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { randomLifecycleFeeds } from "../../lifecycle/random-feeds.ts";
import { skipInShortRun } from "../../support/extent.ts";
import { type Client, startService } from "../../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

type Dealer = AnswerOf<"searchDealers">["data"][number];

/** Six dealers, of which the first three change on the second day; the last column is the number in stock. */
const town: readonly (readonly [name: string, website: string, state: string, makes: string, stock: number])[] = [
  ["Fremont Bay Toyota", "https://www.FremontBayToyota.example/new?x=1", "CA", "Toyota", 2],
  ["O'Brien’s Citroën & Söhne", "http://obrien-auto.example", "NV", "Citroën|Mercedes-Benz", 2],
  ["Sierra Auto Exchange", "", "NV", "", 5],
  ["Bedford Motors", "bedfordmotors.example", "CA", "Ford", 0],
  ["ford of bedford", "", "CA", "Ford|Lincoln", 0],
  ["4x4 & More", "", "", "", 2],
];
const feeds = await temporaryFolder(fileScope);
for (const [order, day] of ["2026-03-01", "2026-03-02"].entries()) {
  let vehicles = 0;
  const stock = (dealer: number, count: number) =>
    Array.from({ length: count }, () => {
      vehicles += 1;
      return {
        vin: vinOf(vehicles),
        dealer_id: dealerIdOf(dealer),
        make: "Kia",
        model: "Soul",
        price: 9000 + vehicles,
      };
    });
  await writeFeeds(feeds, day, {
    dealers: town.map(([name, website, state, makes], index) => ({
      dealer_id: dealerIdOf(index + 1),
      website,
      state,
      makes,
      city: index === 2 ? "San José" : "Springfield",
      name: order === 0 && index < 3 ? `${name} as it was` : name,
      phone: index === 0 ? "+1-510-555-0142" : "",
      line1: index === 0 ? "1 Auto Mall" : "",
      country: index === 5 ? "CA" : "",
      type: makes === "" ? "independent" : "franchise",
    })),
    inventory: town.flatMap(([, , , , count], index) => stock(index + 1, count)),
  });
}
const client = await startService(fileScope, (await createLake(fileScope, feeds)).lake);

/** Returns the numbers of the dealers that a search finds, in its order. */
async function found(query: string): Promise<readonly number[]> {
  const { data, pagination } = await client.getBody("searchDealers", `/v1/dealers?${query}`);
  assert.equal(pagination.total, data.length, query);
  return data.map(({ dealer_id }) => Number(dealer_id.slice(-12)));
}

test("dealers are ordered by listing count, name and id", async () => {
  assert.deepEqual(await found(""), [3, 6, 1, 2, 4, 5]);
});

const searches: readonly (readonly [query: string, numbers: readonly number[]])[] = [
  // Words of the name in any order and case, and their prefixes
  ["q=toyota", [1]],
  ["q=BAY+toyota", [1]],
  ["q=toyota+bay+fremont", [1]],
  ["q=fre+toy", [1]],
  ["q=auto", [3, 2]],
  ["q=bedford", [4, 5]],
  ["q=ford", [5]],
  ["q=4x4", [6]],
  ["q=toyota+ford", []],
  ["q=oyota", []],
  ["q=was", []],
  // Accents and punctuation are ignored
  ["q=citroen", [2]],
  ["q=CITRO%C3%8BN", [2]],
  ["q=s%C3%B6hne,+obriens", [2]],
  ["q=o%27brien", [2]],
  ["q=%26", []],
  ["q=%25", []],
  ["q=_", []],
  ["q='%20OR%20true--", []],
  // The domain of the website
  ["q=fremontbaytoyota", [1]],
  ["q=fremontbaytoyota.example", [1]],
  ["q=https://www.fremontbaytoyota.example", [1]],
  ["q=www.obrien-auto.example", [2]],
  ["q=bedfordmotors", [4]],
  ["q=new", []],
  // The city
  ["q=spring", [6, 1, 2, 4, 5]],
  ["q=auto+san+jos%C3%A9", [3]],
  ["q=ford,+springfield", [5]],
  ["q=jose", [3]],
  // Filters
  ["state=ca", [1, 4, 5]],
  ["state=CA,nv", [3, 1, 2, 4, 5]],
  ["state=TX", []],
  ["country=us", [3, 1, 2, 4, 5]],
  ["country=CA", [6]],
  ["country=US,ca", [3, 6, 1, 2, 4, 5]],
  ["type=franchise", [1, 2, 4, 5]],
  ["type=INDEPENDENT", [3, 6]],
  ["type=franchise,independent", [3, 6, 1, 2, 4, 5]],
  ["make=ford", [4, 5]],
  ["make=Lincoln,toyota", [1, 5]],
  ["make=mercedes-benz", [2]],
  ["make=mercedes", []],
  ["make=kia", []],
  [`dealer_id=${dealerIdOf(4)},${dealerIdOf(1)},${dealerIdOf(99)}`, [1, 4]],
  [`dealer_id=${dealerIdOf(99)}`, []],
  ["q=ford&state=CA&make=lincoln&type=franchise&country=US", [5]],
];

for (const [query, numbers] of searches) {
  test(`${decodeURIComponent(query)} finds ${numbers.length === 0 ? "no dealer" : `the dealers ${numbers.join(", ")}`}`, async () => {
    assert.deepEqual(await found(query), numbers);
  });
}

test("values that no dealer has are reported", async () => {
  const query = `make=Toyot,mercedes-benz,kia&country=CA,FR&dealer_id=${dealerIdOf(1)},${dealerIdOf(99)}`;
  const { meta } = await client.getBody("searchDealers", `/v1/dealers?${query}`);
  assert.deepEqual(meta.unmatched, [
    { parameter: "dealer_id", value: dealerIdOf(99) },
    { parameter: "country", value: "FR" },
    { parameter: "make", value: "Toyot", did_you_mean: "Toyota" },
    { parameter: "make", value: "kia" },
  ]);
});

test("dealers are paged", async () => {
  const pages: Dealer[][] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: AnswerOf<"searchDealers"> = await client.getBody(
      "searchDealers",
      `/v1/dealers?limit=4&offset=${offset}`,
    );
    assert.deepEqual([page.pagination.limit, page.pagination.offset, page.pagination.total], [4, offset, 6]);
    pages.push(page.data);
    offset = page.pagination.next_offset;
  }
  const whole = await client.getBody("searchDealers", "/v1/dealers");
  assert.deepEqual(pages.flat(), whole.data);
  assert.deepEqual(
    pages.map(({ length }) => length),
    [4, 2],
  );
  assert.deepEqual((await client.getBody("searchDealers", "/v1/dealers?offset=6")).data, []);
});

test("dealer_id takes up to one hundred dealers", async () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => dealerIdOf(index + 1)).join(",");
  assert.equal((await found(`dealer_id=${ids(100)}`)).length, 6);
  assert.equal((await client.getError(`/v1/dealers?dealer_id=${ids(101)}`)).status, 400);
});

test("a dealer's profile is the newest, with phone and address in the detail only", async () => {
  const [first] = (await client.getBody("searchDealers", "/v1/dealers?q=toyota")).data;
  const { data, meta } = await client.getBody("getDealer", `/v1/dealers/${dealerIdOf(1)}`);
  const { phone, address, ...profile } = data;
  assert.deepEqual(profile, first);
  assert.deepEqual([profile.name, profile.website], ["Fremont Bay Toyota", "fremontbaytoyota.example"]);
  assert.equal(phone, "+1-510-555-0142");
  assert.deepEqual(address, {
    line1: "1 Auto Mall",
    city: "Springfield",
    state: "CA",
    postal_code: null,
    country: "US",
  });
  assert.deepEqual(meta, {});
});

test("an unknown or malformed dealer id is not found, and has no inventory", async () => {
  for (const id of ["1", "%20", "%09", "+", dealerIdOf(99), "%00", "x".repeat(300), `${dealerIdOf(1)}0`]) {
    for (const path of [`/v1/dealers/${id}`, `/v1/dealers/${id}/listings`]) {
      const { status, code } = await client.getError(path);
      assert.deepEqual([status, code], [404, "not_found"], path);
    }
  }
});

test("a dealer's inventory takes the parameters of the listing search, except dealer_id", async () => {
  const path = `/v1/dealers/${dealerIdOf(3)}/listings`;
  const page = await client.getBody(
    "searchDealerListings",
    `${path}?sort=-price&fields=price&limit=2&offset=1&max_price=9008`,
  );
  assert.deepEqual(
    page.data.map(({ price }) => price),
    [9007, 9006],
  );
  const { next_cursor: _, ...position } = page.pagination;
  assert.deepEqual(position, { limit: 2, offset: 1, total: 4, next_offset: 3 });
  assert.equal((await client.getError(`${path}?dealer_id=${dealerIdOf(1)}`)).code, "unknown_query_parameter");
  assert.equal(
    (await client.getError(`${path}?sold_within_days=3&snapshot_date=2026-03-01`)).code,
    "incompatible_parameters",
  );
});

/** Returns every dealer of a service with the total of its inventory. */
async function inventories(service: Client): Promise<readonly (readonly [Dealer, total: number])[]> {
  const { data } = await service.getBody("searchDealers", "/v1/dealers?limit=100");
  return Promise.all(
    data.map(async (dealer) => {
      const path = `/v1/dealers/${dealer.dealer_id}/listings?fields=dealer_id`;
      const { data: listings, pagination } = await service.getBody("searchDealerListings", path);
      for (const { dealer_id } of listings) assert.equal(dealer_id, dealer.dealer_id);
      return [dealer, pagination.total] as const;
    }),
  );
}

test("in a random lake, every dealer's listing count is the total of its inventory", {
  skip: skipInShortRun,
}, async (scope) => {
  const folder = await temporaryFolder(scope);
  const days = randomLifecycleFeeds({ seed: 20261123, days: 8, dealers: 20, cars: 150, dayless: 0.05 });
  for (const { day, feeds: dayFeeds } of days) await writeFeeds(folder, day, dayFeeds);
  const lake = join(await temporaryFolder(scope), "lake");
  await ingestPath(lake, folder);
  const random = await startService(scope, lake);
  const counted = await inventories(random);
  assert.ok(counted.length >= 15, `${counted.length} dealers`);
  for (const [{ dealer_id, listing_count }, total] of counted) assert.equal(listing_count, total, dealer_id);
  const { pagination } = await random.getBody("searchListings", "/v1/listings?limit=1");
  assert.equal(
    counted.reduce((sum, [, total]) => sum + total, 0),
    pagination.total,
  );
});

test("in a small town, every dealer's listing count is the total of its inventory", async () => {
  assert.deepEqual(
    (await inventories(client)).map(([{ listing_count }, total]) => [listing_count, total]),
    [5, 2, 2, 2, 0, 0].map((count) => [count, count]),
  );
});
