/** What pages say of a market: a table of cases for each sentence. */
import { test } from "node:test";
import {
  intervalNote,
  isSoldKnown,
  lossTitle,
  mapTitle,
  marketVerdict,
  mediansNote,
  paceTitle,
  pointLabel,
  pricesMovedTitle,
  resultTitle,
  standingTitle,
} from "../../../src/web/sentences/market.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const period = { from: "2026-10-20", asOf: "2026-11-19", condition: "used" };
const rav4 = { name: "RAV4", cars: 129, median: 26_300, medianBefore: 27_600, sold: 71 };
const crv = { name: "CR-V", cars: 126, median: 27_250, medianBefore: 27_098, sold: 75 };

test("the market begins with how prices moved, and whether they held", () => {
  assertSaid(
    ({
      sides,
      ...other
    }: {
      sides: Parameters<typeof marketVerdict>[0];
      condition?: string;
      hasPriceBound?: boolean;
      from?: string;
    }) => marketVerdict(sides, { ...period, ...other }),
    [
      [
        { sides: [rav4, crv] },
        "Used RAV4 prices [neutral:fell 4.7 %] in 30 days. CR-V prices held: [neutral:+0.6 %].",
        "Half of the 129 RAV4s cost less than $26,300 now, $1,300 less than on Oct 20. In 30 days 71 RAV4s and 75 CR-Vs were sold.",
      ],
      [
        { sides: [{ ...crv, sold: 1 }], hasPriceBound: true },
        "Used CR-V prices held in 30 days: [neutral:+0.6 %].",
        "Half of the 126 CR-Vs cost less than $27,250 now, $152 more than on Oct 20, within your bound. In 30 days 1 CR-V was sold.",
      ],
      [
        { sides: [{ ...rav4, medianBefore: 26_300, sold: 0 }], condition: "used and new", from: "2025-11-19" },
        "Used and new RAV4 prices [neutral:did not move] in 365 days.",
        "Half of the 129 RAV4s cost less than $26,300 now, as on Nov 19, 2025. In 365 days no RAV4 was sold.",
      ],
      [
        { sides: [{ ...rav4, sold: null }, crv], condition: "" },
        "RAV4 prices [neutral:fell 4.7 %] in 30 days. CR-V prices held: [neutral:+0.6 %].",
        "Half of the 129 RAV4s cost less than $26,300 now, $1,300 less than on Oct 20.",
      ],
      [
        { sides: [{ name: "RAV4", cars: 129, median: 26_300 }] },
        "129 RAV4s are for sale.",
        "Half of the 129 RAV4s cost less than $26,300.",
      ],
      [
        { sides: [{ name: "Ford", cars: 815, median: 48_999, medianBefore: 48_524 }], condition: "new" },
        "New Ford prices [neutral:rose 1.0 %] in 30 days.",
        "Half of the 815 Fords cost less than $48,999 now, $475 more than on Oct 20.",
      ],
      [{ sides: [{ name: "RAV4", cars: 9, median: null }] }, "9 RAV4s are for sale: too few for a median price."],
      [{ sides: [{ name: "RAV4", cars: 1 }] }, "1 RAV4 is for sale: too few for a median price."],
      [{ sides: [{ name: "RAV4", cars: 0 }] }, "No RAV4 is for sale."],
      [{ sides: [{ name: "RAV4" }] }, "RAV4s for sale."],
      [
        { sides: [{ ...rav4, medianBefore: 20_000, hrefs: { change: "/a" } }, { name: "CR-V" }] },
        "Used RAV4 prices [neutral:rose 31.5 %] in 30 days.",
        "Half of the 129 RAV4s cost less than $26,300 now, $6,300 more than on Oct 20.",
      ],
      [
        { sides: [{ ...rav4, name: "car" }] },
        "Used car prices [neutral:fell 4.7 %] in 30 days.",
        "Half of the 129 cars cost less than $26,300 now, $1,300 less than on Oct 20. In 30 days 71 cars were sold.",
      ],
    ],
  );
});

test("sales are unknown on the first days of the data", () => {
  const data = { first: "2026-11-01", last: "2026-11-19" };
  assertSaid(
    (day: string) => String(isSoldKnown(day, data)),
    [
      ["2026-11-03", "false"],
      ["2026-11-04", "true"],
      ["2026-11-19", "true"],
    ],
  );
});

test("the title of each figure of the market is its answer", () => {
  const sides = (first: object, second?: object) => [
    { name: "RAV4", ...first },
    ...(second === undefined ? [] : [{ name: "CR-V", ...second }]),
  ];
  assertSaid(
    (given: Parameters<typeof pricesMovedTitle>[0]) => pricesMovedTitle(given),
    [
      [[rav4, crv], "RAV4s became $1,300 cheaper, CR-Vs $152 dearer"],
      [[{ ...rav4, medianBefore: 26_300 }, crv], "RAV4s became no dearer, CR-Vs $152 dearer"],
      [[rav4, { ...crv, medianBefore: 27_250 }], "RAV4s became $1,300 cheaper, CR-Vs no dearer"],
      [[{ name: "RAV4" }, { name: "CR-V" }], "Median price of RAV4s and CR-Vs"],
    ],
  );
  assertSaid(
    (given: Parameters<typeof standingTitle>[0]) => standingTitle(given, period),
    [
      [sides({ days: 29, daysBefore: 25 }, { days: 32, daysBefore: 28 }), "Both stand longer than a month ago"],
      [sides({ days: 29, daysBefore: 29.5 }, { days: 32, daysBefore: 32 }), "Both stand as long as a month ago"],
      [
        sides({ days: 29, daysBefore: 25 }, { days: 28, daysBefore: 32 }),
        "RAV4s stand longer than a month ago, CR-Vs for a shorter time",
      ],
      [sides({ days: 29, daysBefore: 35 }), "RAV4s stand for a shorter time than a month ago"],
      [sides({ days: 29 }), "Days on the lot"],
    ],
  );
  assertSaid(
    (from: string) => standingTitle(sides({ days: 29, daysBefore: 25 }), { ...period, from }),
    [
      ["2026-09-20", "RAV4s stand longer than 60 days ago"],
      ["2025-11-19", "RAV4s stand longer than a year ago"],
      ["2026-11-18", "RAV4s stand longer than 1 day ago"],
    ],
  );
  assertSaid(paceTitle, [
    [sides({ supplyDays: 55 }, { supplyDays: 50 }), "A RAV4 sells a little slower"],
    [sides({ supplyDays: 50 }, { supplyDays: 51 }), "Both sell equally fast"],
    [sides({ supplyDays: 20 }, { supplyDays: 50 }), "A RAV4 sells faster"],
    [sides({ supplyDays: 20 }), "The stock of RAV4s is sold in 20 days"],
    [sides({ supplyDays: null }, { supplyDays: 50 }), "RAV4s and CR-Vs side by side"],
    [sides({}), "RAV4s"],
  ]);
  assertSaid(lossTitle, [
    [sides({ yearLoss: 10.8 }, { yearLoss: 12.2 }), "A RAV4 loses 10.8 % a year, a CR-V 12.2 %"],
    [sides({ yearLoss: -2 }, { yearLoss: -3 }), "A RAV4 gains 2.0 % a year, a CR-V 3.0 %"],
    [sides({ yearLoss: 10.8 }, { yearLoss: -3 }), "A RAV4 loses 10.8 % a year, a CR-V gains 3.0 %"],
    [sides({ yearLoss: -3 }, { yearLoss: 10.8 }), "A RAV4 gains 3.0 % a year, a CR-V loses 10.8 %"],
    [sides({}, { yearLoss: 12.2 }), "A CR-V loses 12.2 % a year"],
    [[{ name: "MDX", yearLoss: 9 }], "An MDX loses 9.0 % a year"],
    [[{ name: "UX", yearLoss: 9 }], "A UX loses 9.0 % a year"],
    [[{ name: "Elantra", yearLoss: 9 }], "An Elantra loses 9.0 % a year"],
    [[{ name: "SUV", yearLoss: 9 }], "An SUV loses 9.0 % a year"],
    [sides({}), "Price by age of RAV4s"],
  ]);
});

test("weekly points are said as weekly, and an unfinished week is marked", () => {
  const week = { interval: "week", start: "2026-11-16", end: "2026-11-19", days: 4 };
  assertSaid(intervalNote, [
    [week, "A point is a week; the last one is unfinished, with 4 days."],
    [{ ...week, end: "2026-11-22", days: 7 }, "A point is a week."],
    [{ ...week, end: "2026-11-22", days: 1 }, "A point is a week; the last one is unfinished, with 1 day."],
    [{ ...week, interval: "day", start: "2026-11-19", days: 1 }, "-"],
  ]);
  assertSaid(
    (point: typeof week) => pointLabel(point, period.asOf),
    [
      [week, "Nov 16 to Nov 19?"],
      [{ ...week, start: "2026-10-26", end: "2026-11-01", days: 7 }, "Oct 26 to Nov 1"],
      [{ ...week, start: "2025-12-29", end: "2026-01-04", days: 7 }, "Dec 29, 2025 to Jan 4"],
      [{ ...week, start: "2025-11-03", end: "2025-11-09", days: 7 }, "Nov 3, 2025 to Nov 9, 2025"],
      [{ ...week, interval: "day", start: "2026-11-19", days: 1 }, "Nov 19"],
      [{ ...week, interval: "day", start: "2026-11-19", days: 0 }, "Nov 19?"],
    ],
  );
  assertSaid(
    (interval: string) =>
      mediansNote([rav4, crv], period, { ...week, interval, start: interval === "day" ? "2026-11-19" : week.start }),
    [
      ["day", "Median price of the used and certified cars for sale each day. 129 RAV4s and 126 CR-Vs on Nov 19."],
      [
        "week",
        "Median price of the used and certified cars for sale on the last day of each week. 129 RAV4s and 126 CR-Vs on Nov 19. A point is a week; the last one is unfinished, with 4 days.",
      ],
    ],
  );
  assertSaid(
    (condition: string) => mediansNote([], { ...period, condition, hasPriceBound: true }, { ...week, interval: "day" }),
    [
      ["used and new", "Median price of the used and new cars for sale each day, within your bound."],
      ["", "Median price of the cars for sale each day, within your bound."],
    ],
  );
});

test("a map and a query's result are titled by their answer", () => {
  assertSaid(
    (cars: number) => mapTitle(cars, { name: "Texas", cars: 1203 }),
    [
      [9961, "Texas has the most: 1,203 of 9,961"],
      [2000, "Most stand in Texas: 1,203 of 2,000"],
      [0, "Where the cars are"],
    ],
  );
  const rows = (...values: readonly (number | null)[]) =>
    values.map((value, index) => ({ label: `Car ${index + 1}`, value }));
  assertSaid(
    (given: ReturnType<typeof rows>) => resultTitle("days_listed", given, (value) => value.toLocaleString("en-US")),
    [
      [rows(17.5, 21, 32), "Car 1 has the lowest days_listed: 17.5"],
      [rows(32, 21, 17.5), "Car 1 has the highest days_listed: 32"],
      [rows(21, 1e12, 17), "Car 2 has the highest days_listed: 1,000,000,000,000"],
      [rows(3, 3, null), "days_listed is the same for all two"],
      [rows(3, null), "days_listed"],
      [[], "days_listed"],
    ],
  );
});
