/** What pages say of a dealer's cars: a table of cases for each sentence. */
import { test } from "node:test";
import {
  agingNote,
  agingTitle,
  buyNote,
  lotVerdict,
  priceAgeNote,
  priceAgeTitle,
  suggestionOf,
  toMarketText,
  toMarketWords,
} from "../../../src/web/sentences/lot.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const lot = { isOwn: true, condition: "used", cars: 45 };

test("the page of a dealer begins with its rank by price and with what ages", () => {
  assertSaid(lotVerdict, [
    [
      {
        ...lot,
        priceRank: 1,
        ageRank: 6,
        dealers: 13,
        toMarket: -0.025,
        medianDays: 29,
        aged: 7,
        agedPrice: 235_165,
        branded: 1,
        supplyDays: 54.2,
        marketSupplyDays: 52,
      },
      "Your used cars are the [neutral:cheapest of 13 dealers] near you. [attention:Seven are older than 60 days] and hold $235,165.",
      "45 used cars, 2.5 % under the market, typically 29 days old. One has a branded title.",
      "1 of 13 by price",
      "6 of 13 by fresh stock",
      "54 days of supply; market 52",
    ],
    [
      { ...lot, isOwn: false, condition: "new", priceRank: 12, dealers: 13, aged: 1, agedPrice: 40_000, branded: 0 },
      "Its new cars are the [attention:second dearest of 13 dealers] nearby. [attention:One is older than 60 days] and holds $40,000.",
      "45 new cars.",
      "12 of 13 by price",
    ],
    [
      { ...lot, priceRank: 13, dealers: 13, aged: 0 },
      "Your used cars are the [attention:dearest of 13 dealers] near you. None is older than 60 days.",
      "45 used cars.",
      "13 of 13 by price",
    ],
    [
      { ...lot, priceRank: 7, dealers: 13 },
      "Your used cars are the [neutral:seventh cheapest of 13 dealers] near you.",
      "45 used cars.",
      "7 of 13 by price",
    ],
    [
      { ...lot, priceRank: 31, dealers: 80 },
      "Your used cars are the [neutral:31st cheapest of 80 dealers] near you.",
      "45 used cars.",
      "31 of 80 by price",
    ],
    [
      { ...lot, priceRank: 1, dealers: 1, toMarket: 0.031 },
      "Your used cars are [neutral:3.1 % over the market].",
      "45 used cars.",
    ],
    [
      { ...lot, cars: 4, priceRank: 1, dealers: 13, toMarket: 0.001 },
      "Your used cars are [neutral:at the market].",
      "4 used cars.",
    ],
    [
      { ...lot, cars: 1, aged: 1, medianDays: 80 },
      "You have 1 used car. [attention:It is older than 60 days].",
      "1 used car, 80 days old.",
    ],
    [{ ...lot, cars: 3, aged: 3 }, "You have 3 used cars. [attention:All are older than 60 days].", "3 used cars."],
    [{ ...lot, cars: 0 }, "You have no used cars for sale."],
    [{ ...lot, isOwn: false, condition: "new", cars: 0 }, "It has no new cars for sale."],
  ]);
});

test("the distance from the market has a sign in tables and words in sentences", () => {
  assertSaid(toMarketWords, [
    [-0.004, "at the market"],
    [0.005, "0.5 % over the market"],
    [null, "-"],
  ]);
  assertSaid(toMarketText, [
    [-0.1742, "−17.4 %"],
    [0.003, "+0.3 %"],
    [0, "0.0 %"],
    [null, ""],
  ]);
});

test("the figure of price and age says who asks less and who has fresher cars", () => {
  const among = { isOwn: true, dealers: 13 };
  assertSaid(priceAgeTitle, [
    [{ ...among, priceRank: 1, ageRank: 6 }, "You ask least, yet five dealers hold fresher cars"],
    [{ ...among, priceRank: 1, ageRank: 2 }, "You ask least, yet one dealer holds fresher cars"],
    [{ ...among, priceRank: 1, ageRank: 1 }, "You ask least, and none holds fresher cars"],
    [{ ...among, priceRank: 4, ageRank: 6 }, "Three dealers ask less, and five dealers hold fresher cars"],
    [{ ...among, priceRank: 2, ageRank: 1 }, "One dealer asks less, yet none holds fresher cars"],
    [{ ...among, isOwn: false, priceRank: 13, ageRank: 13 }, "12 dealers ask less, and 12 dealers hold fresher cars"],
    [{ ...among, isOwn: false, priceRank: 1, ageRank: 1 }, "It asks least, and none holds fresher cars"],
    [{ ...among, priceRank: null, ageRank: 6 }, "Price and age of the dealers nearby"],
  ]);
  assertSaid(
    (dealers: number) => priceAgeNote(dealers, 50, "used"),
    [
      [13, "13 dealers within 50 miles; a circle's size is its used cars. Lower left is cheap and fresh."],
      [1, "1 dealer within 50 miles; a circle's size is its used cars. Lower left is cheap and fresh."],
    ],
  );
});

test("aging says how many cars are older than 60 days and what they hold", () => {
  assertSaid(agingTitle, [
    [{ cars: 45, aged: 7 }, "7 of 45 cars are older than 60 days"],
    [{ cars: 45, aged: 1 }, "1 of 45 cars is older than 60 days"],
    [{ cars: 45, aged: 45 }, "All 45 cars are older than 60 days"],
    [{ cars: 1, aged: 1 }, "The one car is older than 60 days"],
    [{ cars: 45, aged: 0 }, "No car is older than 60 days"],
    [{ cars: 45, aged: null }, "Age of the cars"],
  ]);
  assertSaid(agingNote, [
    [
      { ...lot, agedPrice: 235_165, allPrice: 1_335_475 },
      "Used cars by days on the lot. The last bar holds 18 % of your money.",
    ],
    [
      { ...lot, isOwn: false, agedPrice: 1, allPrice: 1_335_475 },
      "Used cars by days on the lot. The last bar holds under 1 % of its money.",
    ],
    [{ ...lot, agedPrice: 0, allPrice: 0 }, "Used cars by days on the lot."],
  ]);
});

test("a car that ages has a suggestion", () => {
  const value = { market_value: 20_000, market_value_low: 18_000, market_value_high: 22_000 };
  assertSaid(suggestionOf, [
    [{ ...value, price: 20_060, value_rating: "fair" }, "Good below $19,309"],
    [{ ...value, price: 19_580, value_rating: "fair" }, "Good below $19,309"],
    [{ ...value, price: 20_820, value_rating: "fair" }, "$820 over similar cars: reduce"],
    [{ ...value, price: 23_077, value_rating: "high" }, "$3,077 over similar cars: reduce"],
    [{ ...value, price: 16_520, value_rating: "great" }, "Far under market: something else is wrong"],
    [
      { ...value, price: 17_990, market_value_low: 18_500, value_rating: "great" },
      "Far under market: something else is wrong",
    ],
    [
      { ...value, price: 18_420, market_value_low: 18_500, value_rating: "great" },
      "Priced well: check photos, move it",
    ],
    [{ ...value, price: 19_200, value_rating: "good" }, "Priced well: check photos, move it"],
    [{ ...value, price: 19_580, market_value_low: null, value_rating: "fair" }, ""],
    [{ price: 12_299, keywords: ["branded"] }, "No rating: cars with a branded title are not valued"],
    [{ ...value, price: null }, "No rating: the dealer states no price"],
    [{ ...value, price: 9000 }, "No rating: less than half of what similar cars cost"],
  ]);
});

test("what to buy says where and by what measure", () => {
  assertSaid(
    (isOwn: boolean) => buyNote("used", 250, isOwn),
    [
      [true, "Used models within 250 miles by the share that sold within 30 days; you have none or one."],
      [false, "Used models within 250 miles by the share that sold within 30 days; it has none or one."],
    ],
  );
});
