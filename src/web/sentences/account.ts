/** What is said to an account: what is left in searches, what a month has cost, and whom to ask when the credit is used up. Amounts are in micros. */
import { type BillingState, billingState, type Funds } from "../../accounts/policy/billing-state.ts";
import { amountOf, count, leftText, money, monthName, usd } from "../shell/format.ts";
import type { Judgement, Sentence } from "./sentence.ts";
import { atLeastAbout, attention, digits, fact, joined, judgement, linked, type MaybeNumber } from "./words.ts";

/** Searches from which their number is rounded. */
const exactSearches = 1000;

/** Returns how many searches an amount pays for: `402 more searches`, `About 12,000 searches`, rounded down. */
export function searchesText(micros: number, searchMicros: number): string {
  const searches = Math.max(0, Math.floor(micros / searchMicros));
  if (searches === 0) return "Not enough for a search";
  if (searches < exactSearches) return `${count(searches)} more ${searches === 1 ? "search" : "searches"}`;
  return `About ${count(atLeastAbout(searches))} searches`;
}

export interface AccountFunds {
  readonly state: BillingState;
  readonly balanceMicros: number;
  /** What was credited in all. */
  readonly creditedMicros: number;
  /** Charges of the month. */
  readonly spentMicros: number;
  /** The limit of a month; null without one. */
  readonly capMicros: number | null;
  /** The price of a search. */
  readonly searchMicros: number;
  /** The day of the month. */
  readonly today: string;
  /** Whether nothing has been charged yet. */
  readonly isNew?: boolean | undefined;
  readonly tier?: MaybeNumber;
  readonly keys?: MaybeNumber;
}

const suspended: Judgement = judgement(joined([attention("Your account is suspended.")]), [
  "Searches are refused and nothing is charged. Ask the operator of this service.",
]);

const askForCredit =
  "Ask the person who invited you to add credit: the operator of this service sees your account on the page Accounts. Your keys, saved searches and charges stay.";

const usedUp: Judgement = judgement(
  ["Your credit is used up."],
  [`Searches are refused and nothing more is charged. ${askForCredit}`],
);

/**
 * Returns the verdict of an account: what is left, in money and in searches, by the smaller of balance and monthly limit. Below the account's
 * threshold it is marked as attention.
 */
export function accountVerdict(funds: AccountFunds): Judgement {
  const { state, balanceMicros, searchMicros, capMicros, spentMicros } = funds;
  if (state === "suspended") return suspended;
  if (state === "exhausted") return exhaustedVerdict(funds);
  if (funds.isNew === true) return welcomeVerdict(balanceMicros, searchMicros);
  const capLeft = capMicros === null ? Number.POSITIVE_INFINITY : Math.max(0, capMicros - spentMicros);
  const left = Math.min(balanceMicros, capLeft);
  const facts = [
    ...fact(linked(money(spentMicros), "#charges"), "this month"),
    ...fact(digits(funds.tier), "tier"),
    ...fact(linked(digits(funds.keys), "#keys"), funds.keys === 1 ? "key" : "keys"),
  ];
  if (left < searchMicros && capLeft < balanceMicros)
    return judgement(
      joined([attention("Your monthly limit is reached.", "#cap")]),
      joined([
        spentSentence(funds),
        "Requests beyond it are refused, not charged. Raise it, or wait for the next month (UTC).",
      ]),
      facts,
    );
  const mark = state === "low_balance" || left < searchMicros ? "attention" : "neutral";
  const searches = { text: `${searchesText(left, searchMicros)}.`, mark } as const;
  return judgement(joined([`${leftText(balanceMicros)} left.`, searches]), spentSentence(funds), facts);
}

/** Returns the verdict of an account without a balance. Adjustments can have taken back what was credited. */
function exhaustedVerdict({ balanceMicros, creditedMicros, isNew = creditedMicros === 0 }: AccountFunds): Judgement {
  if (isNew) return judgement(["You have no credit yet."], [`Searches are refused until you have. ${askForCredit}`]);
  if (creditedMicros <= 0) return usedUp;
  const spent = `${money(creditedMicros - balanceMicros)} of ${money(creditedMicros)} is spent`;
  return judgement(usedUp.sentence, [`${spent}, so searches are refused and nothing more is charged. ${askForCredit}`]);
}

/** Returns what a month has cost: `$0.41 spent in November. No monthly limit is set.` */
function spentSentence({ spentMicros, capMicros, today }: AccountFunds): Sentence {
  const spent = linked(spentMicros === 0 ? "Nothing" : money(spentMicros), "#charges");
  const limit =
    capMicros === null
      ? [". ", linked("No monthly limit is set.", "#cap")]
      : [" of a ", linked(`limit of ${money(capMicros)} a month`, "#cap"), "."];
  return joined([spent, ` spent in ${monthName(today)}`, ...limit], "");
}

function enoughFor(micros: number, searchMicros: number): string {
  const searches = searchesText(micros, searchMicros).replace(" more", "");
  return micros < searchMicros ? searches : `Enough for ${searches.replace(/^A/, "a")}`;
}

/** Returns the verdict of a new account: its first credit, in searches. */
const welcomeVerdict = (balanceMicros: number, searchMicros: number): Judgement =>
  judgement(joined(["Welcome.", { text: `${leftText(balanceMicros)} is yours to spend.`, mark: "neutral" }]), [
    `${enoughFor(balanceMicros, searchMicros)}. It comes from your operator; nothing is charged to a card, and nothing can cost more than your balance.`,
  ]);

/** Returns the verdict of a page that an account cannot pay: what is left, whom to ask, and what stays. `refusal` has the cost of the request. */
export function unpaidVerdict(account: Omit<Funds, "spentMicros" | "capMicros">, refusal: string): Judgement {
  const state = billingState(account);
  if (state === "suspended") return suspended;
  if (state === "exhausted") return usedUp;
  const [, cost] = /costs ([\d.]+) USD/.exec(refusal) ?? [];
  const left = `${usd(account.balanceMicros)} is left${cost === undefined ? "" : `, and a request of this page costs $${cost}`}.`;
  return judgement(["Your credit does not cover this page."], [`${left} ${askForCredit}`]);
}

/** Returns the title of what is saved: `Saved: 1 search, 1 car`. */
export const savedTitle = (searches: number, cars: number): string => {
  const kept = [
    searches === 0 ? "" : `${count(searches)} ${searches === 1 ? "search" : "searches"}`,
    cars === 0 ? "" : amountOf(cars, "car"),
  ].filter((text) => text !== "");
  return kept.length === 0 ? "Nothing is saved yet" : `Saved: ${kept.join(", ")}`;
};

/** The verdict of open access, which has no accounts. */
export const openAccess: Judgement = {
  sentence: ["This machine."],
  context: ["No accounts, no charges: this service runs for its own machine."],
};
