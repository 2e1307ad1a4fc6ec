/** Operations `getListing` and `getVin`, compared with searches and with the lifecycle oracle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../../src/contract/types.ts";
import type { OracleDay, OracleListing } from "../../lifecycle/oracle.ts";
import { writeLifecycleFeeds } from "../../lifecycle/trial.ts";
import { extentOf, sampled } from "../../support/extent.ts";
import { fetchListings, type ServedListing } from "../../support/http/paging.ts";
import { type Client, sampleService, startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

type Detail = AnswerOf<"getListing">["data"];
type LatestListing = NonNullable<AnswerOf<"getVin">["data"]["latest_listing"]>;

const { client: sample } = await sampleService();

/** A random lake in which cars are relisted after a sale, change dealers and go missing, some of them for too long. */
const extent = extentOf(
  { seed: 20261127, days: 95, cars: 90, quiet: { from: 4, to: 92 } },
  { seed: 20261122, days: 104, cars: 60, quiet: { from: 12, to: 92 } },
);
const { folder, expectedDays } = await writeLifecycleFeeds(fileScope, { ...extent, dealers: 10, dayless: 0.05 });
const { lake } = await createLake(fileScope, folder);
const random = await startService(fileScope, lake);
const lastDay = expectedDays.at(-1) ?? assert.fail("expected at least one day");

const detailOf = async (client: Client, id: string, query = ""): Promise<AnswerOf<"getListing">> =>
  client.getBody("getListing", `/v1/listings/${id}${query}`);

/** The fields that a summary and a detail share, named as in the summary. */
function sharedWith({ dealer, vehicle, ...listing }: Detail): Partial<ServedListing> {
  const {
    combined_msrp,
    base_msrp: _,
    assembly_location: __,
    window_sticker_verified: ___,
    derived: ____,
    ...build
  } = vehicle.build;
  const { dealer_id, name: dealer_name, city, state, postal_code, latitude, longitude } = dealer;
  const { id, vin, status, price, miles, inventory_type, stock_number, vdp_url, photo_urls, sold_date } = listing;
  return {
    id,
    vin,
    status,
    inventory_status: status,
    price,
    miles,
    inventory_type,
    stock_number,
    vdp_url,
    photo_urls,
    sold_date,
    ...build,
    msrp: combined_msrp,
    dealer_id,
    dealer_name,
    city,
    state,
    postal_code,
    latitude,
    longitude,
  };
}

const services = { "the sample": sample, "a random lake": random };
const modes = { active: "", sold: "inventory_status=sold" };

for (const [where, client] of Object.entries(services)) {
  for (const [status, query] of Object.entries(modes)) {
    test(`in ${where}, the detail of each ${status} listing matches its search result`, async () => {
      for (const summary of sampled(await fetchListings(client, query, 100), 6)) {
        const { data, meta } = await detailOf(client, summary.id);
        const shared = sharedWith(data);
        assert.ok(Object.keys(shared).length > 30);
        for (const [field, value] of Object.entries(shared)) {
          assert.deepEqual(value, summary[field as keyof ServedListing], `${summary.id}: ${field}`);
        }
        assert.equal(data.inventory_date, summary.listed_at?.slice(0, 10));
        assert.equal(data.photo_url_primary, data.photo_urls[0] ?? null);
        assert.deepEqual([data.price_history, meta], [[], {}]);
        if (status === "active") assert.equal(data.vehicle.status, "active");
      }
    });
  }
}

test("sold_within_days counts from the day on which a sale became known", async () => {
  const sales = expectedDays.flatMap(({ sold }) => sold);
  const daysAgo = ({ soldOnRecord }: OracleListing): number =>
    (Date.parse(lastDay.day) - Date.parse(soldOnRecord ?? "")) / 86_400_000;
  for (const days of new Set([1, 30, ...sales.map((listing) => daysAgo(listing) + 1)])) {
    const found = await fetchListings(random, `sold_within_days=${days}&fields=sold_date`, 100);
    const expected = sales.filter((listing) => daysAgo(listing) < days);
    assert.deepEqual(
      found.map(({ vin, sold_date }) => `${vin} ${sold_date}`).sort(),
      expected.map(({ vin, soldDate }) => `${vin} ${soldDate}`).sort(),
      `${days} days`,
    );
  }
  assert.ok(lastDay.sold.length > 0, "expected sales on the last day");
});

/** The listing periods of each VIN according to the oracle, latest last, each with its current state. */
function periodsByVin(
  days: readonly OracleDay[],
): ReadonlyMap<string, readonly (readonly [OracleListing, state: string])[]> {
  const periods = new Map<number, readonly [OracleListing, string]>();
  const note = (state: string) => (period: OracleListing) => periods.set(period.periodId, [period, state]);
  for (const { active, missing, sold, ended } of days) {
    active.forEach(note("active"));
    missing.forEach(note("missing"));
    sold.forEach(note("sold"));
    ended.forEach(note("ended"));
  }
  const byVin = new Map<string, (readonly [OracleListing, string])[]>();
  for (const [, entry] of [...periods].sort(([first], [second]) => first - second)) {
    byVin.set(entry[0].vin, [...(byVin.get(entry[0].vin) ?? []), entry]);
  }
  return byVin;
}

const allPeriods = periodsByVin(expectedDays);

/** The state of a vehicle; one whose listing ended without a sale is still missing. */
function stateOf(periodsOfVin: readonly (readonly [OracleListing, state: string])[]): string | undefined {
  const state = periodsOfVin.at(-1)?.[1];
  return state === "ended" ? "missing" : state;
}

/** The fields of a listing period that a look-up serves. */
const expectedDetail = ({ dealer, listedAt, price, miles, soldDate, priceHistory }: OracleListing) => ({
  dealer,
  inventory_date: listedAt.slice(0, 10),
  price,
  miles,
  sold_date: soldDate,
  price_history: priceHistory.map((change) => ({
    ...change,
    date: change.changed_at.slice(0, 10),
    changed_at: `${change.changed_at.replace(" ", "T")}Z`,
  })),
});
const servedDetail = ({ dealer, inventory_date, price, miles, sold_date, price_history }: Detail | LatestListing) => ({
  dealer: dealer.dealer_id,
  inventory_date,
  price,
  miles,
  sold_date,
  price_history,
});

test("every VIN in the feeds is in its expected state, with its latest listing", async () => {
  const states = new Map<string, number>();
  for (const [vin, periodsOfVin] of sampled([...allPeriods], 4)) {
    const [latest, state] = periodsOfVin.at(-1) ?? assert.fail(vin);
    const { data } = await random.getBody("getVin", `/v1/vins/${vin}?include=price_history`);
    assert.equal(data.vin, vin);
    assert.equal(data.status, stateOf(periodsOfVin), vin);
    assert.ok(data.latest_listing);
    assert.deepEqual(servedDetail(data.latest_listing), expectedDetail(latest), vin);
    assert.equal((await detailOf(random, data.latest_listing.id)).data.vehicle.status, data.status, vin);
    states.set(state, 1 + (states.get(state) ?? 0));
  }
  assert.deepEqual([...states.keys()].sort(), ["active", "ended", "missing", "sold"]);
});

test("every listing of every past day has a detail; one that ended without a sale links to its successor, and no other", async () => {
  const vins = new Map<string, string>();
  for (const { day } of expectedDays)
    for (const { id, vin } of await fetchListings(random, `snapshot_date=${day}&fields=id`, 100)) vins.set(id, vin);
  assert.ok(vins.size > 100, `${vins.size} listings`);
  let superseded = 0;
  let soldAndBack = 0;
  for (const [id, vin] of vins) {
    const { data, meta } = await detailOf(random, id, "?include=price_history");
    assert.equal(data.vin, vin);
    const periodsOfVin = allPeriods.get(data.vin) ?? [];
    const index = periodsOfVin.findIndex(
      ([{ dealer, listedAt }]) => dealer === data.dealer.dealer_id && listedAt.startsWith(data.inventory_date),
    );
    const [period, state] = periodsOfVin[index] ?? assert.fail(`${id} has no listing period`);
    assert.deepEqual(servedDetail(data), expectedDetail(period), id);
    assert.equal(data.status, state === "sold" ? "sold" : "active");
    const next = state === "ended" ? periodsOfVin[index + 1] : undefined;
    assert.equal(data.vehicle.status, stateOf(periodsOfVin), id);
    if (state === "sold" && index + 1 < periodsOfVin.length) soldAndBack += 1;
    if (next === undefined) {
      assert.deepEqual(meta, {}, id);
      continue;
    }
    superseded += 1;
    const successor = await detailOf(
      random,
      meta.superseded_by ?? assert.fail(`${id} has no successor`),
      "?include=price_history",
    );
    assert.deepEqual(servedDetail(successor.data), expectedDetail(next[0]), id);
  }
  assert.ok(superseded > 20, `${superseded} superseded`);
  assert.ok(soldAndBack > 0, `${soldAndBack} sold and listed again`);
  assert.ok(lastDay.active.length > 20);
});

test("the details of a listing are those of the last day on which its VIN was in its owner's feed", async () => {
  for (const { vin, lastSeen } of sampled([...lastDay.active, ...lastDay.missing], 3)) {
    const { latest_listing } = (await random.getBody("getVin", `/v1/vins/${vin}`)).data;
    assert.equal(latest_listing?.last_checked_at.slice(0, 10) ?? "", lastSeen, vin);
  }
});

test("a VIN is found in either case and answered in upper case", async () => {
  const lowerCase = await sample.get("/v1/vins/5ux53gp07t9n56896?include=options,price_history");
  const upperCase = await sample.get("/v1/vins/5UX53GP07T9N56896?include=options,price_history");
  assert.equal(lowerCase.status, 200);
  assert.deepEqual(lowerCase.body, upperCase.body);
});

test("a listing id is found in either case and answered in lower case", async () => {
  const lowerCase = await sample.get("/v1/listings/f8a514706ee10530163469c0fb3d0387");
  const upperCase = await sample.get("/v1/listings/F8A514706EE10530163469C0FB3D0387");
  assert.equal(upperCase.status, 200);
  assert.deepEqual(upperCase.body, lowerCase.body);
});

test("options are served only if requested", async () => {
  const id = "ad97e543e226497617a6a94a77a9f61d";
  const options = async (query: string) => (await detailOf(sample, id, query)).data.vehicle.build.options;
  assert.deepEqual(await options("?include=options"), [
    { code: "CF", name: "Carpeted Floor Mats", msrp: 210 },
    { code: "MG", name: "Mudguards", msrp: 150 },
  ]);
  assert.equal(await options(""), undefined);
  assert.equal(await options("?include=price_history"), undefined);
});

test("an unknown or malformed listing id is not found", async () => {
  const ids = ["1", "%20", "%09", "+", "x".repeat(300), "%00", "..%2f..", "ad97e543-e226-4976-17a6-a94a77a9f61d"];
  for (const id of [...ids, "00000000000000000000000000000000", "'%20OR%201=1--"]) {
    const { status, code } = await sample.getError(`/v1/listings/${id}`);
    assert.deepEqual([status, code], [404, "not_found"], id);
  }
});

test("a VIN without a listing is not found", async () => {
  assert.equal((await sample.getError("/v1/vins/1HGCM82633A123456")).status, 404);
});

test("a VIN that has never been listed has the build that it stands for, and is paid for", async () => {
  const path = "/v1/vins/1hgcm82633a004352?include=options,price_history";
  const { data } = await sample.getBody("getVin", path);
  const { options, derived, window_sticker_verified, ...build } = data.build;
  assert.deepEqual([data.vin, data.status, data.latest_listing, options], ["1HGCM82633A004352", "unlisted", null, []]);
  assert.deepEqual([build.year, build.make, build.model, window_sticker_verified], [2003, "Honda", "Accord", false]);
  const known = Object.entries(build).filter(([, value]) => value !== null);
  assert.deepEqual(derived, Object.fromEntries(known.map(([name]) => [name, "vin"])));
  const { headers } = await sample.get(path);
  assert.equal(headers.get("x-usage-class"), "vehicle_detail_enriched");
});

test("a VIN with a wrong check digit or of an unknown vehicle is not found", async () => {
  for (const vin of ["1HGCM82643A004352", "1HGZZ82603A004352", "11111111111111111"])
    assert.equal((await sample.get(`/v1/vins/${vin}`)).status, 404, vin);
});

test("the detail of a listing names what follows from its VIN", async () => {
  const { data } = await sample.getBody("getVin", "/v1/vins/5YFBURHE5JP316860");
  assert.deepEqual([data.build.year, data.build.derived.year, data.build.derived.make], [2018, "vin", undefined]);
  const { data: listing } = await sample.getBody("getListing", `/v1/listings/${data.latest_listing?.id}`);
  assert.deepEqual(listing.vehicle.build, data.build);
});
