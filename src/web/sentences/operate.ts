/** What is said to operators: what came this morning, what waits for a decision, what the service earns, and whose credit ends. */
import { calendarMonth, lastDayIn, plusDays } from "../../base/day.ts";
import type { FeedDecision } from "../../lake/feed-decisions.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import { age, chargeText, count, money, monthName, shortDay, signedPercent, wholePercent } from "../shell/format.ts";
import type { Judgement, Sentence } from "./sentence.ts";
import {
  agreeing,
  attention,
  capital,
  clause,
  digits,
  fact,
  type Hrefs,
  inWords,
  joined,
  judgement,
  known,
  linked,
  type MaybeNumber,
  neutral,
  some,
  things,
  thingsInWords,
} from "./words.ts";

/** The files of a day. A file that looks broken came too. */
export interface Morning {
  readonly day: string;
  readonly asOf: string;
  /** Dealers whose file is expected. */
  readonly expected: number;
  readonly silent: number;
  readonly broken: number;
  /** Silent dealers about which nothing is decided. */
  readonly awaited?: number | undefined;
  readonly rows?: MaybeNumber;
  readonly refused?: MaybeNumber;
  readonly cars?: MaybeNumber;
  readonly version?: string | undefined;
  /** Whether the last ingest failed. */
  readonly hasFailed?: boolean | undefined;
  readonly hrefs?: Hrefs<"broken" | "silent" | "refused" | "cars" | "came"> | undefined;
}

/** Returns the verdict of a morning, in digits: `516 of 522 files came. 3 look broken, 6 are silent.` */
export function morningVerdict({ expected, silent, broken, version, hrefs, ...morning }: Morning): Judgement {
  const open = broken + (morning.awaited ?? 0);
  const came = Math.max(0, expected - silent);
  const on = shortDay(morning.day, morning.asOf);
  const all = came === 1 ? "The one file" : `All ${count(came)} files`;
  const share = silent === 0 ? all : `${count(came)} of ${count(expected)} files`;
  const looks =
    broken === 0
      ? neutral("None looks broken", hrefs?.came)
      : attention(`${count(broken)} ${agreeing(broken, "looks", "look")} broken`, hrefs?.broken);
  const quiet = silent > 0 && linked(`${count(silent)} ${agreeing(silent, "is", "are")} silent`, hrefs?.silent);
  const files =
    expected === 0
      ? `No file is expected on ${on}.`
      : came === 0
        ? clause`${attention(`No file came on ${on}`, hrefs?.silent)}.`
        : clause`${linked(share, hrefs?.came)} came. ${joined([looks, quiet || undefined], ", ")}.`;
  const failed = morning.hasFailed === true && clause`${attention("The last delivery could not be published")}.`;
  const published =
    version === undefined ? "" : `Version ${version} is published${broken === 0 ? "" : " with the good ones"}.`;
  const waits =
    broken === 1
      ? "Nothing of the broken one changes until you decide."
      : `Of the ${inWords(broken)}, nothing changes until you decide.`;
  const rows = known(morning.rows, (number) => ` of ${count(number)}`);
  return judgement(joined([failed || undefined, files]), joined([published, broken === 0 ? "" : waits]), [
    ...fact(count(open), agreeing(open, "decision open", "decisions open")),
    ...fact(rows && clause`${linked(digits(morning.refused), hrefs?.refused)}${rows}`, "rows refused"),
    ...fact(linked(digits(morning.cars), hrefs?.cars), "cars read"),
  ]);
}

/** What the files of a day brought. */
export interface DayReport {
  readonly day: string;
  readonly asOf: string;
  readonly files: number;
  readonly cars: number;
  readonly refused: number;
  readonly broken: number;
  /** Values that became unknown, and unusual ones that were kept. */
  readonly unknown: number;
  readonly noted: number;
}

/** Returns the verdict of a day's report: `516 files came on Nov 19. 37 of 9,882 rows were refused.` */
export function dayVerdict({ day, asOf, files, cars, refused, broken, unknown, noted }: DayReport): Judgement {
  const rows = cars + refused;
  const lost = `${count(refused)} of ${things(rows, "row")} ${agreeing(refused, "was", "were")} refused`;
  return judgement(
    joined([
      `${files === 0 ? "No file" : things(files, "file")} came on ${shortDay(day, asOf)}.`,
      rows === 0 ? undefined : clause`${refused === 0 ? neutral("No row was refused") : attention(lost)}.`,
    ]),
    joined([
      broken === 0
        ? undefined
        : `${things(broken, "file")} looked broken: ${agreeing(broken, "its", "their")} old cars stayed.`,
      rows === 0 ? undefined : "A value that no rule accepts becomes unknown; its row stays.",
    ]),
    [
      ...fact(digits(cars), "cars read"),
      ...fact(digits(unknown), "values unknown"),
      ...fact(digits(noted), "values noted"),
    ],
  );
}

/** Returns the title of the decisions: `Decide: 3 files look broken`. */
export const decideTitle = (broken: number): string =>
  broken === 0 ? "Nothing to decide" : `Decide: ${things(broken, "file")} ${agreeing(broken, "looks", "look")} broken`;

/** A feed that is held because its rows or prices collapsed. */
export interface BrokenFeed {
  readonly vins: MaybeNumber;
  readonly usualVins: MaybeNumber;
  readonly missing?: MaybeNumber;
  /** The day of the dealer's feed before in words, if it was not yesterday's. */
  readonly before?: string | undefined;
  readonly jumpedPrices?: MaybeNumber;
  readonly knownPrices?: MaybeNumber;
}

/** Returns what is odd about a held feed: `27 cars came; usually 89. 62 of yesterday's are missing. Until you decide, its old cars stay.` */
export function brokenFeedText({ vins, usualVins, missing, before, jumpedPrices, knownPrices }: BrokenFeed): Sentence {
  const came = things(vins, "car");
  const usual = known(usualVins, (number) => `; usually ${count(number)}`) ?? "";
  const day = before === undefined ? "yesterday's" : `those of ${before}`;
  const bound =
    life.jumpFactor === 2 ? "double or less than half" : `${life.jumpFactor} times or less than 1/${life.jumpFactor}`;
  return joined([
    came && `${came} came${usual}.`,
    some(missing) ? `${count(missing)} of ${day} ${agreeing(missing, "is", "are")} missing.` : "",
    some(jumpedPrices) && some(knownPrices)
      ? `${count(jumpedPrices)} of ${things(knownPrices, "known price")} ${agreeing(jumpedPrices, "has", "have")} jumped to more than ${bound}.`
      : "",
    "Until you decide, its old cars stay.",
  ]);
}

const decisionWords: Readonly<Record<FeedDecision["decision"], string>> = {
  release: "Accepted: its cars are those of the file",
  reject: "Rejected: its old cars stay",
  correct: "Corrected: the new file replaces it",
  wait: "Waits a day: its cars stay for another one without a file",
  end: "Its cars end with the next delivery, unless a file comes",
};

/** Returns what was decided about a dealer's feed. */
export const decidedText = (name: string, decision: FeedDecision["decision"]): string =>
  `${name}. ${decisionWords[decision]}.`;

/** A dealer without a file, and the last day on which it delivered. */
export interface SilentDealer {
  readonly name: string;
  readonly lastDay: string;
}

/** Returns since when a dealer is silent: `today`, `since Nov 14`. */
export const silentSince = (lastDay: string, asOf: string): string =>
  plusDays(lastDay, 1) >= asOf ? "today" : `since ${shortDay(plusDays(lastDay, 1), asOf)}`;

/** Returns the title and note of silent dealers: `6 dealers are silent; one since Nov 14`. Those who end tomorrow are named, up to three. */
export function silentTitle(
  dealers: readonly SilentDealer[],
  asOf: string,
): { readonly title: string; readonly note: string } {
  const note = `A dealer's cars stay for ${life.silentDays} days without a file, then count as gone.`;
  const first = dealers.map(({ lastDay }) => lastDay).sort()[0];
  if (first === undefined) return { title: "No dealer is silent", note };
  const since = silentSince(first, asOf);
  const longest = inWords(dealers.filter(({ lastDay }) => lastDay === first).length);
  const ending = dealers.filter(({ lastDay }) => plusDays(lastDay, life.silentDays - 1) === asOf);
  const whose = ending.length > 3 ? `${count(ending.length)} dealers` : ending.map(({ name }) => name).join(", ");
  return {
    title: `${things(dealers.length, "dealer")} ${agreeing(dealers.length, "is", "are")} silent${since === "today" ? "" : `; ${longest} ${since}`}`,
    note: ending.length === 0 ? note : `${note} Those of ${whose} end tomorrow.`,
  };
}

/** Returns the title of the cars read by day, beside the days before: `9,845 cars came, as usual`. */
export function readTitle(cars: number, before: readonly number[]): { readonly title: string; readonly note: string } {
  const low = Math.min(...before);
  const high = Math.max(...before);
  const usual =
    before.length < 3 ? "" : cars < low ? ", fewer than usual" : cars > high ? ", more than usual" : ", as usual";
  const days = before.length === 1 ? "day" : `${inWords(before.length)} days`;
  const range =
    before.length === 0
      ? ""
      : `; the ${days} before had ${low === high ? count(low) : `${count(low)} to ${count(high)}`}`;
  return { title: `${things(cars, "car")} came${usual}`, note: `Rows read each day${range}.` };
}

export interface ServiceHealth {
  readonly freeBytes: number;
  readonly bytes: number;
  readonly running: number;
  readonly longestMs?: MaybeNumber;
  /** Milliseconds until the next file is due; negative if it is overdue. */
  readonly dueInMs?: MaybeNumber;
  readonly hasFailed?: boolean | undefined;
  /** Whether something is damaged or not in use. */
  readonly isDegraded?: boolean | undefined;
}

/** Below this share of free bytes, the disk is almost full. */
const freeShare = 0.1;

/** Returns how the service is: `The service is well`, or the first of what is wrong with it: a failed delivery, a full disk, an overdue file, damage. */
export function serviceTitle({ freeBytes, bytes, dueInMs, hasFailed, isDegraded }: ServiceHealth): Sentence {
  if (hasFailed === true) return joined([attention("The last delivery failed")]);
  if (freeBytes < freeShare * bytes) return joined([attention("The disk is almost full")]);
  if (typeof dueInMs === "number" && dueInMs < 0) return joined([attention("The next file is overdue")]);
  return isDegraded === true ? joined([attention("The service is degraded")]) : ["The service is well"];
}

/** Returns the numbers of the service: `71.7 GB of 270.6 are free. No statement is running. The next file is due within 35 hours.` */
export function serviceNote({ freeBytes, bytes, running, longestMs, dueInMs }: ServiceHealth): string {
  const gb = (size: number): string => (size / 1e9).toFixed(1);
  const longest = running > 0 ? known(longestMs, (ms) => `, the longest for ${age(ms)}`) : undefined;
  const statements = `${capital(thingsInWords(running, "statement") ?? "")} ${running > 1 ? "are" : "is"}`;
  const due = known(dueInMs, (ms) =>
    ms < 0 ? ` The next file was due ${age(-ms)} ago.` : ` The next file is due within ${age(ms)}.`,
  );
  return `${gb(freeBytes)} GB of ${gb(bytes)} are free. ${statements} running${longest ?? ""}.${due ?? ""}`;
}

/** The charges of a month until its newest day, in micros. */
export interface MonthRevenue {
  /** The newest day. */
  readonly day: string;
  /** Charges of each day of the month so far, and of the month before. */
  readonly charges: readonly number[];
  readonly before: readonly number[];
  /** Charges of the account that brings the most. */
  readonly topCharge?: MaybeNumber;
  readonly credits?: MaybeNumber;
  readonly promotional?: MaybeNumber;
  readonly refunds?: MaybeNumber;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Formats a sum: in whole dollars from ten on, in cents from one on, and a smaller one with three decimals. */
export function roundMoney(micros: number): string {
  if (micros === 0 || Math.abs(micros) >= 1e7) return money(Math.round(micros / 1e6) * 1e6).replace(".00", "");
  return Math.abs(micros) >= 1e6 ? money(micros) : chargeText(Math.round(micros / 1000) * 1000 || micros);
}

/** Returns the sums of numbers up to each of them. */
export function addedUp(numbers: readonly number[]): readonly number[] {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum;
  });
}

const monthBefore = (day: string): string => monthName(plusDays(`${day.slice(0, 7)}-01`, -1));

/** Returns what a month ends at if it goes on as it has; undefined before the third day, on the last one, and without charges. */
export function paceOf({ day, charges }: Pick<MonthRevenue, "day" | "charges">): number | undefined {
  const length = Number(lastDayIn(calendarMonth(day)).slice(8));
  const total = sum(charges);
  return total > 0 && charges.length >= 3 && charges.length < length ? (total / charges.length) * length : undefined;
}

/**
 * Returns the verdict of revenue: `$797 in 19 days: 24 % more than October at this point.` The month before counts until the same day, and is left out
 * without a charge in it.
 */
export function revenueVerdict({ day, charges, before, topCharge, ...sold }: MonthRevenue): Judgement {
  const total = sum(charges);
  const then = sum(before.slice(0, charges.length));
  const change = total / then - 1;
  const words =
    Math.abs(change) < 0.005
      ? neutral("as much as")
      : change > 0
        ? neutral(`${wholePercent(change)} more than`)
        : attention(`${wholePercent(change)} less than`);
  const charged = `${total === 0 ? "Nothing was charged" : roundMoney(total)} in ${things(charges.length, "day")}`;
  const isCompared = total > 0 && then > 0;
  const sentence = isCompared ? clause`${charged}: ${words} ${monthBefore(day)} at this point.` : [`${charged}.`];
  const pace = known(paceOf({ day, charges }), (end) => `At this pace ${monthName(day)} ends at ${roundMoney(end)}.`);
  const top =
    some(topCharge) && total > 0
      ? `One account brings ${topCharge >= total ? "all" : wholePercent(topCharge / total)}.`
      : "";
  return judgement(joined([sentence]), joined([pace, top]), [
    ...fact(known(sold.credits, roundMoney), "credits sold"),
    ...fact(known(sold.promotional, roundMoney), "promotional"),
    ...fact(known(sold.refunds, roundMoney), "refunds"),
  ]);
}

/** Returns the title of charges added up by day: `November runs ahead of October since day 4`. */
export function runTitle({ day, charges, before }: Pick<MonthRevenue, "day" | "charges" | "before">): string {
  const month = monthName(day);
  if (sum(before) === 0 || charges.length === 0) return `Charges of ${month}`;
  const then = addedUp(charges.map((_, index) => before[index] ?? 0));
  const leads = addedUp(charges).map((sum, index) => Math.sign(sum - (then[index] ?? 0)));
  const last = leads.at(-1) ?? 0;
  if (last === 0) return `${month} runs as ${monthBefore(day)} did`;
  const since = leads.findLastIndex((lead) => lead !== last) + 2;
  return `${month} runs ${last > 0 ? "ahead of" : "behind"} ${monthBefore(day)}${since === 1 ? "" : ` since day ${since}`}`;
}

/** Returns the title of charges by class, by the largest: `Searches bring 41 %`. */
export const classesTitle = (name: string, micros: number, total: number): string =>
  total === 0
    ? "No charges yet"
    : `${capital(name)} ${/^\S*s\b/.test(name) ? "bring" : "brings"} ${wholePercent(micros / total)}`;

/** Returns a change against the month before for a table: `+18 %`, `new`. */
export const monthChange = (micros: number, before: number): string =>
  before === 0 ? (micros === 0 ? "" : "new") : signedPercent(micros / before - 1).replace(/\.\d/, "");

export interface AccountCounts {
  readonly accounts: number;
  /** With a balance below their threshold. */
  readonly low: number;
  readonly usedUp?: number;
  /** Whether they are those that a search has found. */
  readonly isFound?: boolean;
  readonly href?: string | undefined;
}

/** Returns the verdict of the accounts: `Five accounts. One is about to run dry.` */
export function accountsVerdict({ accounts, low, usedUp = 0, isFound = false, href }: AccountCounts): Judgement {
  const status = isFound ? " found" : accounts === 0 ? " yet" : "";
  const counted = `${capital(thingsInWords(accounts, "account") ?? "")}${status}.`;
  const dry = `${capital(inWords(low) ?? "")} ${agreeing(low, "is", "are")} about to run dry.`;
  return judgement(
    joined([
      counted,
      low === 0 ? undefined : attention(dry, href),
      usedUp === 0 ? undefined : attention(`The credit of ${inWords(usedUp)} is used up.`, href),
    ]),
    ["An invitation carries its first credit, so the first page a person sees is a working one."],
  );
}

/** Returns the title of the table of charged accounts: `One account may run dry: ci-bench`; names up to three of each kind. */
export function dryTitle(low: readonly string[], usedUp: readonly string[] = []): string {
  const clauseOf = (names: readonly string[], words: string): string => {
    const who = `${thingsInWords(names.length, "account")} ${words}`;
    return names.length > 3 ? who : `${who}: ${names.join(", ")}`;
  };
  const clauses = [
    ...(low.length === 0 ? [] : [clauseOf(low, "may run dry")]),
    ...(usedUp.length === 0 ? [] : [clauseOf(usedUp, agreeing(usedUp.length, "has run dry", "have run dry"))]),
  ];
  return clauses.length === 0 ? "Each of these accounts has credit" : capital(clauses.join("; "));
}

/** Returns the verdict of the log: `Three changes today.` `changes` is unknown on pages of older changes. */
export function logVerdict(isEmpty: boolean, changes: MaybeNumber, isMore = false): Judgement {
  const made = thingsInWords(changes, "change");
  const today =
    changes === 0 ? "Nothing was changed today." : `${capital(made ?? "")}${isMore ? " or more" : ""} today.`;
  const sentence = isEmpty ? "Nothing was changed yet." : made === undefined ? "Older changes." : today;
  return judgement([sentence], ["Every change of an account, a feed or a mapping stands here, with who made it."]);
}
