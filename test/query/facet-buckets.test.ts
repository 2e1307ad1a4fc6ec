/** Categorical facets: values, counts, order and limits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCaseTable } from "../support/case-table.ts";
import type { Client } from "../support/http/service.ts";
import { dealerIdOf, vinOf } from "../support/lakes/feeds.ts";
import { type CarRow, feedsOf, serveFeeds } from "../support/lakes/served-feeds.ts";
import { fileScope } from "../support/scope.ts";

const north = dealerIdOf(1);
const south = dealerIdOf(2);
const withoutState = dealerIdOf(3);
const dealers = [
  { dealer_id: north, state: "ME", type: "franchise" },
  { dealer_id: south, state: "TX", type: "independent" },
  { dealer_id: withoutState },
];

const cars: readonly CarRow[] = [
  {
    dealer_id: north,
    make: "Toyota",
    model: "Camry",
    year: 2025,
    trim: "LE",
    doors: 4,
    cylinders: 4,
    exterior_color: "Ice Cap",
    inventory_type: "new",
    availability_status: "transit",
    price: 30_000,
    features: "sunroof|heated_seats",
    options_packages: "FE|3T",
    keywords: "clean_title",
  },
  {
    dealer_id: north,
    make: "TOYOTA",
    model: "camry",
    year: 2024,
    trim: "le",
    doors: 4,
    cylinders: 10,
    exterior_color: "ICE CAP",
    inventory_type: "used",
    availability_status: "stock",
    price: 20_000,
    features: "SUNROOF|sunroof",
    keywords: "clean_title|one_owner",
  },
  {
    dealer_id: south,
    make: "Ford",
    model: "F-150",
    year: 2024,
    trim: "XLT",
    doors: 2,
    cylinders: 6,
    exterior_color: "Race Red",
    inventory_type: "used",
    options_packages: "3T",
    keywords: "fleet|branded",
  },
  { dealer_id: south, make: "Ford", model: "Escape", year: 2024, cylinders: 0, inventory_type: "used" },
  { dealer_id: withoutState, make: "Mazda", model: "3", year: 2009 },
  { dealer_id: withoutState, make: "Fiat", model: "500", trim: "Ábarth" },
];
const client = await serveFeeds(fileScope, feedsOf(cars, dealers));

/** Returns the buckets of a facet as text: `value count, value count`. */
async function countsOf(service: Client, facet: string, query = ""): Promise<string> {
  const { data } = await service.getBody("getFacets", `/v1/facets?facets=${facet}${query}`);
  return (data.facets[facet] ?? []).map(({ value, count }) => `${value} ${count}`).join(", ");
}

const cases = parseCaseTable(
  ["facet", "more", "buckets"],
  `
  facet               | more                    | buckets
  make                |                         | Ford 2, Toyota 2, Fiat 1, Mazda 1
  model               |                         | Camry 2, 3 1, 500 1, Escape 1, F-150 1
  year                |                         | 2024 3, 2009 1, 2025 1
  trim                |                         | LE 2, XLT 1, Ábarth 1
  cylinders           |                         | 0 1, 4 1, 6 1, 10 1
  cylinders           | sort=count              | 0 1, 4 1, 6 1, 10 1
  doors               |                         | 4 2, 2 1
  doors               | sort=count              | 2 1, 4 2
  seating_capacity    |                         |
  exterior_color      |                         | ICE CAP 2, Race Red 1
  base_exterior_color |                         | Red 1
  inventory_type      |                         | used 3, new 1
  availability_status |                         | stock 1, transit 1
  state               |                         | ME 2, TX 2
  dealer_type         |                         | franchise 2, independent 2
  features            |                         | sunroof 2, heated_seats 1
  options_packages    |                         | 3T 2, FE 1
  keywords            |                         | clean_title 2, branded 1, fleet 1, one_owner 1
  keywords            | make=toyota             | clean_title 2, one_owner 1
  make                | make=toyota             | Toyota 2
  make                | exclude_make=toyota     | Ford 2, Fiat 1, Mazda 1
  make                | features=sunroof        | Toyota 2
  features            | features=heated_seats   | heated_seats 1, sunroof 1
  make                | max_price=25000         | Toyota 1
  state               | keywords=clean_title    | ME 2
  year                | exclude_state=TX        | 2009 1, 2024 1, 2025 1
  make                | facet_value_limit=3     | Ford 2, Toyota 2, Fiat 1
  make                | facet_value_limit=1&sort=count | Fiat 1
  make                | make=unknown            |
  make                | facet_value_prefix=F    | Ford 2, Fiat 1
  model               | facet_value_prefix=f15  | F-150 1
  features            | facet_value_prefix=seats+h | heated_seats 1
  trim                | facet_value_prefix=ab   | Ábarth 1
  make                | facet_value_prefix=f&facet_value_limit=1 | Ford 2
  make                | facet_value_prefix=%2B  |
`,
);

for (const { facet, more, buckets } of cases) {
  test(`${facet} ${more}: ${buckets || "no bucket"}`, async () => {
    assert.equal(await countsOf(client, facet, more === "" ? "" : `&${more}`), buckets);
  });
}

test("facets requested together equal those requested one by one", async () => {
  const facets = [...new Set(cases.map(({ facet }) => facet))];
  for (const query of ["", "&make=toyota"]) {
    const { data, meta } = await client.getBody("getFacets", `/v1/facets?facets=${facets}${query}`);
    assert.deepEqual([meta.facets, Object.keys(data.facets)], [facets, facets]);
    for (const facet of facets) {
      const alone = await client.getBody("getFacets", `/v1/facets?facets=${facet}${query}`);
      assert.deepEqual(data.facets[facet], alone.data.facets[facet], facet);
      assert.equal(alone.data.total, data.total);
    }
  }
});

test("a value is text in every facet, spelled as its filter takes it", async () => {
  const facets = [...new Set(cases.map(({ facet }) => facet))];
  const { data } = await client.getBody("getFacets", `/v1/facets?facets=${facets}`);
  assert.deepEqual(data.facets.year, [
    { value: "2024", count: 3 },
    { value: "2009", count: 1 },
    { value: "2025", count: 1 },
  ]);
  for (const facet of facets.filter((name) => name !== "keywords")) {
    for (const { value, count } of data.facets[facet] ?? []) {
      assert.equal(typeof value, "string", facet);
      const { pagination } = await client.getBody(
        "searchListings",
        `/v1/listings?${facet}=${encodeURIComponent(value)}`,
      );
      assert.equal(pagination.total, count, `${facet}=${value}`);
    }
  }
});

test("ties are ordered by number for whole numbers, and by text for digits in a text", async (scope) => {
  const digits = ["9", "10", "007", "7", "1e1", "100"];
  const numbered = await serveFeeds(
    scope,
    feedsOf(digits.map((trim, index) => ({ trim, year: 2030 - index, cylinders: [8, 10, 12, 4, 16, 5][index] ?? "" }))),
  );
  for (const sort of ["count", "-count"]) {
    assert.equal(await countsOf(numbered, "trim", `&sort=${sort}`), "007 1, 10 1, 100 1, 1e1 1, 7 1, 9 1");
    assert.equal(await countsOf(numbered, "cylinders", `&sort=${sort}`), "4 1, 5 1, 8 1, 10 1, 12 1, 16 1");
    assert.equal(await countsOf(numbered, "year", `&sort=${sort}`), "2025 1, 2026 1, 2027 1, 2028 1, 2029 1, 2030 1");
  }
  const { data } = await numbered.getBody("getFacets", "/v1/facets?facets=cylinders&facet_value_limit=3");
  assert.deepEqual(
    data.facets.cylinders?.map(({ value }) => value),
    ["4", "5", "8"],
  );
});

test("a facet has twenty values by default, and at most a hundred", async (scope) => {
  const lakeOf120 = await serveFeeds(
    scope,
    feedsOf(Array.from({ length: 120 }, (_, index) => ({ trim: `trim ${1000 + index}` }))),
  );
  for (const [query, count] of [
    ["", 20],
    ["&facet_value_limit=5", 5],
    ["&facet_value_limit=100", 100],
  ] as const) {
    const { data } = await lakeOf120.getBody("getFacets", `/v1/facets?facets=trim${query}`);
    const values = Array.from({ length: count }, (_, index) => ({ value: `trim ${1000 + index}`, count: 1 }));
    assert.deepEqual([data.total, data.facets.trim], [120, values]);
  }
});

test("a color spelled differently on two days is one value with one metric", async (scope) => {
  const carsOfColor = (color: string, first: number, dealer_id: string) =>
    Array.from({ length: 6 }, (_, index) => ({
      vin: vinOf(first + index),
      dealer_id,
      make: "Kia",
      price: 10_000 + index,
      base_exterior_color: color,
    }));
  const described = [north, south].map((dealer_id) => ({ dealer_id, name: "A dealer" }));
  const lakeOfTwoDays = await serveFeeds(
    scope,
    { dealers: described, inventory: carsOfColor("Zebra", 1, north) },
    { dealers: described, inventory: carsOfColor("ZEBRA", 11, south) },
  );
  const metric = { name: "price.mean", value: 10_002.5, sample: 12 };
  const { data } = await lakeOfTwoDays.getBody("getFacets", "/v1/facets?facets=base_exterior_color&metric=price.mean");
  assert.equal(data.facets.base_exterior_color?.length, 1);
  assert.deepEqual(
    [data.facets.base_exterior_color?.[0]?.count, data.facets.base_exterior_color?.[0]?.metric],
    [12, metric],
  );
  assert.match(await countsOf(lakeOfTwoDays, "base_exterior_color"), /^zebra 12$/i);
  const { pagination } = await lakeOfTwoDays.getBody("searchListings", "/v1/listings?base_exterior_color=zebra");
  assert.equal(pagination.total, 12);
});
