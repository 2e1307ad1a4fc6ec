/**
 * Levels of trends in SQL, in either relation of the past: `history` has a row for each listing and day, so the requested days are grouped;
 * `intervals` has a row for each listing and interval, which begins to count at one of the requested days and ends at another. Counts and means are
 * running sums of the intervals that begin and end, percentiles take each row on each of its days.
 */
import { plusDays } from "../../src/base/day.ts";
import type { Row } from "../../src/base/json.ts";
import { quoteString, type SqlPeer } from "../peers/peer.ts";
import type { TrendFilter } from "./filter.ts";
import type { TrendFacet, TrendSpec } from "./query.ts";

/** What to measure: `metrics` of a facet's values, or of all matches, on ascending days. */
export interface LevelQuery {
  readonly metrics: TrendSpec["metrics"];
  readonly filters: readonly TrendFilter[];
  readonly facet: TrendFacet | undefined;
  readonly days: readonly string[];
}

/** Returns a row for each day and value with listings: `day`, `value` with a facet, `listings`, and `metric_<index>` and `sample_<index>` of statistics. */
export async function queryLevels(query: LevelQuery, peer: SqlPeer): Promise<readonly Row[]> {
  if (peer.levels === "history") return peer.rows(historyStatement(query, peer));
  const onDay = ({ step, ...row }: Row): Row => ({ day: query.days[Number(step)] ?? null, ...row });
  if (query.metrics.some(({ kind }) => kind === "percentile"))
    return (await peer.rows(expandedStatement(query, peer))).map(onDay);
  return runningSums(query, await peer.rows(changesStatement(query, peer))).map(onDay);
}

/** Returns the conditions of filters and facet, each after `AND`. */
export const trendCondition = (filters: readonly TrendFilter[], facet: TrendFacet | undefined): string =>
  [
    ...filters.map((filter) =>
      filter.kind === "equals" ? `${filter.column} = ${quoteString(filter.value)}` : `price <= ${filter.price}`,
    ),
    ...(facet === undefined ? [] : [`${facet} IS NOT NULL`]),
  ]
    .map((predicate) => ` AND ${predicate}`)
    .join("");

/** Returns the select-list items of statistics, each after a comma. */
const statisticsOf = ({ metrics }: LevelQuery, { dialect }: SqlPeer): string =>
  metrics
    .flatMap((metric, index) => {
      const sample = `count(price) AS sample_${index}`;
      if (metric.kind === "mean") return [`, avg(price) AS metric_${index}, ${sample}`];
      return metric.kind === "percentile"
        ? [`, ${dialect.percentile("price", metric.fraction)} AS metric_${index}, ${sample}`]
        : [];
    })
    .join("");

function historyStatement(query: LevelQuery, peer: SqlPeer): string {
  const { filters, facet, days } = query;
  const value = facet === undefined ? "" : `, ${facet} AS value`;
  return `
    SELECT day${value}, count(*) AS listings${statisticsOf(query, peer)} FROM history
    WHERE day IN (${days.map(quoteString).join(", ")})${trendCondition(filters, facet)}
    GROUP BY day${facet === undefined ? "" : `, ${facet}`}`;
}

/** Returns the matching intervals that hold on one of the days, with the numbers of the first (`lo`) and, exclusively, the last (`hi`) of them. */
function spans({ filters, facet, days }: LevelQuery): string {
  const first = days[0] ?? "";
  const last = days.at(-1) ?? "";
  const before = daysBefore(days);
  const areConsecutive = before.length === days.length + 1;
  const numberOf = (date: string): string => {
    const offset = `greatest(0, least(${before.length - 1}, ${date} - DATE ${quoteString(first)}))`;
    return areConsecutive ? offset : `([${before.join(", ")}])[1 + ${offset}]`;
  };
  const value = facet === undefined ? "" : `${facet} AS value, `;
  return `
    (SELECT * FROM (
       SELECT ${numberOf("valid_from")} AS lo, ${numberOf("valid_to")} AS hi, ${value}price FROM intervals
       WHERE valid_from <= DATE ${quoteString(last)} AND valid_to > DATE ${quoteString(first)}${trendCondition(filters, facet)}) AS numbered
     WHERE lo < hi) AS spans`;
}

/** Returns how many of ascending days are before each day from the first one to the one after the last one. */
function daysBefore(days: readonly string[]): readonly number[] {
  const first = days[0] ?? "";
  const last = days.at(-1) ?? "";
  const counts: number[] = [];
  let before = 0;
  for (let day = first; day <= plusDays(last, 1); day = plusDays(day, 1)) {
    while ((days[before] ?? day) < day) before += 1;
    counts.push(before);
  }
  return counts;
}

const valueColumn = ({ facet }: LevelQuery): string => (facet === undefined ? "" : ", value");

function expandedStatement(query: LevelQuery, peer: SqlPeer): string {
  return `
    SELECT step${valueColumn(query)}, count(*) AS listings${statisticsOf(query, peer)}
    FROM (SELECT ${peer.dialect.unnest("range(lo, hi)")} AS step${valueColumn(query)}, price FROM ${spans(query)}) AS expanded
    GROUP BY step${valueColumn(query)}`;
}

/** Returns a statement for the intervals that begin (`sign` 1) and end (-1) at each day. */
function changesStatement(query: LevelQuery, { dialect }: SqlPeer): string {
  const hasMean = query.metrics.some(({ kind }) => kind === "mean");
  const sums = hasMean
    ? ", sum(CASE WHEN price IS NULL THEN 0 ELSE sign END) AS known, sum(sign * price) AS total"
    : "";
  return `
    SELECT step${valueColumn(query)}, sum(sign) AS listings${sums}
    FROM (
      SELECT CASE WHEN is_end = 1 THEN hi ELSE lo END AS step, 1 - 2 * is_end AS sign${valueColumn(query)}, price
      FROM (SELECT *, ${dialect.unnest("[0, 1]")} AS is_end FROM ${spans(query)}) AS edges) AS changes
    GROUP BY step${valueColumn(query)}`;
}

/** Adds changes up to levels, with a row for each step and value with listings. */
function runningSums({ metrics, days }: LevelQuery, changes: readonly Row[]): readonly Row[] {
  const means = metrics.flatMap(({ kind }, index) => (kind === "mean" ? [index] : []));
  const byValue = new Map<unknown, Map<number, Row>>();
  for (const change of changes) {
    const ofValue = byValue.get(change.value) ?? new Map<number, Row>();
    byValue.set(change.value, ofValue.set(Number(change.step), change));
  }
  return [...byValue.values()].flatMap((ofValue) => {
    let listings = 0;
    let known = 0;
    let total = 0;
    const value = ofValue.values().next().value?.value;
    return days.flatMap((_, step) => {
      const change = ofValue.get(step);
      listings += Number(change?.listings ?? 0);
      known += Number(change?.known ?? 0);
      total += Number(change?.total ?? 0);
      if (listings === 0) return [];
      const statistics = means.flatMap((index) => [
        [`metric_${index}`, known === 0 ? null : total / known] as const,
        [`sample_${index}`, known] as const,
      ]);
      return [{ step, ...(value === undefined ? {} : { value }), listings, ...Object.fromEntries(statistics) }];
    });
  });
}
