/** What pages say to an account: a table of cases for each sentence. */
import { test } from "node:test";
import {
  accountState,
  accountVerdict,
  openAccess,
  savedSearchText,
  savedTitle,
  searchesText,
  tooDearVerdict,
} from "../../../src/web/sentences/account.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const funds = {
  state: "active",
  balanceMicros: 24_590_000,
  spentMicros: 410_000,
  searchMicros: 2000,
  today: "2026-11-27",
} as const;

test("an account begins with what is left, in searches", () => {
  const ask =
    "Ask the person who invited you to add credit: the operator of this service sees your account on the page Accounts.";
  assertSaid(accountVerdict, [
    [
      { ...funds, capMicros: null, tier: 4, keys: 3 },
      "$24.59 left. [neutral:About 12,000 searches.]",
      "$0.41 spent in November. No monthly limit is set.",
      "$0.41 this month",
      "4 tier",
      "3 keys",
    ],
    [
      { ...funds, balanceMicros: 804_999, state: "low_balance", capMicros: null, keys: 1 },
      "$0.80 left. [attention:402 more searches.]",
      "$0.41 spent in November. No monthly limit is set.",
      "$0.41 this month",
      "1 key",
    ],
    [
      { ...funds, balanceMicros: 2500, state: "low_balance", spentMicros: 0, capMicros: null },
      "$0.0025 left. [attention:1 more search.]",
      "Nothing spent in November. No monthly limit is set.",
      "$0.00 this month",
    ],
    [
      { ...funds, balanceMicros: 500, state: "low_balance" },
      "$0.0005 left. [attention:No search more.]",
      "$0.41 spent in November.",
      "$0.41 this month",
    ],
    [
      { ...funds, capMicros: 1_410_000, hrefs: { limit: "#limit" } },
      "$24.59 left. [neutral:500 more searches.]",
      "$0.41 spent in November of a <limit of $1.41 a month>.",
      "$0.41 this month",
    ],
    [
      { ...funds, capMicros: 410_000 },
      "[attention:Your monthly limit is reached.]",
      "$0.41 spent in November of a limit of $0.41 a month. Requests beyond it are refused, not charged. Raise it, or wait for the next month (UTC).",
      "$0.41 this month",
    ],
    [
      { ...funds, spentMicros: null, capMicros: 5_000_000 },
      "$24.59 left. [neutral:About 2,500 searches.]",
      "A limit of $5.00 a month is set.",
    ],
    [
      { ...funds, balanceMicros: 9e15, spentMicros: null, capMicros: null },
      "$9,000,000,000.00 left. [neutral:About 4,500,000,000,000 searches.]",
      "No monthly limit is set.",
    ],
    [
      { ...funds, state: "exhausted", balanceMicros: 0, creditedMicros: 5_000_000 },
      "Your credit is used up.",
      `$5.00 of $5.00 is spent, so searches are refused and nothing more is charged. ${ask} Your keys, saved searches and charges stay.`,
    ],
    [
      { ...funds, state: "exhausted", balanceMicros: 0 },
      "Your credit is used up.",
      `Searches are refused and nothing more is charged. ${ask} Your keys, saved searches and charges stay.`,
    ],
    [
      { ...funds, state: "suspended" },
      "[attention:Your account is suspended.]",
      "Searches are refused and nothing is charged. Ask the operator of this service.",
    ],
    [
      { ...funds, balanceMicros: 5_000_000, isNew: true },
      "Welcome. [neutral:$5.00 is yours to spend.]",
      "Enough for about 2,500 searches. It comes from your operator; nothing is charged to a card, and nothing can cost more than your balance.",
    ],
    [
      { ...funds, balanceMicros: 1_000_000, isNew: true },
      "Welcome. [neutral:$1.00 is yours to spend.]",
      "Enough for 500 searches. It comes from your operator; nothing is charged to a card, and nothing can cost more than your balance.",
    ],
  ]);
  assertSaid(
    (left: number) => tooDearVerdict(44_000, left),
    [
      [12_000, "This page costs $0.044. [attention:$0.012 is left.]", `Nothing was charged. ${ask}`],
      [0, "This page costs $0.044. [attention:Nothing is left.]", `Nothing was charged. ${ask}`],
    ],
  );
  assertSaid(
    (micros: number) => searchesText(micros, 2000),
    [
      [1_999_999, "999 more searches"],
      [2_000_000, "About 1,000 searches"],
      [25_999_999, "About 12,000 searches"],
      [0, "No search more"],
      [-5, "No search more"],
    ],
  );
  assertSaid(
    () => openAccess,
    [[{}, "This machine.", "No accounts, no charges: this service runs for its own machine."]],
  );
});

test("an account's state, and what it has saved, are said in words", () => {
  type State = Parameters<typeof accountState>;
  assertSaid(
    (given: State) => accountState(...given),
    [
      [["exhausted", true, false], "new"],
      [["active", true, true], "new"],
      [["exhausted", false, false], "credit used up"],
      [["low_balance", false, false], "low balance"],
      [["suspended", true, false], "suspended"],
      [["active", false, true], "promotional"],
      [["active", false, false], "active"],
    ],
  );
  assertSaid(
    ([searches, cars]: readonly [number, number]) => savedTitle(searches, cars),
    [
      [[1, 1], "Saved: 1 search, 1 car"],
      [[2, 0], "Saved: 2 searches"],
      [[0, 12], "Saved: 12 cars"],
      [[0, 0], "Nothing is saved yet"],
    ],
  );
  assertSaid(
    (cars: number | null) => savedSearchText("Used SUVs", cars),
    [
      [7, "Used SUVs: 7 cars."],
      [null, "Used SUVs."],
    ],
  );
});
