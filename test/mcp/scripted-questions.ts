/** Questions of car buyers, dealers and analysts, each with the tool calls of an agent that answers it on the demo market. */
import assert from "node:assert/strict";
import { isObject } from "../../src/base/json.ts";

export type Call = (tool: string, args: Record<string, unknown>) => Promise<Row>;
type Row = Record<string, unknown>;

/** Returns a member of an answer by its path. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((member, step) => {
    if (Array.isArray(member)) return member[Number(step)];
    return isObject(member) ? member[step] : undefined;
  }, value);
}

const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly Row[] => {
  const list = valueAt(value, ...path);
  assert.ok(Array.isArray(list), path.join("."));
  return list;
};

export interface Question {
  readonly asked: string;
  /** Calls tools and checks that their answers answer the question. */
  readonly answer: (call: Call) => Promise<void>;
}

export const questions: readonly Question[] = [
  {
    asked: "Buyer: Which used Honda CR-Vs under $30,000 are within 100 miles of 95118?",
    async answer(call) {
      const values = await call("find_values", { facets: ["model"], make: ["Honda"], facet_value_prefix: "cr" });
      const model = valueAt(values, "data", "facets", "model", 0, "value");
      assert.equal(model, "CR-V");
      const near = { postal_code: "95118", radius: 100, sort: "distance" };
      const found = await call("search_listings", {
        make: ["Honda"],
        model: [model],
        inventory_type: ["used"],
        max_price: 30_000,
        ...near,
      });
      for (const { price, distance_miles } of listAt(found, "data"))
        assert.ok(Number(price) <= 30_000 && Number(distance_miles) <= 100);
    },
  },
  {
    asked: "Buyer: Is the asking price of this car fair for its model and year?",
    async answer(call) {
      const [car] = listAt(
        await call("search_listings", { inventory_type: ["used"], min_price: 15_000, make: ["Toyota"], limit: 1 }),
        "data",
      );
      const { vin } = car ?? {};
      const { data: vehicle } = await call("look_up_vin", { vin });
      const build = { make: [valueAt(vehicle, "build", "make")], model: [valueAt(vehicle, "build", "model")] };
      const statistics = await call("market_statistics", {
        facets: ["year", "price"],
        ...build,
        inventory_type: ["used"],
      });
      assert.equal(typeof valueAt(statistics, "data", "stats", "price", "median"), "number");
    },
  },
  {
    asked:
      "Buyer: Which cars with heated seats and one owner have been for sale for longest, and how did their prices change?",
    async answer(call) {
      const values = await call("find_values", { facets: ["features"], facet_value_prefix: "heated" });
      const [feature] = listAt(values, "data", "facets", "features");
      const found = await call("search_listings", {
        features: [feature?.value],
        keywords: ["one_owner"],
        sort: "-days_on_market",
        limit: 3,
      });
      const [first] = listAt(found, "data");
      const listing = await call("get_listing", { listing_id: first?.id, include: ["price_history"] });
      assert.ok(
        Array.isArray(valueAt(listing, "data", "price_history")) && valueAt(listing, "data", "id") === first?.id,
      );
    },
  },
  {
    asked: "Buyer: What does a pickup with four-wheel drive cost, new and used?",
    async answer(call) {
      const values = await call("find_values", { facets: ["body_type", "drivetrain"] });
      const has = (facet: string, word: RegExp) =>
        listAt(values, "data", "facets", facet)
          .map(({ value }) => String(value))
          .filter((value) => word.test(value));
      const pickups = { body_type: has("body_type", /pickup|truck/i), drivetrain: has("drivetrain", /4wd|awd|four/i) };
      const statistics = await call("market_statistics", { facets: ["inventory_type"], ...pickups });
      assert.ok(listAt(statistics, "data", "facets", "inventory_type").length > 0);
    },
  },
  {
    asked: "Dealer: What is on my lot for longest, and what do others ask for the same model?",
    async answer(call) {
      const [dealer] = listAt(await call("search_dealers", { type: ["franchise"], limit: 1 }), "data");
      const inventory = await call("dealer_inventory", {
        dealer_id: dealer?.dealer_id,
        sort: "-days_on_market",
        limit: 10,
      });
      const [oldest] = listAt(inventory, "data");
      const same = { make: [oldest?.make], model: [oldest?.model], inventory_type: [oldest?.inventory_type] };
      const statistics = await call("market_statistics", { facets: ["trim", "price"], ...same });
      assert.ok(Number(valueAt(statistics, "data", "total")) > 0);
    },
  },
  {
    asked: "Dealer: Which models sell fastest in my state?",
    async answer(call) {
      const sold = { facets: ["model"], metric: "days_on_market.median", sort: "metric", sold_within_days: 30 };
      const found = await call("market_statistics", { ...sold, state: ["CA"] });
      assert.ok(listAt(found, "data", "facets", "model").length > 0);
    },
  },
  {
    asked: "Dealer: How many used Fords are for sale within 50 miles of 60634, and which dealers are in Chicago?",
    async answer(call) {
      const counts = await call("count_facets", {
        facets: ["dealer_type", "price"],
        make: ["Ford"],
        inventory_type: ["used"],
        postal_code: "60634",
        radius: 50,
      });
      assert.equal(typeof valueAt(counts, "data", "total"), "number");
      const dealers = await call("search_dealers", { q: "Chicago" });
      assert.ok(listAt(dealers, "data").length > 0);
    },
  },
  {
    asked: "Analyst: How have the median price and the supply of electric cars moved?",
    async answer(call) {
      const trends = await call("trends", {
        metric: ["price.median", "count", "new_listings"],
        interval: "day",
        powertrain_type: ["BEV"],
      });
      assert.ok(listAt(trends, "data", 0, "points").length >= 10);
    },
  },
  {
    asked: "Analyst: What share of each make's listings is certified?",
    async answer(call) {
      const [all, certified] = await Promise.all([
        call("count_facets", { facets: ["make"], facet_value_limit: 100 }),
        call("count_facets", { facets: ["make"], facet_value_limit: 100, inventory_type: ["certified"] }),
      ]);
      assert.ok(Number(valueAt(certified, "data", "total")) < Number(valueAt(all, "data", "total")));
    },
  },
  {
    asked: "Analyst: In which states are used SUVs dearest, at the median and the 75th percentile?",
    async answer(call) {
      const suvs = {
        body_type: ["SUV"],
        inventory_type: ["used"],
        facets: ["state"],
        sort: "-metric",
        facet_value_limit: 10,
      };
      for (const metric of ["price.median", "price.p75"]) {
        const found = await call("market_statistics", { ...suvs, metric });
        assert.ok(Number(valueAt(found, "data", "facets", "state", 0, "metric", "value")) > 0);
      }
    },
  },
  {
    asked: "Buyer: Which new electric cars under $60,000 have the largest discounts?",
    async answer(call) {
      const wanted = { powertrain_type: ["BEV"], inventory_type: ["new"], max_price: 60_000 };
      const found = await call("search_listings", { ...wanted, sort: "discount", limit: 10 });
      assert.ok(listAt(found, "data").length > 0);
    },
  },
  {
    asked: "Buyer: What do the middle half of used Toyota RAV4s cost, in one call?",
    async answer(call) {
      const metric = ["price.p25", "price.median", "price.p75"];
      const cars = { make: ["Toyota"], model: ["RAV4"], inventory_type: ["used"] };
      const found = await call("trends", { metric, interval: "quarter", ...cars });
      const points = listAt(found, "data", 0, "points");
      assert.equal(typeof valueAt(points.at(-1), "metrics", 0, "value"), "number");
    },
  },
  {
    asked: "Buyer: Which all-wheel-drive SUVs with seven seats are there, except Fords, by make?",
    async answer(call) {
      const wanted = { body_type: ["SUV"], drivetrain: ["AWD"], filters: "seating_capacity=7&exclude_make=Ford" };
      const found = await call("count_facets", { facets: ["make", "price"], ...wanted });
      assert.ok(listAt(found, "data", "facets", "make").every(({ value }) => value !== "Ford"));
    },
  },
  {
    asked: "Buyer: Which used cars like this one are near me, the cheapest first?",
    async answer(call) {
      const [car] = listAt(
        await call("search_listings", { inventory_type: ["used"], body_type: ["SUV"], limit: 1 }),
        "data",
      );
      const same = { make: [car?.make], model: [car?.model], year: [car?.year] };
      const found = await call("search_listings", {
        ...same,
        postal_code: "60634",
        radius: 500,
        sort: "price",
        limit: 10,
      });
      assert.equal(typeof valueAt(found, "pagination", "total"), "number");
    },
  },
  {
    asked: "Dealer: In which colors did pickups sell in the last 30 days?",
    async answer(call) {
      const sold = { body_type: ["Pickup"], sold_within_days: 30 };
      const found = await call("count_facets", { facets: ["base_exterior_color"], ...sold });
      assert.ok(listAt(found, "data", "facets", "base_exterior_color").length > 0);
    },
  },
  {
    asked: "Dealer: Which makes have dropped their prices most often, week by week?",
    async answer(call) {
      const found = await call("trends", {
        metric: ["price_drops"],
        interval: "week",
        facet: ["make"],
        facet_limit: 5,
      });
      assert.equal(listAt(found, "data").length, 5);
    },
  },
  {
    asked: "Dealer: What are all cars on my lot, with prices and days on the market?",
    async answer(call) {
      const [dealer] = listAt(await call("search_dealers", { q: "Chicago", limit: 1 }), "data");
      const inventory = await call("dealer_inventory", { dealer_id: dealer?.dealer_id, limit: 100 });
      assert.ok(listAt(inventory, "data").length > 0);
    },
  },
  {
    asked: "Analyst: How many cars of each body type were for sale a week ago, and now?",
    async answer(call) {
      const now = await call("count_facets", { facets: ["body_type"] });
      const weekAgo = Date.parse(String(valueAt(now, "meta", "as_of"))) - 7 * 86_400_000;
      const snapshot_date = new Date(weekAgo).toISOString().slice(0, 10);
      const then = await call("count_facets", { facets: ["body_type"], snapshot_date });
      assert.ok(Number(valueAt(then, "data", "total")) > 0);
    },
  },
  {
    asked: "Analyst: For which makes would today's supply last longest?",
    async answer(call) {
      const found = await call("trends", {
        metric: ["days_supply"],
        interval: "month",
        facet: ["make"],
        facet_limit: 20,
      });
      assert.ok(listAt(found, "data").length > 10);
    },
  },
  {
    asked: "Analyst: How do the prices of used cars depend on their model year?",
    async answer(call) {
      const found = await call("market_statistics", { facets: ["year"], inventory_type: ["used"] });
      assert.ok(listAt(found, "data", "facets", "year").length > 5);
    },
  },
];
