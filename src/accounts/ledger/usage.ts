/** What an account has used (section 2.8 of the specification): requests and charges by UTC day and usage class. */
import { plusDays } from "../../base/day.ts";
import { integerIn, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { sql } from "../../db/sql.ts";
import type { SqliteDatabase } from "../../db/sqlite.ts";
import { prices, type UsageClass } from "../policy/prices.ts";

/** Days that are asked for when none are named, and the most that may be. */
const [daysByDefault, daysMost] = [30, 366];

export interface UsageRange {
  readonly startDate: string;
  readonly endDate: string;
  /** Undefined for all of them. */
  readonly classes: readonly UsageClass[] | undefined;
}

export type UsageRow = AnswerOf<"getUsage">["data"][number];

/** The range that a request asks for, as of a UTC day; refuses one that ends before it starts, or is too long. */
export function usageRange(query: QueryOf<"getUsage">, today: string): UsageRange {
  const endDate = query.end_date ?? today;
  const startDate = query.start_date ?? plusDays(endDate, 1 - daysByDefault);
  if (startDate > endDate)
    throw refuse("incompatible_parameters", {
      parameters: "start_date and end_date",
      reason: `${startDate} is after ${endDate}`,
    });
  if (plusDays(startDate, daysMost) <= endDate)
    throw refuse("incompatible_parameters", {
      parameters: "start_date and end_date",
      reason: `from ${startDate} to ${endDate} are more than ${daysMost} days`,
    });
  return { startDate, endDate, classes: query.metering_class };
}

/** The account's usage in a range: a row for each day and class that was used, in the order of days, then of the price list. */
export function usageIn(database: SqliteDatabase, accountId: string, range: UsageRange): readonly UsageRow[] {
  const order = Object.keys(prices) as readonly UsageClass[];
  const classes = range.classes ?? order;
  const rows = database.all(sql`
    SELECT   day, usage_class, requests, charged_micros
    FROM     usage_days
    WHERE    account_id = ${accountId} AND day BETWEEN ${range.startDate} AND ${range.endDate}
    ORDER BY day`);
  return rows
    .flatMap((row) => {
      const metering_class = order.find((known) => known === row.usage_class);
      if (metering_class === undefined || !classes.includes(metering_class)) return [];
      const [date, requests] = [textIn(row, "day"), integerIn(row, "requests")];
      return [{ date, metering_class, requests, charged_micros: integerIn(row, "charged_micros") }];
    })
    .sort((one, other) => compare(one.date, other.date) || place(order, one) - place(order, other));
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
const place = (order: readonly UsageClass[], { metering_class }: UsageRow): number => order.indexOf(metering_class);
