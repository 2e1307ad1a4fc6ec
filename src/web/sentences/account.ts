/** What is said to an account: what is left in searches, what a month has cost, and whom to ask when the credit is used up. Amounts are in micros. */
import type { BillingState } from "../../accounts/policy/billing-state.ts";
import { chargeText, count, money, monthName } from "../shell/format.ts";
import type { Judgement, Sentence } from "./sentence.ts";
import {
  atLeastAbout,
  attention,
  clause,
  digits,
  fact,
  type Hrefs,
  joined,
  judgement,
  known,
  linked,
  type MaybeNumber,
  neutral,
  some,
  things,
} from "./words.ts";

/** Searches from which their number is rounded. */
const exactSearches = 1000;

/** Returns how many searches an amount pays for: `402 more searches`, `About 12,000 searches`, rounded down. */
export function searchesText(micros: number, searchMicros: number): string {
  const searches = Math.max(0, Math.floor(micros / searchMicros));
  if (searches === 0) return "No search more";
  if (searches < exactSearches) return `${count(searches)} more ${searches === 1 ? "search" : "searches"}`;
  return `About ${count(atLeastAbout(searches))} searches`;
}

/** An amount that is left, rounded down to cents. */
const leftText = (micros: number): string => money(micros < 10_000 ? micros : Math.floor(micros / 10_000) * 10_000);

export interface AccountFunds {
  readonly state: BillingState;
  readonly balanceMicros: number;
  /** What was credited in all. */
  readonly creditedMicros?: MaybeNumber;
  /** Charges of the month. */
  readonly spentMicros?: MaybeNumber;
  /** The limit of a month; null without one. */
  readonly capMicros?: number | null | undefined;
  /** The price of a search. */
  readonly searchMicros: number;
  /** The day of the month. */
  readonly today: string;
  /** Whether nothing has been charged yet. */
  readonly isNew?: boolean | undefined;
  readonly tier?: MaybeNumber;
  readonly keys?: MaybeNumber;
  readonly hrefs?: Hrefs<"charges" | "limit" | "keys"> | undefined;
}

/**
 * Returns the verdict of an account: what is left, in money and in searches, by the smaller of balance and monthly limit. Below the account's
 * threshold it is marked as attention.
 */
export function accountVerdict(funds: AccountFunds): Judgement {
  const { state, balanceMicros, searchMicros, capMicros = null, spentMicros, hrefs } = funds;
  if (state === "suspended")
    return judgement(joined([attention("Your account is suspended.")]), [
      "Searches are refused and nothing is charged. Ask the operator of this service.",
    ]);
  if (state === "exhausted") return creditVerdict(funds);
  if (funds.isNew === true) return welcomeVerdict(funds);
  const capLeft = capMicros === null ? Number.POSITIVE_INFINITY : Math.max(0, capMicros - (spentMicros ?? 0));
  const left = Math.min(balanceMicros, capLeft);
  const facts = [
    ...fact(linked(known(spentMicros, money), hrefs?.charges), "this month"),
    ...fact(digits(funds.tier), "tier"),
    ...fact(linked(digits(funds.keys), hrefs?.keys), funds.keys === 1 ? "key" : "keys"),
  ];
  if (left < searchMicros && capLeft < balanceMicros)
    return judgement(
      joined([attention("Your monthly limit is reached.", hrefs?.limit)]),
      joined([
        spentSentence(funds),
        ["Requests beyond it are refused, not charged. Raise it, or wait for the next month (UTC)."],
      ]),
      facts,
    );
  const mark = state === "low_balance" || left < searchMicros ? attention : neutral;
  return judgement(
    joined([`${leftText(balanceMicros)} left.`, mark(`${searchesText(left, searchMicros)}.`)]),
    spentSentence(funds),
    facts,
  );
}

/** Returns what a month has cost: `$0.41 spent in November. No monthly limit is set.` */
export function spentSentence({
  spentMicros,
  capMicros,
  today,
  hrefs,
}: Pick<AccountFunds, "spentMicros" | "capMicros" | "today" | "hrefs">): Sentence {
  const spent = clause`${linked(
    known(spentMicros, (micros) => (micros === 0 ? "Nothing" : money(micros))),
    hrefs?.charges,
  )} spent in ${monthName(today)}`;
  if (capMicros === undefined) return joined([spent === undefined ? undefined : joined([spent, "."], "")]);
  if (capMicros === null)
    return joined([
      spent === undefined ? undefined : joined([spent, "."], ""),
      linked("No monthly limit is set.", hrefs?.limit),
    ]);
  const limit = linked(`limit of ${money(capMicros)} a month`, hrefs?.limit);
  return spent === undefined ? joined([`A `, limit, " is set."], "") : joined([spent, " of a ", limit, "."], "");
}

/** Returns the verdict without credit: what was spent, whom to ask, what stays. */
export function creditVerdict({
  balanceMicros,
  creditedMicros,
}: Pick<AccountFunds, "balanceMicros" | "creditedMicros">): Judgement {
  const spent = some(creditedMicros)
    ? `${money(creditedMicros - balanceMicros)} of ${money(creditedMicros)} is spent, so searches`
    : "Searches";
  return judgement(
    ["Your credit is used up."],
    [
      `${spent} are refused and nothing more is charged. Ask the person who invited you to add credit: the operator of this service sees your account on the page Accounts. Your keys, saved searches and charges stay.`,
    ],
  );
}

/** Returns the verdict of a new account: its first credit, in searches. */
export const welcomeVerdict = ({
  balanceMicros,
  searchMicros,
}: Pick<AccountFunds, "balanceMicros" | "searchMicros">): Judgement =>
  judgement(joined(["Welcome.", neutral(`${leftText(balanceMicros)} is yours to spend.`)]), [
    `Enough for ${searchesText(balanceMicros, searchMicros).replace(" more", "").replace(/^A/, "a")}. It comes from your operator; nothing is charged to a card, and nothing can cost more than your balance.`,
  ]);

/** Returns the verdict of a page that costs more than what is left: what it costs, and whom to ask. */
export const tooDearVerdict = (costMicros: number, leftMicros: number): Judgement =>
  judgement(
    joined([
      `This page costs ${chargeText(costMicros)}.`,
      attention(`${leftMicros <= 0 ? "Nothing" : chargeText(leftMicros)} is left.`),
    ]),
    [
      "Nothing was charged. Ask the person who invited you to add credit: the operator of this service sees your account on the page Accounts.",
    ],
  );

/** Returns the state of an account for a table. One without a charge is new, also without credit. */
export function accountState(state: BillingState, isNew: boolean, isPromotional: boolean): string {
  if (state === "suspended") return "suspended";
  if (isNew) return "new";
  if (state === "exhausted") return "credit used up";
  if (state === "low_balance") return "low balance";
  return isPromotional ? "promotional" : "active";
}

/** Returns the title of what is saved: `Saved: 1 search, 1 car`. */
export const savedTitle = (searches: number, cars: number): string => {
  const kept = [
    searches === 0 ? "" : `${count(searches)} ${searches === 1 ? "search" : "searches"}`,
    cars === 0 ? "" : (things(cars, "car") ?? ""),
  ];
  return kept.every((text) => text === "")
    ? "Nothing is saved yet"
    : `Saved: ${kept.filter((text) => text !== "").join(", ")}`;
};

/** Returns the line of a saved search: `Used AWD SUVs to $25,000 within 100 miles of Tacoma, WA: 7 cars.` */
export const savedSearchText = (words: string, cars: MaybeNumber): string =>
  `${words}${known(cars, (number) => `: ${things(number, "car")}`) ?? ""}.`;

/** The verdict of open access, which has no accounts. */
export const openAccess: Judgement = {
  sentence: ["This machine."],
  context: ["No accounts, no charges: this service runs for its own machine."],
};
