/** Three days of feeds: listing ids, price history, missing cars, new owners, and keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { integerIn, type Row } from "../../src/base/json.ts";
import { currentManifest, readManifest } from "../../src/lake/manifest.ts";
import { hashLakeFiles } from "../support/lakes/contents.ts";
import { dealerIdOf, type FeedRow, type Feeds, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const north = dealerIdOf(1);
const south = dealerIdOf(2);
const east = dealerIdOf(3);
const days = ["2026-03-01", "2026-03-02", "2026-03-03"] as const;
const cars = {
  stays: vinOf(1),
  pauses: vinOf(2),
  leaves: vinOf(3),
  moves: vinOf(4),
  atSilentDealer: vinOf(5),
  losesItsPrice: vinOf(7),
  atSouth: vinOf(8),
  comesLater: vinOf(9),
  observedBefore: vinOf(10),
  observedEarly: vinOf(11),
  observedLate: vinOf(12),
};

const car = (vin: string, dealer_id: string, more: FeedRow = {}): FeedRow => ({
  vin,
  dealer_id,
  year: 2024,
  make: "Honda",
  model: "Civic",
  trim: "LX",
  price: 20_000,
  miles: 1_000,
  ...more,
});

const dealers = [
  { dealer_id: north, name: "North", city: "Boise", latitude: 43.6, phone: "(208) 555-0101" },
  { dealer_id: south, name: "South", city: "Tampa", phone: "(813) 555-0102" },
  { dealer_id: east, name: "East", city: "Newark", phone: "(973) 555-0103", makes: "Honda" },
];

const constantCars = [20, 21, 22].map((n) => car(vinOf(n), north));

/**
 * North and South deliver every day, East only on the first; on the second day South and East have new phone numbers.
 */
const feeds: readonly Feeds[] = [
  {
    dealers,
    inventory: [
      ...constantCars,
      car(cars.stays, north, { options_packages: "T7" }),
      ...[cars.pauses, cars.leaves, cars.moves, cars.losesItsPrice].map((vin) => car(vin, north)),
      car(cars.atSilentDealer, east),
      car(cars.atSouth, south),
      car(cars.observedBefore, south, { observed_at: "2026-02-10T08:00:00Z" }),
    ],
  },
  {
    dealers: dealers.slice(1).map((dealer) => ({ ...dealer, phone: `${dealer.phone.slice(0, 10)}9999` })),
    inventory: [
      ...constantCars,
      car(cars.stays, north, { price: 19_000, miles: 1_200, observed_at: "2026-03-02T09:30:00Z" }),
      car(cars.losesItsPrice, north, { price: "" }),
      car(cars.moves, south, { price: 18_500 }),
      car(cars.atSouth, south),
      car(cars.observedEarly, south, { observed_at: "2026-02-28T23:59:59Z" }),
      car(cars.observedLate, south, { observed_at: "2026-03-02T20:00:00-08:00" }),
    ],
  },
  {
    inventory: [
      ...constantCars,
      car(cars.stays, north, { price: 19_500, miles: 1_300 }),
      car(cars.pauses, north),
      car(cars.losesItsPrice, north, { price: 17_000 }),
      car(cars.moves, south, { price: 18_500 }),
      car(cars.atSouth, south),
      car(cars.comesLater, south, { trim: "EX", features: "sunroof|T7", assembly_location: "Alliston | Ontario" }),
    ],
  },
];

const folder = await temporaryFolder(fileScope);
for (const [index, day] of days.entries()) await writeFeeds(folder, day, feeds[index] ?? {});
const { lake } = await createLake(fileScope, folder, { day: days[0] });
const filesOfFirstDay = await hashLakeFiles(lake);
for (const day of days.slice(1)) await ingestPath(lake, folder, { day });

const snapshots = await queryLake(lake, "FROM active_days ORDER BY snapshot_date, vin");
const missing = await queryLake(lake, "FROM missing_days ORDER BY as_of, vin");
const ended = await queryLake(lake, "FROM ended ORDER BY vin");

/** A VIN's active listing on each of the three days, or undefined. */
const listingsByDay = (vin: string): readonly (Row | undefined)[] =>
  days.map((day) => snapshots.find((listing) => listing.vin === vin && listing.snapshot_date === day));

const missingOf = (vin: string): readonly Row[] => missing.filter((listing) => listing.vin === vin);

test("a listing keeps its id and its first day while it is listed", () => {
  const byDay = listingsByDay(cars.stays);
  assert.match(String(byDay[0]?.id), /^[0-9a-f]{32}$/);
  assert.deepEqual(
    byDay.map((listing) => [listing?.id, listing?.listed_at, listing?.days_on_market]),
    [0, 1, 2].map((age) => [byDay[0]?.id, "2026-03-01 00:00:00", age]),
  );
});

test("a listing begins on its delivery's day, except on the first day of a lake", async () => {
  const observed = [cars.observedBefore, cars.observedEarly, cars.observedLate].map((vin) => {
    const first = listingsByDay(vin).find((listing) => listing !== undefined);
    return [first?.snapshot_date, first?.listed_at, first?.days_on_market, first?.days_seen];
  });
  assert.deepEqual(observed, [
    ["2026-03-01", "2026-02-10 08:00:00", 19, 2],
    ["2026-03-02", "2026-03-02 00:00:00", 0, 1],
    ["2026-03-02", "2026-03-02 23:59:59", 0, 1],
  ]);
  assert.deepEqual(
    await queryLake(
      lake,
      "SELECT vin, outcome, field, value, reason FROM rejects WHERE field = 'observed_at' ORDER BY vin",
    ),
    [
      {
        vin: cars.observedEarly,
        outcome: "noted",
        field: "observed_at",
        value: "2026-02-28T23:59:59Z",
        reason: "before the day of the delivery",
      },
      {
        vin: cars.observedLate,
        outcome: "noted",
        field: "observed_at",
        value: "2026-03-02T20:00:00-08:00",
        reason: "after the day of the delivery",
      },
    ],
  );
});

test("a dealer's type is not derived from its makes, and a location has no list separator", async () => {
  const [dealer] = await queryLake(lake, `SELECT type, makes FROM dealers WHERE dealer_id = '${east}' LIMIT 1`);
  assert.deepEqual(dealer, { type: null, makes: ["Honda"] });
  assert.equal(listingsByDay(cars.comesLater)[2]?.assembly_location, "Alliston / Ontario");
});

test("a price change is appended to the history, with the miles and the time of the observation", () => {
  const [first, second, third] = listingsByDay(cars.stays).map((listing) => listing?.price_history);
  const cut = { changed_at: "2026-03-02 09:30:00", miles: 1_200, price_before: 20_000, price: 19_000 };
  const rise = { changed_at: "2026-03-03 00:00:00", miles: 1_300, price_before: 19_000, price: 19_500 };
  assert.deepEqual([first, second, third], [[], [cut], [cut, rise]]);
});

test("a price after an unknown one is compared with the last known price", () => {
  const cut = { changed_at: "2026-03-03 00:00:00", miles: 1_000, price_before: 20_000, price: 17_000 };
  const byDay = listingsByDay(cars.losesItsPrice);
  assert.deepEqual(
    byDay.map((listing) => [listing?.price, listing?.price_history]),
    [
      [20_000, []],
      [null, []],
      [17_000, [cut]],
    ],
  );
});

test("a car absent from its owner's feed is missing since that day", () => {
  assert.deepEqual(listingsByDay(cars.leaves).slice(1), [undefined, undefined]);
  assert.deepEqual(
    missingOf(cars.leaves).map(({ as_of, missing_since }) => [as_of, missing_since]),
    [
      [days[1], days[1]],
      [days[2], days[1]],
    ],
  );
});

test("a missing car keeps its last known row", () => {
  const [active] = listingsByDay(cars.leaves);
  for (const { id, price, miles, listed_at, last_checked_at } of missingOf(cars.leaves)) {
    assert.deepEqual(
      { id, price, miles, listed_at, last_checked_at },
      {
        id: active?.id,
        price: active?.price,
        miles: active?.miles,
        listed_at: active?.listed_at,
        last_checked_at: active?.last_checked_at,
      },
    );
  }
});

test("a car that reappears continues its listing", () => {
  const [before, during, after] = listingsByDay(cars.pauses);
  assert.equal(during, undefined);
  assert.deepEqual(
    missingOf(cars.pauses).map(({ as_of }) => as_of),
    [days[1]],
  );
  assert.deepEqual(
    [after?.id, after?.listed_at, after?.missing_since, after?.days_on_market, after?.days_seen],
    [before?.id, before?.listed_at, null, 2, 2],
  );
});

test("the listings of a dealer that does not deliver stay active and age", () => {
  const byDay = listingsByDay(cars.atSilentDealer);
  assert.deepEqual(
    byDay.map((listing) => [listing?.id, listing?.days_on_market, listing?.days_seen, listing?.last_checked_at]),
    [0, 1, 2].map((age) => [byDay[0]?.id, age, 1, "2026-03-01 00:00:00"]),
  );
  assert.deepEqual(missingOf(cars.atSilentDealer), []);
});

test("a new owner starts a new listing, and the old one ends without a sale", () => {
  const [before, after, later] = listingsByDay(cars.moves);
  assert.deepEqual([before?.dealer_id, after?.dealer_id], [north, south]);
  assert.notEqual(after?.id, before?.id);
  assert.equal(later?.id, after?.id);
  assert.deepEqual([after?.listed_at, after?.days_on_market, after?.price_history], ["2026-03-02 00:00:00", 0, []]);
  assert.deepEqual(
    ended.map(({ id, vin, dealer_id, price, sold_date, ended_month }) => [
      ...[id, vin, dealer_id, price, sold_date],
      String(ended_month).slice(0, 7),
    ]),
    [[before?.id, cars.moves, north, 20_000, null, "2026-03"]],
  );
  assert.deepEqual(missingOf(cars.moves), []);
});

test("a changed dealer gets a new row, and its listings refer to it", async () => {
  const rows = await queryLake(lake, "SELECT dealer_key, dealer_id, phone FROM dealers ORDER BY dealer_key");
  assert.deepEqual(
    rows.map(({ dealer_key, dealer_id, phone }) => [dealer_key, dealer_id, phone]),
    [
      [1, north, "(208) 555-0101"],
      [2, south, "(813) 555-0102"],
      [3, east, "(973) 555-0103"],
      [4, south, "(813) 555-9999"],
      [5, east, "(973) 555-9999"],
    ],
  );
  const keys = await keysByDay("dealer_key");
  assert.deepEqual(keys(days[0], cars.atSouth), 2);
  assert.deepEqual([keys(days[1], cars.atSouth), keys(days[2], cars.atSouth)], [4, 4]);
  assert.deepEqual(
    [keys(days[1], cars.atSilentDealer), keys(days[2], cars.atSilentDealer)],
    [5, 5],
    "also for a silent dealer",
  );
  assert.deepEqual([keys(days[1], cars.stays), keys(days[2], cars.stays)], [1, 1]);
});

test("keys are assigned once: later days change no file and continue the sequence", async () => {
  const now = await hashLakeFiles(lake);
  for (const [path, content] of Object.entries(filesOfFirstDay)) {
    if (path !== "CURRENT") assert.equal(now[path], content, path);
  }
  assert.deepEqual(await queryLake(lake, "SELECT build_key, trim FROM builds ORDER BY build_key"), [
    { build_key: 1, trim: "LX" },
    { build_key: 2, trim: "EX" },
  ]);
  const first = await readManifest(lake, `${days[0]}.1`);
  const last = await currentManifest(lake);
  assert.deepEqual(first.keys, { builds: 1, dealers: 3, tokens: 1, options: 0 });
  assert.deepEqual(last?.keys, { builds: 2, dealers: 5, tokens: 3, options: 0 });
});

/** Returns a look-up of a listing's stored key by day and VIN. */
async function keysByDay(key: "dealer_key" | "build_key"): Promise<(day: string, vin: string) => number> {
  const rows = await queryLake(
    lake,
    `SELECT strftime(snapshot_date, '%Y-%m-%d') AS day, vin, ${key} FROM intervals
     JOIN days ON snapshot_date >= valid_from AND (snapshot_date < valid_to OR valid_to IS NULL)`,
  );
  return (day, vin) =>
    integerIn(
      rows.find((row) => row.day === day && row.vin === vin),
      key,
    );
}

test("a latitude without a longitude is unknown", async () => {
  const found = await queryLake(lake, `SELECT DISTINCT latitude, longitude FROM dealers WHERE dealer_id = '${north}'`);
  assert.deepEqual(found, [{ latitude: null, longitude: null }]);
});

test("a feature that is spelled as the code of an option is kept", async () => {
  const found = await queryLake(lake, `SELECT features FROM active WHERE vin = '${cars.comesLater}'`);
  assert.deepEqual(found, [{ features: ["T7", "sunroof"] }]);
});
