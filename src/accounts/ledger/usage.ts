/** Operation `getUsage`: requests and charges of an account by UTC day and usage class. Reads the ledger, never writes it. */
import { plusDays } from "../../base/day.ts";
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { type Refusal, refuse } from "../../contract/errors.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { rowReader } from "../../db/row-reader.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import { prices, pricingVersion, type UsageClass } from "../policy/prices.ts";

/** The length of the range without `start_date`, and the longest allowed one. */
const defaultRangeDays = 30;
const rangeDaysMax = 366;

/** UTC days, both ends included. */
export interface UsageRange {
  readonly startDate: string;
  readonly endDate: string;
  readonly classes: readonly UsageClass[] | undefined;
}

export type UsageRow = AnswerOf<"getUsage">["data"][number];

/** Returns the range of a request as of a UTC day. Refuses with `incompatible_parameters` if it is reversed or too long. */
export function usageRange(query: QueryOf<"getUsage">, today: string): UsageRange {
  const endDate = query.end_date ?? today;
  const startDate = query.start_date ?? plusDays(endDate, 1 - defaultRangeDays);
  if (startDate > endDate) throw refuseRange(`${startDate} is after ${endDate}`);
  if (plusDays(startDate, rangeDaysMax) <= endDate)
    throw refuseRange(`the range from ${startDate} to ${endDate} is longer than ${rangeDaysMax} days`);
  return { startDate, endDate, classes: query.metering_class };
}

const refuseRange = (reason: string): Refusal =>
  refuse("incompatible_parameters", { parameters: "start_date and end_date", reason });

const readUsage = rowReader({
  date: textIn,
  metering_class: (row: Row): UsageClass | undefined => usageClasses.find((known) => known === row.metering_class),
  requests: integerIn,
  charged_micros: integerIn,
});

const usageClasses = Object.keys(prices) as readonly UsageClass[];

/** Returns an account's usage: one row per day and class with requests, ordered by day, then by the order of the price list. */
export async function listUsage(
  database: SqlDatabase,
  accountId: string,
  { startDate, endDate, classes = usageClasses }: UsageRange,
): Promise<readonly UsageRow[]> {
  const query = sql`
    SELECT   day AS date, usage_days.usage_class AS metering_class, requests, charged_micros
    FROM     usage_days JOIN prices ON prices.usage_class = usage_days.usage_class AND pricing_version = ${pricingVersion}
    WHERE    account_id = ${accountId} AND day BETWEEN ${startDate} AND ${endDate} AND requests > 0
    ORDER BY day, price`;
  return (await database.reading((reader) => reader.all(query)))
    .map(readUsage)
    .filter((row): row is UsageRow => row.metering_class !== undefined && classes.includes(row.metering_class));
}

/** The charges to each account of a statement in a UTC month. */
export const spentIn = (month: Sql): Sql => sql`
  (SELECT coalesce(sum(charged_micros), 0) FROM usage_days
   WHERE  usage_days.account_id = accounts.account_id AND day BETWEEN ${month} || '-01' AND ${month} || '-31')`;
