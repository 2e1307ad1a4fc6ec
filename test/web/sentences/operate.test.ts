/** What pages say to operators: a table of cases for each sentence. */
import { test } from "node:test";
import {
  accountsVerdict,
  brokenFeedText,
  classesTitle,
  dayVerdict,
  decidedText,
  decideTitle,
  dryTitle,
  logVerdict,
  monthChange,
  morningVerdict,
  readTitle,
  revenueVerdict,
  runTitle,
  serviceNote,
  serviceTitle,
  silentSince,
  silentTitle,
} from "../../../src/web/sentences/operate.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const asOf = "2026-11-19";

test("the morning begins with the files that came, look broken, or are silent", () => {
  const morning = { day: asOf, asOf, expected: 522, silent: 6, broken: 3 };
  assertSaid(morningVerdict, [
    [
      { ...morning, version: "2026-11-19.1", rows: 9882, refused: 37, cars: 9845 },
      "516 of 522 files came. [attention:3 look broken], 6 are silent.",
      "Version 2026-11-19.1 is published with the good ones. Of the three, nothing changes until you decide.",
      "3 decisions open",
      "37 of 9,882 rows refused",
      "9,845 cars read",
    ],
    [
      { ...morning, silent: 0, broken: 0, version: "1" },
      "All 522 files came. [neutral:None looks broken].",
      "Version 1 is published.",
      "0 decisions open",
    ],
    [
      { ...morning, silent: 1, broken: 0 },
      "521 of 522 files came. [neutral:None looks broken], 1 is silent.",
      "0 decisions open",
    ],
    [
      { ...morning, silent: 0, broken: 1 },
      "All 522 files came. [attention:1 looks broken].",
      "Nothing of the broken one changes until you decide.",
      "1 decision open",
    ],
    [
      { ...morning, expected: 1, silent: 0, broken: 0 },
      "The one file came. [neutral:None looks broken].",
      "0 decisions open",
    ],
    [{ ...morning, silent: 522, broken: 0 }, "[attention:No file came on Nov 19].", "0 decisions open"],
    [{ ...morning, expected: 0, silent: 0, broken: 0 }, "No file is expected on Nov 19.", "0 decisions open"],
    [
      { ...morning, broken: 0, hasFailed: true },
      "[attention:The last delivery could not be published]. 516 of 522 files came. [neutral:None looks broken], 6 are silent.",
      "0 decisions open",
    ],
  ]);
  assertSaid(decideTitle, [
    [3, "Decide: 3 files look broken"],
    [1, "Decide: 1 file looks broken"],
    [0, "Nothing to decide"],
  ]);
});

test("a feed that looks broken says what is odd about it, and what was decided", () => {
  const feed = { vins: 27, usualVins: 89 };
  assertSaid(brokenFeedText, [
    [
      { ...feed, missing: 62 },
      "27 cars came; usually 89. 62 of yesterday's are missing. Until you decide, its old cars stay.",
    ],
    [
      { ...feed, vins: 1, missing: 1 },
      "1 car came; usually 89. 1 of yesterday's is missing. Until you decide, its old cars stay.",
    ],
    [
      { ...feed, usualVins: null, jumpedPrices: 20, knownPrices: 27 },
      "27 cars came. 20 of 27 known prices have jumped to more than double or less than half. Until you decide, its old cars stay.",
    ],
    [{ ...feed, vins: null, usualVins: null }, "Until you decide, its old cars stay."],
  ]);
  assertSaid(
    (decision: "release" | "reject") => decidedText("Bellamy Ford", decision),
    [
      ["release", "Bellamy Ford. Accepted: its cars are those of the file."],
      ["reject", "Bellamy Ford. Rejected: its old cars stay."],
    ],
  );
});

test("a silent dealer has the day since when, and the day on which its cars end", () => {
  assertSaid(
    (lastDay: string) => silentSince(lastDay, asOf),
    [
      ["2026-11-13", "since Nov 14"],
      ["2026-11-18", "today"],
      ["2025-12-29", "since Dec 30, 2025"],
    ],
  );
  const dealers = (...days: readonly string[]) => days.map((lastDay, index) => ({ name: `D${index}`, lastDay }));
  assertSaid(
    (given: ReturnType<typeof dealers>) => Object.values(silentTitle(given, asOf)).join(" / "),
    [
      [
        dealers("2026-11-13", "2026-11-18", "2026-11-18"),
        "3 dealers are silent; one since Nov 14 / A dealer's cars stay for 7 days without a file, then count as gone. Those of D0 end tomorrow.",
      ],
      [
        dealers("2026-11-18"),
        "1 dealer is silent / A dealer's cars stay for 7 days without a file, then count as gone.",
      ],
      [
        dealers("2026-11-13", "2026-11-13", "2026-11-13", "2026-11-13"),
        "4 dealers are silent; four since Nov 14 / A dealer's cars stay for 7 days without a file, then count as gone. Those of 4 dealers end tomorrow.",
      ],
      [[], "No dealer is silent / A dealer's cars stay for 7 days without a file, then count as gone."],
    ],
  );
});

test("the cars of a day are as usual, fewer or more, and the service is well or not", () => {
  assertSaid(
    (cars: number) => Object.values(readTitle(cars, [10_024, 9716, 9800])).join(" / "),
    [
      [9845, "9,845 cars came, as usual / Rows read each day; the three days before had 9,716 to 10,024."],
      [1, "1 car came, fewer than usual / Rows read each day; the three days before had 9,716 to 10,024."],
      [10_025, "10,025 cars came, more than usual / Rows read each day; the three days before had 9,716 to 10,024."],
    ],
  );
  assertSaid(
    (before: readonly number[]) => Object.values(readTitle(9, before)).join(" / "),
    [
      [[], "9 cars came / Rows read each day."],
      [[9], "9 cars came / Rows read each day; the day before had 9."],
    ],
  );
  const health = { freeBytes: 71.7e9, bytes: 270.6e9, running: 0, dueInMs: 35.5 * 3_600_000 };
  assertSaid(serviceTitle, [
    [health, "The service is well"],
    [{ ...health, freeBytes: 27e9 }, "[attention:The disk is almost full]"],
    [{ ...health, dueInMs: -1 }, "[attention:The next file is overdue]"],
    [{ ...health, hasFailed: true }, "[attention:The last delivery failed]"],
    [{ ...health, isDegraded: true }, "[attention:The service is degraded]"],
  ]);
  assertSaid(serviceNote, [
    [health, "71.7 GB of 270.6 are free. No statement is running. The next file is due within 35 hours."],
    [
      { ...health, running: 1, longestMs: 120_000, dueInMs: -7_200_000 },
      "71.7 GB of 270.6 are free. One statement is running, the longest for 2 minutes. The next file was due 2 hours ago.",
    ],
    [{ ...health, running: 4, dueInMs: null }, "71.7 GB of 270.6 are free. Four statements are running."],
  ]);
});

test("revenue begins with the month beside the one before at the same point", () => {
  const days = (length: number, micros: number) => Array.from({ length }, () => micros);
  const month = { day: asOf, charges: days(19, 42e6), before: days(31, 34e6) };
  assertSaid(revenueVerdict, [
    [
      { ...month, topCharge: 302.9e6, credits: 760e6, promotional: 25e6, refunds: 0 },
      "$798 in 19 days: [neutral:24 % more than] October at this point.",
      "At this pace November ends at $1,260. One account brings 38 %.",
      "$760 credits sold",
      "$25 promotional",
      "$0 refunds",
    ],
    [
      { ...month, before: days(31, 84e6) },
      "$798 in 19 days: [attention:50 % less than] October at this point.",
      "At this pace November ends at $1,260.",
    ],
    [
      { ...month, before: days(31, 42e6) },
      "$798 in 19 days: [neutral:as much as] October at this point.",
      "At this pace November ends at $1,260.",
    ],
    [{ ...month, day: "2026-11-30", charges: days(30, 42e6), before: [] }, "$1,260 in 30 days."],
    [
      { ...month, day: "2026-11-01", charges: days(1, 42e6), topCharge: 42e6 },
      "$42 in 1 day: [neutral:24 % more than] October at this point.",
      "One account brings all.",
    ],
    [{ ...month, charges: days(19, 0) }, "Nothing was charged in 19 days."],
    [{ ...month, charges: days(2, 1000), before: [] }, "$0.002 in 2 days."],
  ]);
  assertSaid(runTitle, [
    [{ ...month, charges: [1, 1, 1, 9, 9], before: [2, 2, 2, 2, 2] }, "November runs ahead of October since day 4"],
    [{ ...month, charges: [3, 3], before: [2, 2] }, "November runs ahead of October"],
    [{ ...month, charges: [3, 0], before: [2, 2] }, "November runs behind October since day 2"],
    [{ ...month, charges: [2, 2], before: [2, 2] }, "November runs as October did"],
    [{ ...month, day: "2026-01-02", charges: [2, 2], before: [] }, "Charges of January"],
  ]);
  assertSaid(
    (micros: number) => classesTitle("searches", micros, 797),
    [
      [327, "Searches bring 41 %"],
      [797, "Searches bring 100 %"],
    ],
  );
  assertSaid(
    (total: number) => classesTitle("SQL", 0, total),
    [
      [0, "No charges yet"],
      [5, "SQL brings 0 %"],
    ],
  );
  assertSaid(
    (micros: number) => monthChange(micros, 100),
    [
      [118, "+18 %"],
      [78, "−22 %"],
      [320, "+220 %"],
      [100, "0 %"],
    ],
  );
  assertSaid(
    (micros: number) => monthChange(micros, 0),
    [
      [5, "new"],
      [0, ""],
    ],
  );
});

test("the accounts begin with whose credit ends", () => {
  const invited = "An invitation carries its first credit, so the first page a person sees is a working one.";
  assertSaid(accountsVerdict, [
    [{ accounts: 5, low: 1 }, "Five accounts. [attention:One is about to run dry.]", invited],
    [{ accounts: 1, low: 0 }, "One account.", invited],
    [
      { accounts: 20, low: 2, usedUp: 1 },
      "20 accounts. [attention:Two are about to run dry.] [attention:The credit of one is used up.]",
      invited,
    ],
    [{ accounts: 0, low: 0 }, "No account yet.", invited],
    [{ accounts: 0, low: 0, isFound: true }, "No account found.", invited],
  ]);
  assertSaid(
    ([low, usedUp]: readonly [string[], string[]]) => dryTitle(low, usedUp),
    [
      [[["ci-bench"], []], "One account may run dry: ci-bench"],
      [[["a", "b"], ["c"]], "Two accounts may run dry: a, b; one account has run dry: c"],
      [[["a", "b", "c", "d"], []], "Four accounts may run dry"],
      [[[], ["a", "b"]], "Two accounts have run dry: a, b"],
      [[[], []], "Each of these accounts has credit"],
    ],
  );
});

test("a day's report says what came and what was refused, and the log how much was changed today", () => {
  const report = { day: "2026-11-18", asOf, files: 516, cars: 9845, refused: 37, broken: 3, unknown: 158, noted: 70 };
  const unknown = "A value that no rule accepts becomes unknown; its row stays.";
  const facts = ["158 values unknown", "70 values noted"] as const;
  assertSaid(dayVerdict, [
    [
      report,
      "516 files came on Nov 18. [attention:37 of 9,882 rows were refused].",
      `3 files looked broken: their old cars stayed. ${unknown}`,
      "9,845 cars read",
      ...facts,
    ],
    [
      { ...report, files: 1, cars: 2, refused: 0, broken: 0 },
      "1 file came on Nov 18. [neutral:No row was refused].",
      unknown,
      "2 cars read",
      ...facts,
    ],
    [{ ...report, files: 0, cars: 0, refused: 0, broken: 0 }, "No file came on Nov 18.", "0 cars read", ...facts],
  ]);
  const context = "Every change of an account, a feed or a mapping stands here, with who made it.";
  assertSaid(
    (changes: number | undefined) => logVerdict(false, changes, changes === 50),
    [
      [0, "Nothing was changed today.", context],
      [1, "One change today.", context],
      [50, "50 changes or more today.", context],
      [undefined, "Older changes.", context],
    ],
  );
  assertSaid((isEmpty: boolean) => logVerdict(isEmpty, 0), [[true, "Nothing was changed yet.", context]]);
});
