/** What pages say of searches, on the front door and about states: a table of cases for each sentence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../../../src/web/sentences/sentence.ts";
import {
  allGreatPrices,
  bestChanges,
  bestPricesTitle,
  cheapestSentence,
  fartherTitle,
  frontFacts,
  frontLine,
  isOldDay,
  medianLabel,
  refusedFilter,
  shopVerdict,
} from "../../../src/web/sentences/shop.ts";
import { spokenSearch } from "../../../src/web/shop/filter-words.ts";
import { assertSaid, marked } from "../../support/web/sentences.ts";

test("a search is said in words", () => {
  const near = { postal_code: "98402", radius: "100" };
  assertSaid(
    (view: Readonly<Record<string, string>>) => spokenSearch(view, { place: "Tacoma, WA" }),
    [
      [
        { inventory_type: "used,certified", drivetrain: "AWD", body_type: "SUV", max_price: "25000", ...near },
        "Used AWD SUVs to $25,000 within 100 miles of Tacoma, WA",
      ],
      [{}, "-"],
      [{ inventory_status: "sold" }, "-"],
      [{ inventory_type: "new,used,certified" }, "Cars"],
      [{ inventory_type: "certified", model: "Prius" }, "Certified Prius cars"],
      [{ inventory_type: "used", make: "Porsche", model: "911", state: "WA" }, "Used Porsche 911s in WA"],
      [{ body_type: "Sedan,Coupe", min_year: "2021", max_year: "2024" }, "Sedans or coupes, 2021 to 2024"],
      [{ min_year: "2021", min_price: "10000", max_mileage: "60000" }, "Cars from $10,000, from 2021, to 60,000 mi"],
      [
        { base_exterior_color: "Red", features: "apple_carplay,sunroof", keywords: "clean_title,branded" },
        "Red cars with Apple CarPlay and sunroof, clean title, no branded title",
      ],
      [
        { model: "RAV4,CR-V", body_type: "SUV", postal_code: "98402", radius: "1" },
        "RAV4s or CR-Vs within 1 mile of Tacoma, WA, SUV",
      ],
    ],
  );
});

test("a search begins with how many cars match, and which of them are great prices", () => {
  const search = "Used AWD SUVs to $25,000 within 100 miles of Tacoma, WA";
  assertSaid(shopVerdict, [
    [
      { cars: 9961, great: 784, branded: 145, isBestFirst: true },
      "9,961 cars. [neutral:784 great prices] stand first.",
      "Ordered by how the price compares with similar cars. 145 have a branded title: they carry a red badge and no rating.",
    ],
    [
      { cars: 9961, great: 784, branded: 1 },
      "9,961 cars. [neutral:784 are great prices].",
      "1 has a branded title: it carries a red badge and no rating.",
    ],
    [
      { cars: 766, great: 766, search, isBestFirst: true },
      "766 cars match. All are [neutral:great prices].",
      `${search}.`,
    ],
    [
      {
        cars: 7,
        great: 2,
        greatCities: ["Seattle", "Seattle"],
        search,
        cleanTitles: 6,
        used: 7,
        new: 0,
        medianPrice: 17_898,
        medianDays: 58,
        isBestFirst: true,
      },
      "Seven cars match. Two are [neutral:great prices], both in Seattle.",
      `${search}. Six of seven state a clean title.`,
      "$17,898 median price",
      "58 days typical time on the lot",
    ],
    [
      {
        cars: 7,
        great: 2,
        greatCities: ["Seattle", "Kent"],
        search: "Used SUVs",
        used: 3,
        new: 4,
        medianPrice: 17_898,
        medianDays: 1,
        hasPriceBound: true,
      },
      "Seven cars match. Two are [neutral:great prices].",
      "Used SUVs.",
      "$17,898 median price, used and new together, within your bound",
      "1 day typical time on the lot, used and new together",
    ],
    [
      { cars: 1, great: 1, greatCities: ["Seattle"], search: "X", cleanTitles: 1 },
      "One car matches. It is a [neutral:great price], in Seattle.",
      "X. It states a clean title.",
    ],
    [
      { cars: 1, great: 0, good: 1, search: "X", cleanTitles: 0 },
      "One car matches. It is a [neutral:good price].",
      "X.",
    ],
    [{ cars: 1, great: 0, good: 0, search: "X" }, "One car matches.", "X."],
    [
      { cars: 3, great: 3, greatCities: ["Kent", "Kent", "Kent"], search: "X", cleanTitles: 3 },
      "Three cars match. All are [neutral:great prices], all in Kent.",
      "X. All three state a clean title.",
    ],
    [
      { cars: 3, great: 1, greatCities: [null], search: "X", cleanTitles: 0 },
      "Three cars match. One is a [neutral:great price].",
      "X. None states a clean title.",
    ],
    [
      { cars: 4, great: 0, good: 1, search: "X", cleanTitles: 1 },
      "Four cars match. None is a great price, one is [neutral:good].",
      "X. One of four states a clean title.",
    ],
    [{ cars: 4, great: 0, good: 0, search: "X" }, "Four cars match. None is a great or good price.", "X."],
    [{ cars: 4, great: null, search: "X" }, "Four cars match.", "X."],
    [{ cars: 2, search: "X", cleanTitles: 2 }, "Two cars match.", "X. Both state a clean title."],
    [
      { cars: 1203, great: 1, isBestFirst: true, search: "X", cleanTitles: 1010 },
      "1,203 cars match. [neutral:1 great price] stands first.",
      "X. 1,010 of 1,203 state a clean title.",
    ],
    [{ cars: 1203, great: 0, search: "X" }, "1,203 cars match.", "X."],
    [{ cars: 1, isSold: true, search: "X", great: 1 }, "One car was sold.", "X."],
    [
      { cars: 0, changes: 3, search: "Used Porsche 911s" },
      "No car matches. [neutral:One change] finds some.",
      "Used Porsche 911s.",
    ],
    [{ cars: 0, changes: 0, search: "X", cleanTitles: 0 }, "No car matches.", "X."],
    [{ cars: 0 }, "No car is for sale."],
    [{ cars: 0, isSold: true }, "No car was sold."],
    [
      { cars: 9961, great: 784, isBestFirst: true, hrefs: { great: "/shop?value_rating=great" } },
      "9,961 cars. [neutral:784 great prices] stand first.",
      "Ordered by how the price compares with similar cars.",
    ],
  ]);
});

test("a search with few cars offers the changes that show more", () => {
  const change = (words: string, cars: number) => ({ words, cars, href: "/shop" });
  const all = [
    change("Any drivetrain", 8),
    change("To $30,000", 12),
    change("Certified too", 7),
    change("Within 150 miles", 16),
    change("Any make", 9),
  ];
  assertSaid(
    (cars: number) =>
      bestChanges(cars, all)
        .map((one) => `${one.words}: ${one.cars}`)
        .join(" "),
    [
      [7, "Within 150 miles: 16 To $30,000: 12 Any make: 9"],
      [12, "Within 150 miles: 16"],
      [16, ""],
    ],
  );
  assertSaid((more: number) => fartherTitle(more, 150), [[9, "A little farther: 9 within 150 miles"]]);
  assertSaid(
    (city: string | null) => cheapestSentence("used 911", 92_590, city),
    [
      ["Bronx", "The cheapest used 911 for sale costs $92,590, in Bronx."],
      [null, "The cheapest used 911 for sale costs $92,590."],
    ],
  );
  assertSaid(
    (isSold: boolean) => cheapestSentence("Ford", 2825, "Greeley", undefined, isSold),
    [[true, "The cheapest Ford that was sold cost $2,825, in Greeley."]],
  );
  assertSaid(
    (price: number | null) => cheapestSentence("used 911", price, "Bronx", "/listings/1"),
    [
      [92_590, "The cheapest used 911 for sale costs <$92,590>, in Bronx."],
      [null, ""],
    ],
  );
});

test("a filter that is refused is named, and the rest of the search stays", () => {
  const kept = "Everything else of your search was understood and is kept. Until it is right, ";
  assertSaid(
    (value: string) => refusedFilter(value, true),
    [
      ["00000", "There is no ZIP code [attention:00000].", `${kept}distance is left out.`],
      ["x".repeat(60), `There is no ZIP code [attention:${"x".repeat(40)}…].`, `${kept}distance is left out.`],
    ],
  );
  assertSaid(
    (text: string) => refusedFilter(text, false),
    [["to 20000,00", "[attention:“to 20000,00”] cannot be searched.", `${kept}this filter is left out.`]],
  );
});

test("a median says what it mixes and whether a bound cuts it", () => {
  assertSaid(medianLabel, [
    [{ used: 1, new: 0 }, "median price"],
    [{ used: 1, new: 2 }, "median price, used and new together"],
  ]);
});

test("prices are of today until the day after theirs has ended in Hawaii", () => {
  for (const [now, isOld] of [
    ["2026-11-19T00:00:00Z", false],
    ["2026-11-21T10:00:00Z", false],
    ["2026-11-21T10:00:01Z", true],
    ["2026-12-19T00:00:00Z", true],
  ] as const)
    assert.equal(isOldDay("2026-11-19", Date.parse(now)), isOld, now);
});

test("the front door says what is for sale today, and nothing of today if the data is old", () => {
  const market = { cars: 9961, dealers: 522 };
  assertSaid(frontLine, [
    [
      { ...market, rated: 9449 },
      "9,961 cars of 522 dealers, 9,449 of them judged against similar ones. Ask in your own words.",
    ],
    [{ ...market, rated: 9961 }, "9,961 cars of 522 dealers, each judged against similar ones. Ask in your own words."],
    [{ ...market, cars: 1, dealers: 1 }, "1 car of 1 dealer. Ask in your own words."],
    [{ ...market, dealers: null, rated: 0 }, "9,961 cars. Ask in your own words."],
  ]);
  const shown = (facts: readonly Fact[]): string =>
    facts.map(({ value, label }) => `${marked(value)} ${marked(label)}`).join("; ");
  assertSaid(
    (isOld: boolean) =>
      shown(
        frontFacts({
          ...market,
          usedMedian: 25_999,
          great: 784,
          repriced: 1,
          medianDays: 34,
          day: "2026-11-19",
          isOld,
        }),
      ),
    [
      [
        false,
        "$25,999 half of the used cars cost less; 784 great prices today; 1 car with a new price since yesterday; 34 days typical time of used cars on the lot",
      ],
      [
        true,
        "$25,999 half of the used cars cost less; 784 great prices on Nov 19; 1 car with a new price on Nov 19; 34 days typical time of used cars on the lot",
      ],
    ],
  );
  assertSaid(
    (great: number | null) => shown(frontFacts({ ...market, great, day: "2026-11-19", isOld: false })),
    [
      [1, "1 great price today"],
      [null, ""],
    ],
  );
  assertSaid(
    (isOld: boolean) => bestPricesTitle({ day: "2026-11-19", isOld }, "Tacoma, WA"),
    [
      [false, "Today's best prices near Tacoma, WA"],
      [true, "The best prices of Nov 19 near Tacoma, WA"],
    ],
  );
  assertSaid(
    (great: number | null) => allGreatPrices(great, 150),
    [
      [11, "All 11 great prices within 150 miles"],
      [1, "The one great price within 150 miles"],
      [0, "-"],
      [null, "-"],
    ],
  );
});
