/** The filters of a listing search, compared with a scan of the sample. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, Row } from "../../../src/base/json.ts";
import { operations } from "../../../src/contract/document.ts";
import { attributes, categoryNames, extensionNames, rangedNames, textNames } from "../../../src/listing/schema.ts";
import { fetchListings, fetchTotal } from "../../support/http/paging.ts";
import { sampleService } from "../../support/http/service.ts";
import { queryLake } from "../../support/lakes/lakes.ts";

const { lake, client } = await sampleService();

/** All listings as served, with the filterable columns that are not served. */
const listings: readonly Row[] = await (async () => {
  const hidden = await queryLake(lake, "SELECT id, model_code, assembly_location, assembly_country FROM active");
  const byId = new Map(hidden.map((row) => [row.id, row]));
  const served = await fetchListings(client, `fields=default,features,${extensionNames}`, 100);
  return served.map((listing) => ({ ...(listing as unknown as Row), ...byId.get(listing.id) }));
})();

const count = (holds: (listing: Row) => boolean): number => listings.filter(holds).length;

const matchesSlugs = new Set(["make", "model"]);

/** Normalizes a value for comparison: lower case; letters and digits only for makes and models. */
function folded(parameter: string, value: Json | undefined): string {
  const text = String(value).toLowerCase();
  return matchesSlugs.has(parameter) ? text.normalize("NFD").replace(/[^\p{L}\p{N}]/gu, "") : text;
}

const has = (attribute: string, values: readonly Json[]) => {
  const wanted = new Set(values.map((value) => folded(attribute, value)));
  return (listing: Row): boolean => listing[attribute] != null && wanted.has(folded(attribute, listing[attribute]));
};

const encodeList = (parameter: string, values: readonly Json[]): string =>
  values.map((value) => encodeURIComponent(String(value))).join(parameter === "assembly_location" ? "|" : ",");

const known = new Set(operations.get("searchListings")?.parameters.map(({ name }) => name));

for (const parameter of [...categoryNames, ...textNames]) {
  const values = [...new Set(listings.map((listing) => listing[parameter] ?? null))].filter((value) => value !== null);
  const choices: readonly (readonly Json[])[] = [
    ...values.slice(0, 2).map((value) => [value]),
    values.slice(0, 2),
    values.slice(0, 40),
    values.slice(-2).map((value) => (typeof value === "string" ? value.toUpperCase() : value)),
  ];

  test(`${parameter} finds exactly the listings with one of its values`, async () => {
    assert.ok(values.length > 1, `the sample has several values of ${parameter}`);
    for (const choice of choices) {
      const query = `${parameter}=${encodeList(parameter, choice)}`;
      assert.equal(await fetchTotal(client, query), count(has(parameter, choice)), query);
    }
  });

  const exclusion = `exclude_${parameter}`;
  if (!known.has(exclusion) || parameter === "assembly_location") continue;

  test(`${exclusion} drops those listings and keeps those whose ${parameter} is unknown`, async () => {
    for (const choice of choices) {
      const query: string = `${exclusion}=${encodeList(parameter, choice)}`;
      const isExcluded = has(parameter, choice);
      assert.equal(
        await fetchTotal(client, query),
        count((listing) => !isExcluded(listing)),
        query,
      );
    }
  });
}

test("the sample has unknown values, so that exclusions can keep them", async () => {
  for (const field of ["version", "doors"]) assert.ok(count((listing) => listing[field] == null) > 0, field);
});

const spellings: readonly (readonly [query: string, make: string, model: string | undefined])[] = [
  ["make=Toyota", "Toyota", undefined],
  ["make=tOyOtA", "Toyota", undefined],
  ["make=mercedes-benz", "Mercedes-Benz", undefined],
  ["make=Mercedes+Benz", "Mercedes-Benz", undefined],
  ["make=MERCEDESBENZ", "Mercedes-Benz", undefined],
  ["make=ford&model=F-150", "Ford", "F-150"],
  ["make=ford&model=f150", "Ford", "F-150"],
  ["model=f-150", "Ford", "F-150"],
  ["model=f%20150", "Ford", "F-150"],
];

for (const [query, make, model] of spellings) {
  test(`${query} finds ${make} ${model ?? ""}`, async () => {
    const expected = count((listing) => listing.make === make && (model === undefined || listing.model === model));
    assert.ok(expected > 0);
    assert.equal(await fetchTotal(client, query), expected);
  });
}

test("cpo is an alias of certified, in filters and in exclusions", async () => {
  const certified = count((listing) => listing.inventory_type === "certified");
  assert.ok(certified > 0);
  assert.equal(await fetchTotal(client, "inventory_type=cpo"), certified);
  assert.equal(await fetchTotal(client, "inventory_type=CPO,certified"), certified);
  assert.equal(await fetchTotal(client, "exclude_inventory_type=cpo"), listings.length - certified);
});

for (const field of rangedNames) {
  const { range } = attributes[field];
  test(`min_${range} and max_${range} include their bounds and drop unknown values`, async () => {
    const values = listings.flatMap((listing) => (typeof listing[field] === "number" ? [listing[field]] : []));
    const ordered = [...values].sort((one, other) => one - other);
    const at = (share: number): number => ordered[Math.floor(share * (ordered.length - 1))] ?? 0;
    const within = (min: number, max: number) => values.filter((value) => min <= value && value <= max).length;
    for (const [min, max] of [
      [0, at(1)],
      [at(0.3), at(0.3)],
      [at(0.2), at(0.8)],
      [at(0.5) + 1, at(0.9)],
    ] as const) {
      if (min > max) continue;
      assert.equal(await fetchTotal(client, `min_${range}=${min}&max_${range}=${max}`), within(min, max));
    }
    assert.equal(await fetchTotal(client, `min_${range}=0`), values.length);
    assert.equal(await fetchTotal(client, `min_${range}=${at(0.6)}`), within(at(0.6), at(1)));
    assert.equal(await fetchTotal(client, `max_${range}=${at(0.4)}`), within(0, at(0.4)));
    assert.equal(await fetchTotal(client, `min_${range}=${at(1) + 1}`), 0);
  });

  test(`a min_${range} above its max_${range} is refused`, async () => {
    const { status, code, message } = await client.getError(`/v1/listings?min_${range}=2&max_${range}=1`);
    assert.deepEqual([status, code], [400, "incompatible_parameters"]);
    assert.equal(message, `min_${range} and max_${range} cannot be combined: the minimum 2 is above the maximum 1.`);
  });
}

test("filters combine with AND", async () => {
  const query =
    "make=toyota,honda&exclude_model=camry&min_price=20000&max_mileage=60000&exclude_state=fl&fuel_type=hybrid,gasoline";
  const expected = count(
    ({ make, model, price, miles, state, fuel_type }) =>
      (make === "Toyota" || make === "Honda") &&
      model !== "Camry" &&
      Number(price ?? -1) >= 20_000 &&
      Number(miles ?? Number.POSITIVE_INFINITY) <= 60_000 &&
      state !== "FL" &&
      (fuel_type === "Hybrid" || fuel_type === "Gasoline"),
  );
  assert.ok(expected > 0);
  assert.equal(await fetchTotal(client, query), expected);
});

test("an unknown value matches nothing, and its exclusion drops nothing", async () => {
  for (const value of ["No Such", "'; DROP TABLE builds; --", "%", "_", "*", "\\", "\u0000", "🚗"]) {
    const text = encodeURIComponent(value);
    assert.equal(await fetchTotal(client, `trim=${text}`), 0, value);
    assert.equal(await fetchTotal(client, `exclude_trim=${text}`), listings.length, value);
  }
});

const unmatchedIn = async (query: string) =>
  (await client.getBody("searchListings", `/v1/listings?limit=1&${query}`)).meta.unmatched;

test("a value that the data has never had is reported with the nearest one, and matches nothing", async () => {
  const { meta, pagination } = await client.getBody("searchListings", "/v1/listings?make=toyotta&limit=1");
  const unmatched = [{ parameter: "make", value: "toyotta", did_you_mean: "Toyota" }];
  assert.deepEqual(meta, { as_of: "2026-11-19", currency: "USD", data_version: "2026-11-19.1", unmatched });
  assert.equal(pagination.total, 0);
  const facets = await client.getBody("getFacets", "/v1/facets?facets=make&make=toyotta");
  assert.deepEqual(facets.meta.unmatched, unmatched);
  const dealer = listings[0]?.dealer_id;
  const inventory = await client.getBody("searchDealerListings", `/v1/dealers/${dealer}/listings?make=toyotta`);
  assert.deepEqual(inventory.meta.unmatched, unmatched);
});

test("values of alternatives, lists, exclusions, numbers and ids are reported, and no known one", async () => {
  const unknownDealer = "00000000-0000-4000-8000-000000000000";
  assert.deepEqual(
    await unmatchedIn(
      `make=KIA,Hunday&year=1900,2020&exclude_model=f150,f-15O&dealer_id=${unknownDealer}&features=sunroof,sunrof&exterior_color=qqqqq`,
    ),
    [
      { parameter: "year", value: "1900" },
      { parameter: "make", value: "Hunday", did_you_mean: "Hyundai" },
      { parameter: "exclude_model", value: "f-15O", did_you_mean: "F-150" },
      { parameter: "dealer_id", value: unknownDealer },
      { parameter: "exterior_color", value: "qqqqq" },
      { parameter: "features", value: "sunrof", did_you_mean: "sunroof" },
    ],
  );
});

test("no listing has a feature that is known and one that is not, in either order", async () => {
  for (const features of ["sunroof,sunrof", "sunrof,sunroof", "sunroof,null,sunroof"])
    assert.equal((await fetchListings(client, `features=${features}`, 100)).length, 0, features);
  assert.ok((await fetchListings(client, "features=sunroof", 100)).length > 0);
});

test("a color that only past and sold listings have is not reported", async () => {
  const past = "SELECT exterior_color AS value FROM active_days UNION SELECT exterior_color FROM sold";
  const rows = await queryLake(lake, `SELECT value FROM (${past}) WHERE value IS NOT NULL`);
  const field = "exterior_color";
  const inactive = rows.map(({ value }) => String(value)).filter((value) => !count(has(field, [value])));
  assert.ok(inactive.length > 0);
  assert.equal(await unmatchedIn(`${field}=${inactive.slice(0, 50).map(encodeURIComponent).join(",")}`), undefined);
});

test("excluded places are found in every encoding of the space and the separator", async () => {
  const remaining = count(
    ({ assembly_location: place }) => place !== "Louisville, Kentucky" && place !== "Detroit, Michigan",
  );
  assert.ok(remaining < listings.length);
  for (const [space, separator] of ["+", "%20"].flatMap((one) => ["+", "%20", "%2B"].map((other) => [one, other]))) {
    const value = ["louisville, kentucky", "DETROIT, Michigan"].map((place) => place.replaceAll(" ", space ?? ""));
    const query = `exclude_assembly_location=${value.join(separator)}`;
    assert.equal(await fetchTotal(client, query), remaining, query);
    assert.equal(await unmatchedIn(query), undefined, query);
    assert.deepEqual(
      await unmatchedIn(`${query}${separator}Detroyt,${space}Michigan`),
      [{ parameter: "exclude_assembly_location", value: "Detroyt, Michigan", did_you_mean: "Detroit, Michigan" }],
      query,
    );
  }
});

test("a ZIP+4 code is the origin of its ZIP code, and the mask * matches every VIN", async () => {
  const near = (code: string) => fetchTotal(client, `postal_code=${code}&radius=50`);
  assert.equal(await near("94538-1234"), await near("94538"));
  assert.equal(await fetchTotal(client, "vin_pattern=*"), listings.length);
  assert.equal(
    await fetchTotal(client, "exclude_make=kia&vin_pattern=ZZZ,*"),
    await fetchTotal(client, "exclude_make=kia"),
  );
});

test("a repeated list is the list of all its values: the same response, tag and price", async () => {
  const pairs = [
    [
      "/v1/listings?make=Toyota&make=Honda&limit=5&fields=id&fields=make",
      "/v1/listings?make=Toyota,Honda&limit=5&fields=id,make",
    ],
    ["/v1/facets?facets=make&facets=model&state=CA&state=NV", "/v1/facets?facets=make,model&state=CA,NV"],
  ] as const;
  for (const [repeated, commas] of pairs) {
    const one = await client.get(repeated);
    const other = await client.get(commas);
    assert.deepEqual([one.status, one.body], [200, other.body]);
    assert.equal(one.headers.get("ETag"), other.headers.get("ETag"));
  }
  const twice = await client.get("/v1/listings?make=Toyota&make=Honda", { "Idempotency-Key": "list" });
  const again = await client.get("/v1/listings?make=Toyota,Honda", { "Idempotency-Key": "list" });
  assert.deepEqual(
    [twice, again].map(({ headers }) => headers.get("X-Usage-Cost-Micros")),
    ["2000", "0"],
  );
});

test("bounds may have decimals, and whole values pass exactly those within", async () => {
  const miles = listings.flatMap(({ miles: value }) => (typeof value === "number" && value > 0 ? [value] : []));
  const [one = 0] = miles;
  const within = (min: number, max: number) =>
    count((listing) => typeof listing.miles === "number" && listing.miles >= min && listing.miles <= max);
  for (const [min, max] of [
    [one - 0.5, one + 0.5],
    [one + 0.5, one + 0.5],
    [one, one + 1000.25],
  ] as const)
    assert.equal(await fetchTotal(client, `min_mileage=${min}&max_mileage=${max}`), within(min, max), `${min} ${max}`);
  assert.ok(within(one - 0.5, one + 0.5) > 0);
});
