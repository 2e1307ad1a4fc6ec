/** Cars with the attributes of `new-attributes.ts`, and what a lake with them answers. */
import { dealerIdOf, type FeedRow, vinOf } from "../support/lakes/feeds.ts";

const hondas = [
  ["Turbocharged", "Clean", 158, 57.5, -12.25, "Powertrain|Rust"],
  ["turbocharged", "Salvage", 150, 57.5, 0.5, "Powertrain"],
  ["Turbocharged", "clean", 180, 82, "", ""],
  ["Supercharged", "", 306, 99.9, 12.75, "Rust"],
  ["", "Clean", "", "", -0.25, ""],
] as const;

export const cars: readonly FeedRow[] = [
  ...hondas.map(([engine_aspiration, title_status, horsepower, battery_kwh, price_trend, warranties], n) => ({
    vin: vinOf(n),
    dealer_id: dealerIdOf(1),
    make: "Honda",
    model: "Civic",
    price: 20_000 + n,
    engine_aspiration,
    title_status,
    horsepower,
    battery_kwh,
    price_trend,
    warranties,
  })),
  ...Array.from({ length: 10 }, (_, n) => ({
    vin: vinOf(5 + n),
    dealer_id: dealerIdOf(2),
    make: "Tesla",
    model: "S",
    price: 50_000 + n,
    horsepower: 400 + n,
    battery_kwh: 60 + n / 10,
  })),
];

/** The Hondas as searches serve them. */
const servedHondas = [
  ["Turbocharged", "Clean", 158, 57.5, -12.25, ["Powertrain", "Rust"]],
  ["Turbocharged", "Salvage", 150, 57.5, 0.5, ["Powertrain"]],
  ["Turbocharged", "Clean", 180, 82, null, []],
  ["Supercharged", null, 306, 99.9, 12.75, ["Rust"]],
  [null, "Clean", null, null, -0.25, []],
].map(([engine_aspiration, title_status, horsepower, battery_kwh, price_trend, warranties]) => ({
  engine_aspiration,
  title_status,
  horsepower,
  battery_kwh,
  price_trend,
  warranties,
  rating: 4.5,
}));

/** The numbers of the Hondas that searches find, by price unless the request sorts otherwise. */
export const findings: readonly (readonly [query: string, numbers: readonly number[]])[] = [
  ["engine_aspiration=TURBOCHARGED", [0, 1, 2]],
  ["exclude_engine_aspiration=turbocharged", [3, 4]],
  ["title_status=clean", [0, 2, 4]],
  ["exclude_title_status=clean,salvage", [3]],
  ["engine_aspiration=turbocharged&title_status=clean", [0, 2]],
  ["min_power=151&max_power=180", [0, 2]],
  ["min_battery=57.6", [2, 3]],
  ["max_battery=57.5", [0, 1]],
  ["min_battery=57.41&max_battery=82.09", [0, 1, 2]],
  ["min_price_trend=-12.25&max_price_trend=-0.25", [0, 4]],
  ["max_rating=4.4", []],
  ["min_rating=4.5&sort=-power", [3, 2, 0, 1, 4]],
  ["sort=price_trend", [0, 4, 1, 3, 2]],
  ["warranties=rust", [0, 3]],
  ["warranties=RUST,powertrain", [0]],
  ["exclude_warranties=powertrain", [2, 3, 4]],
];

const numbers = ["horsepower", "battery_kwh", "rating", "price_trend"];

/** Other requests, each with the part of its answer that is compared. */
export const answers: readonly (readonly [path: string, expected: object])[] = [
  [
    "/v1/facets?facets=engine_aspiration,title_status,warranties&make=honda",
    {
      facets: {
        engine_aspiration: [
          { value: "Turbocharged", count: 3 },
          { value: "Supercharged", count: 1 },
        ],
        title_status: [
          { value: "Clean", count: 3 },
          { value: "Salvage", count: 1 },
        ],
        warranties: [
          { value: "Powertrain", count: 2 },
          { value: "Rust", count: 2 },
        ],
      },
    },
  ],
  [
    "/v1/facets?facets=title_status&engine_aspiration=turbocharged",
    {
      facets: {
        title_status: [
          { value: "Clean", count: 2 },
          { value: "Salvage", count: 1 },
        ],
      },
    },
  ],
  [
    `/v1/facets?facets=${numbers.join()}&make=honda`,
    {
      stats: {
        horsepower: { min: 150, max: 306, count: 4, missing: 1, mean: 198.5, median: 169 },
        battery_kwh: { min: 57.5, max: 99.9, count: 4, missing: 1, mean: 74.225, median: 69.75 },
        rating: { min: 4.5, max: 4.5, count: 5, missing: 0, mean: 4.5, median: 4.5, stddev: 0 },
        price_trend: { min: -12.25, max: 12.75, count: 4, missing: 1, mean: 0.1875, median: 0.125 },
      },
      range_facets: {
        horsepower: { interval: 10, min: 150, max: 310 },
        battery_kwh: { interval: 5, min: 55, max: 100 },
        rating: { buckets: [{ min: 4.5, max: 4.6, count: 5 }], interval: 0.1 },
        price_trend: { interval: 2, min: -12.25, max: 14 },
      },
    },
  ],
  [
    "/v1/facets?facets=battery_kwh&make=honda&interval=battery_kwh:10",
    {
      range_facets: {
        battery_kwh: {
          buckets: [
            { min: 50, max: 60, count: 2 },
            { min: 60, max: 70, count: 0 },
            { min: 70, max: 80, count: 0 },
            { min: 80, max: 90, count: 1 },
            { min: 90, max: 100, count: 1 },
          ],
        },
      },
    },
  ],
  [
    "/v1/facets?facets=price_trend&make=honda&interval=price_trend:5",
    {
      range_facets: {
        price_trend: {
          buckets: [
            { min: -15, max: -10, count: 1 },
            { min: -10, max: -5, count: 0 },
            { min: -5, max: 0, count: 1 },
            { min: 0, max: 5, count: 1 },
            { min: 5, max: 10, count: 0 },
            { min: 10, max: 15, count: 1 },
          ],
        },
      },
    },
  ],
  [
    "/v1/facets?facets=make&metric=battery_kwh.p95&sort=metric",
    {
      facets: {
        make: [
          { value: "Tesla", metric: { value: 60.855, sample: 10 } },
          { value: "Honda", metric: { value: null, sample: 4 } },
        ],
      },
    },
  ],
  [
    "/v1/trends?metric=battery_kwh.mean,rating.median&interval=day&make=tesla",
    [
      {
        points: [19, 20].map((day) => ({ start: `2026-03-${day}`, metrics: [{ value: 60.45 }, { value: 3.9 }] })),
      },
    ],
  ],
  [
    "/v1/listings?sort=price&make=honda&fields=engine_aspiration,title_status,horsepower,battery_kwh,rating,price_trend,warranties",
    servedHondas,
  ],
  [`/v1/vins/${vinOf(1)}`, { build: { engine_aspiration: "Turbocharged", horsepower: 150, battery_kwh: 57.5 } }],
];
