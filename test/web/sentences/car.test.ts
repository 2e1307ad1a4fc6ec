/** What pages say of a car: a table of cases for each sentence. */
import { test } from "node:test";
import {
  alternativesTitle,
  cardDifference,
  cardSentence,
  carVerdict,
  countSimilar,
  dealerSentence,
  expectedWords,
  fewCarsNote,
  historyParts,
  nearestNote,
  nearestTitle,
  noRatingOf,
  paceNote,
  priceTimeTitle,
  ratingEvidence,
  similarNote,
  similarTitle,
} from "../../../src/web/sentences/car.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const great = { price: 13_600, market_value: 15_875, value_rating: "great" } as const;
const unrated = { price: 13_600, market_value: null, value_rating: null };

test("a card says how far a price is from similar cars, or why it has no rating", () => {
  assertSaid(cardSentence, [
    [great, "$2,275 less than similar cars"],
    [{ price: 14_499, market_value: 14_492, value_rating: "fair" }, "$7 more than similar cars"],
    [{ price: 1, market_value: 1, value_rating: "fair" }, "Same price as similar cars"],
    [{ price: 3_000_000, market_value: 1_750_000, value_rating: "high" }, "$1,250,000 more than similar cars"],
    [{ ...unrated, keywords: ["branded"] }, "No rating: cars with a branded title are not valued"],
    [{ ...unrated, price: null, keywords: ["branded"] }, "No rating: cars with a branded title are not valued"],
    [{ ...unrated, price: null }, "No rating: the dealer states no price"],
    [{ ...unrated, price: null, market_value: 20_000 }, "No rating: the dealer states no price"],
    [{ ...unrated, price: 9000, market_value: 20_000 }, "No rating: less than half of what similar cars cost"],
    [{ ...unrated, price: 41_000, market_value: 20_000 }, "No rating: more than twice what similar cars cost"],
    [unrated, "Too few similar cars to rate"],
    [{ ...unrated, null_reason: "insufficient_sample" }, "Too few similar cars to rate"],
    [{ ...unrated, null_reason: "branded_title" }, "No rating: cars with a branded title are not valued"],
    [{ ...unrated, null_reason: "unknown_attributes" }, "No rating: its model, year, miles or condition is not stated"],
    [{ ...unrated, null_reason: "out_of_range" }, "No rating: no similar car has such a year, miles or price"],
    [{ ...unrated, null_reason: "no_data" }, "No rating: this version of the data has no values"],
  ]);
  assertSaid(cardDifference, [
    [great, "$2,275 less"],
    [{ ...great, price: 15_875 }, "Same price"],
    [unrated, "-"],
  ]);
});

test("a card says what is stated of a car's history, how long it stands and how far away it is", () => {
  assertSaid(
    (keywords: readonly string[] | null) => historyParts(keywords).join(" · "),
    [
      [["clean_title", "one_owner"], "Clean title · 1 owner"],
      [["clean_title", "fleet"], "Clean title · Ex-fleet"],
      [["branded", "clean_title"], "Salvage or rebuilt"],
      [[], "No history stated"],
      [null, "No history stated"],
    ],
  );
});

test("the page of a car begins with a judgement that is not louder than its data", () => {
  const asOf = "2026-11-19";
  const clean = { keywords: ["clean_title", "one_owner"], asOf };
  assertSaid(carVerdict, [
    [
      { ...great, ...clean, days: 179, cuts: 0 },
      "[neutral:About $2,300 less] than similar cars. [attention:179 days unsold] and never reduced: ask why. Clean title, one owner.",
    ],
    [
      { ...great, asOf, days: 179, cuts: 1 },
      "[neutral:About $2,300 less] than similar cars. [attention:179 days unsold], reduced once.",
    ],
    [
      { ...great, asOf, days: 61, cuts: null },
      "[neutral:About $2,300 less] than similar cars. [attention:61 days unsold].",
    ],
    [{ ...great, asOf, days: 60, cuts: 0 }, "[neutral:About $2,300 less] than similar cars."],
    [{ ...great, asOf, days: 0 }, "[neutral:About $2,300 less] than similar cars. Listed today."],
    [{ ...great, asOf, days: 1 }, "[neutral:About $2,300 less] than similar cars. Listed yesterday."],
    [
      { ...great, asOf, days: 7, keywords: [] },
      "[neutral:About $2,300 less] than similar cars. Listed 7 days ago. No history stated.",
    ],
    [
      { ...great, asOf, days: 20, cuts: 2, cutBy: 1200 },
      "[neutral:About $2,300 less] than similar cars. Reduced twice, by $1,200.",
    ],
    [{ ...great, asOf, days: 20, cuts: 3 }, "[neutral:About $2,300 less] than similar cars. Reduced three times."],
    [
      { price: 15_521, market_value: 15_875, value_rating: "fair", asOf },
      "About $350 less than similar cars, a usual difference.",
    ],
    [{ price: 15_900, market_value: 15_875, value_rating: "fair", asOf }, "About the price of similar cars."],
    [
      { price: 18_174, market_value: 15_875, value_rating: "high", asOf },
      "[attention:About $2,300 more] than similar cars.",
    ],
    [{ price: null, market_value: 15_875, asOf }, "The dealer states no price. Similar cars cost about $16,000."],
    [{ price: null, asOf, keywords: ["fleet"] }, "The dealer states no price. Once a fleet car."],
    [
      { price: 5000, market_value: 15_875, asOf },
      "[attention:Less than half of what similar cars cost]: ask whether the price is a mistake.",
    ],
    [
      { price: 50_000, market_value: 15_875, asOf },
      "[attention:More than twice what similar cars cost]: ask whether the price is a mistake.",
    ],
    [{ price: 13_600, market_value: null, ...clean }, "Too few similar cars to rate. Clean title, one owner."],
    [
      { price: 12_299, keywords: ["branded"], days: 300, asOf },
      "[attention:The title is branded]: an insurer or a state marked this car as salvage, rebuilt or flooded. Such cars are not valued here. Ask for the repair record, and have it inspected.",
    ],
    [{ ...great, ...clean, soldOn: "2026-11-15" }, "Sold by Nov 15, last asked $13,600.", "Clean title, one owner."],
    [{ price: null, soldOn: "2025-11-15", asOf }, "Sold by Nov 15, 2025."],
    [
      { ...great, asOf, missingSince: "2026-11-17" },
      "[attention:Not in its dealer's file since Nov 17]: ask whether it is still for sale. [neutral:About $2,300 less] than similar cars.",
    ],
    [{ price: null, asOf }, "The dealer states no price."],
  ]);
});

test("a page says why a car has no rating", () => {
  const reasons = [
    noRatingOf({ price: 1, keywords: ["branded"] }),
    noRatingOf({ price: null }),
    noRatingOf({ price: 1, market_value: 10 }),
    noRatingOf({ price: 100, market_value: 10 }),
    noRatingOf({ price: 1 }),
    noRatingOf(great),
  ];
  assertSaid(
    (index: number) => reasons[index],
    [
      [0, "branded_title"],
      [1, "no_price"],
      [2, "too_low"],
      [3, "too_high"],
      [4, "insufficient_sample"],
      [5, "-"],
    ],
  );
});

test("the figure of similar cars says how many cost more", () => {
  assertSaid(similarTitle, [
    [{ less: 0, more: 18 }, "All 18 similar cars cost more"],
    [{ less: 18, more: 0 }, "All 18 similar cars cost less"],
    [{ less: 3, more: 15 }, "15 of 18 similar cars cost more"],
    [{ less: 5, more: 5 }, "Of 10 similar cars, as many cost more as less"],
    [{ less: 0, more: 2 }, "Both similar cars cost more"],
    [{ less: 0, more: 1 }, "The one similar car costs more"],
    [{ less: 0, more: 0, same: 1 }, "The one similar car costs the same"],
    [{ less: 0, more: 0, same: 4 }, "All 4 similar cars cost the same"],
    [{ less: 0, more: 1, same: 4 }, "1 of 5 similar cars costs more"],
    [{ less: 0, more: 0 }, "No similar car within this distance"],
  ]);
  assertSaid(
    (prices: readonly number[]) => similarTitle(countSimilar(100, prices)),
    [
      [[99, 100, 101, 102], "2 of 4 similar cars cost more"],
      [[], "No similar car within this distance"],
    ],
  );
  assertSaid(similarNote, [
    [
      { model: "Outlander", years: [2022, 2021, 2025] },
      "Each dot is a 2021 to 2025 Outlander, its price adjusted to this car's year, miles, trim and options. Filled: for sale. Open: sold in the last 90 days.",
    ],
    [
      { model: "Outlander", years: [] },
      "Each dot is an Outlander, its price adjusted to this car's year, miles, trim and options. Filled: for sale. Open: sold in the last 90 days.",
    ],
  ]);
  assertSaid(
    (miles: number | null) => nearestNote(miles, 100),
    [
      [670.2, "The nearest one is 670 miles away, so the whole country counts."],
      [99, "-"],
      [null, "-"],
    ],
  );
  assertSaid(expectedWords, [[0.8, "we expect 8 of 10 such cars here"]]);
  assertSaid(nearestTitle, [
    [6, "The six nearest similar cars"],
    [1, "The nearest similar car"],
    [12, "The 12 nearest similar cars"],
  ]);
});

test("the figure of the price over time says how often it was reduced", () => {
  assertSaid(priceTimeTitle, [
    [{ days: 179, cuts: 0 }, "Never reduced in 179 days"],
    [{ days: 0, cuts: 0 }, "Listed today"],
    [{ days: 1, cuts: 1, change: -500 }, "Reduced once in 1 day, by $500 in all"],
    [{ days: 30, cuts: 3, change: 200 }, "Reduced three times in 30 days"],
    [{ days: 30, cuts: 0, change: 200 }, "Raised by $200 in 30 days"],
    [{ days: 30, cuts: null }, "30 days on the lot"],
    [{ days: null, cuts: null }, "Its price over time"],
  ]);
  assertSaid(paceNote, [
    [{ days: 179, cuts: 0, supplyDays: 64.8 }, "Similar cars sell out in 65 days at today's pace. Offer less."],
    [{ days: 179, cuts: 2, supplyDays: 65 }, "Similar cars sell out in 65 days at today's pace."],
    [{ days: 60, cuts: 0, supplyDays: 0.2 }, "Similar cars sell out in 1 day at today's pace."],
    [{ days: 179, cuts: 0, supplyDays: null }, "-"],
  ]);
});

test("a car's page says how its dealer prices, why its price has its rating, and what else there is", () => {
  assertSaid(dealerSentence, [
    [
      { cars: 3, medianDays: 54, rated: 3, goodOrBetter: 2 },
      "3 cars for sale, typically 54 days old. 2 of 3 are great or good prices.",
    ],
    [
      { cars: 1, medianDays: 1, rated: 1, goodOrBetter: 1 },
      "1 car for sale, 1 day old. 1 of 1 is a great or good price.",
    ],
    [{ cars: 3, used: 2, new: 1, medianDays: 54 }, "3 cars for sale, typically 54 days old, used and new together."],
    [{ cars: 40, rated: 30, goodOrBetter: 0 }, "40 cars for sale. None of 30 rated ones is a great or good price."],
    [{ cars: 40, rated: 0, goodOrBetter: 0 }, "40 cars for sale."],
    [{ cars: null }, ""],
  ]);
  assertSaid(ratingEvidence, [
    [
      { ...great, market_value_low: 13_829 },
      "Rated great: $13,600 lies under $13,829, the lower end of what we expect.",
    ],
    [{ ...great, value_rating: "good", goodBelow: 15_000.2 }, "Rated good: $13,600 lies under $15,001."],
    [
      { ...great, value_rating: "fair", market_value_high: 17_000 },
      "Rated fair: $13,600 lies within what we expect, which ends at $17,000.",
    ],
    [
      { ...great, value_rating: "high", market_value_high: 13_000 },
      "Rated high: $13,600 lies over $13,000, the upper end of what we expect.",
    ],
    [unrated, "Too few similar cars to rate."],
    [great, "-"],
  ]);
  assertSaid(
    (from: "search" | "branded" | "model") => alternativesTitle("Kona", from),
    [
      ["search", "Or one of these, nearer to your search"],
      ["branded", "The nearest Konas with a clean title"],
      ["model", "Other Konas"],
    ],
  );
});

test("a figure of few cars is a sentence, with what is expected where that is known", () => {
  const interval = { market_value_low: 12_829, market_value_high: 17_600, coverage: 0.8 };
  assertSaid(
    (prices: readonly number[]) => fewCarsNote(prices, interval),
    [
      [
        [15_000, 13_000],
        "Made comparable, they cost $13,000 to $15,000. We expect 8 of 10 such cars from $12,829 to $17,600.",
      ],
      [[15_000], "Made comparable, it costs $15,000. We expect 8 of 10 such cars from $12,829 to $17,600."],
      [[], ""],
    ],
  );
  assertSaid(
    (prices: readonly number[]) => fewCarsNote(prices, { ...interval, coverage: null }),
    [[[15_000], "Made comparable, it costs $15,000."]],
  );
});
