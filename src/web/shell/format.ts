/** Formats values for people: numbers, amounts of money, days. Unknown values are a dash. */

const unknown = "–";
const integers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export const count = (value: number | null | undefined, unit = ""): string =>
  value === null || value === undefined ? unknown : `${integers.format(value)}${unit}`;

/** Formats a number of things by their name in the singular: `1 day`, `2 days`. */
export const amountOf = (number: number | null | undefined, thing: string): string =>
  count(number, ` ${thing}${number === 1 ? "" : "s"}`);

const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const decimals = new Intl.NumberFormat("en-US", { maximumFractionDigits: 9 });

/** Formats a number with all its decimals. */
export const decimal = (value: number): string => decimals.format(value);

/** The lake's currency, and the sign before its amounts. */
let currency = "USD";
let currencySign = "$";

/** Sets the currency of prices (ISO 4217), that of the one lake which a process serves. */
export function showCurrency(code: string): void {
  // Finding a sign takes longer than all that is formatted on many a page.
  if (code === currency) return;
  currency = code;
  const parts = new Intl.NumberFormat("en-US", { style: "currency", currency: code, currencyDisplay: "narrowSymbol" });
  const sign = parts.formatToParts(0).find(({ type }) => type === "currency")?.value ?? code;
  currencySign = sign === code ? `${code} ` : sign;
}

/** Formats a price: a whole number of the lake's currency. */
export const dollars = (value: number | null | undefined): string =>
  value === null || value === undefined
    ? unknown
    : `${value < 0 ? "−" : ""}${currencySign}${integers.format(Math.abs(value))}`;

const shortNumbers = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

/** Formats a number for an axis, for example `25K`. */
export const shortCount = (value: number): string => shortNumbers.format(value);

/** Formats a price for an axis, for example `$25K`. */
export const shortPrice = (value: number): string => `${currencySign}${shortNumbers.format(value)}`;

/** Formats a price or balance in micros, with as many decimals as it needs, at least two and at most six. */
export function usd(micros: number): string {
  const [whole = "0", fraction = ""] = (Math.abs(micros) / 1_000_000).toFixed(6).split(".");
  const text = `$${integers.format(Number(whole))}.${fraction.replace(/0{1,4}$/, "")}`;
  return micros < 0 ? `−${text}` : text;
}

const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Formats an amount in micros in dollars and cents; smaller ones than a cent with the decimals that they need. */
export function money(micros: number): string {
  if (micros !== 0 && Math.abs(micros) < 10_000) return usd(micros);
  return `${micros < 0 ? "−" : ""}$${cents.format(Math.abs(micros) / 1_000_000)}`;
}

/** Formats what is left in micros, rounded down to cents; less than a cent with the decimals that it needs. */
export const leftText = (micros: number): string =>
  money(micros > 0 && micros < 10_000 ? micros : Math.floor(micros / 10_000) * 10_000);

/** Formats a charge in micros: at least three decimals. */
export const chargeText = (micros: number): string => usd(micros).replace(/\.(\d\d)$/, ".$10");

/** Formats an amount in micros that is added or taken. */
export const signedAmount = (micros: number): string => (micros > 0 ? `+${usd(micros)}` : usd(micros));

/** Formats a Unix time in UTC to the minute, for example `2026-11-19 08:15`. */
export const time = (atMs: number): string => new Date(atMs).toISOString().slice(0, 16).replace("T", " ");

/** Formats a fraction as a percentage without a sign, with one decimal: `4.7 %`. */
export const inPercent = (fraction: number): string => `${tenths.format(Math.abs(fraction * 100))}\u00a0%`;

/** Formats a fraction as a percentage with a sign: `+0.6 %`, `0.0 %`. */
export function signedPercent(fraction: number): string {
  const size = inPercent(fraction);
  return /^0\.0\D/.test(size) ? size : `${fraction < 0 ? "−" : "+"}${size}`;
}

/** Formats a part of a whole in whole percent: `18 %`; `under 1 %` and `over 99 %` for what is not none or all. */
export function wholePercent(fraction: number): string {
  if (fraction > 0 && fraction < 0.01) return "under 1\u00a0%";
  if (fraction > 0.99 && fraction < 1) return "over 99\u00a0%";
  return `${integers.format(Math.abs(fraction * 100))}\u00a0%`;
}

/** Returns a text, or a dash if it is unknown or empty. */
export const text = (value: string | number | null | undefined): string =>
  value === null || value === undefined || value === "" ? unknown : String(value);

const days = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", year: "numeric", month: "short", day: "numeric" });

/** Formats the day of a date or time, for example `Nov 19, 2026`. */
export const day = (value: string | null | undefined): string =>
  value === null || value === undefined ? unknown : days.format(new Date(`${value.slice(0, 10)}T00:00:00Z`));

const daysOfYear = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });

/** Formats a day with the year only if it is another than that of the shown day: `Nov 19`. */
export const shortDay = (value: string, shown: string): string =>
  value.slice(0, 4) === shown.slice(0, 4) ? daysOfYear.format(new Date(`${value.slice(0, 10)}T00:00:00Z`)) : day(value);

/** Formats a Unix time in UTC to the minute, with the year only if it is another than that of the shown day: `Nov 27, 22:16`. */
export const shortTime = (atMs: number, shown: string): string => {
  const text = new Date(atMs).toISOString();
  return `${shortDay(text, shown)}, ${text.slice(11, 16)}`;
};

const months = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "long" });

/** Formats the month of a day, for example `November`. */
export const monthName = (value: string): string => months.format(new Date(`${value}T00:00:00Z`));

const weekdays = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", weekday: "long" });

export const weekday = (value: string): string => weekdays.format(new Date(`${value}T00:00:00Z`));

/** Formats a duration in whole days, hours or minutes, the largest unit of which it has two or more: `3 hours`. */
export function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const [size, unit] = minutes >= 2880 ? [1440, "day"] : minutes >= 120 ? [60, "hour"] : [1, "minute"];
  return amountOf(Math.floor(minutes / Number(size)), String(unit));
}

/** Returns a URL of a feed if it is one of the web, for links; undefined for any other. */
export function webUrl(value: string | null | undefined): string | undefined {
  if (value === null || value === undefined || !URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

/** Joins the known parts of a place or a name with commas. */
export const plainWords = (...parts: readonly (string | number | null | undefined)[]): string =>
  parts.filter((part) => part !== null && part !== undefined && part !== "").join(", ");
