/** What pages say to an account: a table of cases for each sentence. */
import { test } from "node:test";
import {
  accountVerdict,
  openAccess,
  savedTitle,
  searchesText,
  unpaidVerdict,
} from "../../../src/web/sentences/account.ts";
import { assertSaid } from "../../support/web/sentences.ts";

const funds = {
  state: "active",
  balanceMicros: 24_590_000,
  creditedMicros: 25_000_000,
  spentMicros: 410_000,
  capMicros: null,
  searchMicros: 2000,
  today: "2026-11-27",
} as const;

test("an account begins with what is left, in searches", () => {
  const ask =
    "Ask the person who invited you to add credit: the operator of this service sees your account on the page Accounts. Your keys, saved searches and charges stay.";
  assertSaid(accountVerdict, [
    [
      { ...funds, capMicros: null, tier: 4, keys: 3 },
      "$24.59 left. [neutral:About 12,000 searches.]",
      "<$0.41> spent in November. <No monthly limit is set.>",
      "<$0.41> this month",
      "4 tier",
      "<3> keys",
    ],
    [
      { ...funds, balanceMicros: 804_999, state: "low_balance", capMicros: null, keys: 1 },
      "$0.80 left. [attention:402 more searches.]",
      "<$0.41> spent in November. <No monthly limit is set.>",
      "<$0.41> this month",
      "<1> key",
    ],
    [
      { ...funds, balanceMicros: 2500, state: "low_balance", spentMicros: 0, capMicros: null },
      "$0.0025 left. [attention:1 more search.]",
      "<Nothing> spent in November. <No monthly limit is set.>",
      "<$0.00> this month",
    ],
    [
      { ...funds, balanceMicros: 500, state: "low_balance" },
      "$0.0005 left. [attention:Not enough for a search.]",
      "<$0.41> spent in November. <No monthly limit is set.>",
      "<$0.41> this month",
    ],
    [
      { ...funds, capMicros: 1_410_000 },
      "$24.59 left. [neutral:500 more searches.]",
      "<$0.41> spent in November of a <limit of $1.41 a month>.",
      "<$0.41> this month",
    ],
    [
      { ...funds, state: "exhausted", balanceMicros: 0, creditedMicros: 0 },
      "You have no credit yet.",
      `Searches are refused until you have. ${ask}`,
    ],
    [
      { ...funds, state: "exhausted", balanceMicros: -10_000, creditedMicros: 0, isNew: false },
      "Your credit is used up.",
      `Searches are refused and nothing more is charged. ${ask}`,
    ],
    [
      { ...funds, capMicros: 410_000 },
      "[attention:Your monthly limit is reached.]",
      "<$0.41> spent in November of a <limit of $0.41 a month>. Requests beyond it are refused, not charged. Raise it, or wait for the next month (UTC).",
      "<$0.41> this month",
    ],
    [
      { ...funds, balanceMicros: 9e15, spentMicros: 0 },
      "$9,000,000,000.00 left. [neutral:About 4,500,000,000,000 searches.]",
      "<Nothing> spent in November. <No monthly limit is set.>",
      "<$0.00> this month",
    ],
    [
      { ...funds, state: "exhausted", balanceMicros: 0, creditedMicros: 5_000_000 },
      "Your credit is used up.",
      `$5.00 of $5.00 is spent, so searches are refused and nothing more is charged. ${ask}`,
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
    [
      { ...funds, balanceMicros: 1500, isNew: true },
      "Welcome. [neutral:$0.0015 is yours to spend.]",
      "Not enough for a search. It comes from your operator; nothing is charged to a card, and nothing can cost more than your balance.",
    ],
  ]);
  const refusal = "The account cannot pay: the request costs 0.044 USD, the balance is 0.012 USD.";
  assertSaid(
    (account: Pick<Parameters<typeof unpaidVerdict>[0], "state" | "balanceMicros">) =>
      unpaidVerdict({ ...account, lowBalanceMicros: 0 }, refusal),
    [
      [
        { state: "active", balanceMicros: 12_000 },
        "Your credit does not cover this page.",
        `$0.012 is left, and a request of this page costs $0.044. ${ask}`,
      ],
      [
        { state: "active", balanceMicros: 0 },
        "Your credit is used up.",
        `Searches are refused and nothing more is charged. ${ask}`,
      ],
      [
        { state: "suspended", balanceMicros: 12_000 },
        "[attention:Your account is suspended.]",
        "Searches are refused and nothing is charged. Ask the operator of this service.",
      ],
    ],
  );
  assertSaid(
    (micros: number) => searchesText(micros, 2000),
    [
      [1_999_999, "999 more searches"],
      [2_000_000, "About 1,000 searches"],
      [25_999_999, "About 12,000 searches"],
      [0, "Not enough for a search"],
      [-5, "Not enough for a search"],
    ],
  );
  assertSaid(
    () => openAccess,
    [[{}, "This machine.", "No accounts, no charges: this service runs for its own machine."]],
  );
});

test("what an account has saved is said in words", () => {
  assertSaid(
    ([searches, cars]: readonly [number, number]) => savedTitle(searches, cars),
    [
      [[1, 1], "Saved: 1 search, 1 car"],
      [[2, 0], "Saved: 2 searches"],
      [[0, 12], "Saved: 12 cars"],
      [[0, 0], "Nothing is saved yet"],
    ],
  );
});
