/**
 * The quality report of a day: for each dealer and check, how many rows it finds, beside the usual share of the dealer's last feeds. It is derived from
 * the claims, feeds and issues that the lake keeps.
 */
import { calendarMonth } from "../../base/day.ts";
import type { Row } from "../../base/json.ts";
import { ident, integerLiteral, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { encodeCsv } from "../../formats/table-formats.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { filesOfDay, holdsOn, intervalFiles } from "../../lake/market.ts";
import { openPartition } from "../../lake/tables.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import type { ParquetVersion } from "../../serving/feed-records.ts";
import { byCheck, changeChecks, examplesMax, foundBy, qualityChecks, rowChecks, sharedFields } from "./checks.ts";

/** What is usual follows from a dealer's last feeds on this many published days before. */
const windowDays = 14;

/** The fewest rows that are worth a warning. */
const warnedRowsMin = 3;

export const qualityStatuses = ["hold", "warn", "ok"] as const;

/** The columns of a report, in order. */
export const qualityColumns = [
  "day",
  "dealer_id",
  "check",
  "field",
  "n",
  "share",
  "usual",
  "status",
  "examples",
] as const;

interface QualityRequest {
  readonly day: string;
  /** The mildest status that is wanted. */
  readonly status: (typeof qualityStatuses)[number];
  readonly dealer?: string | undefined;
}

/** Returns the rows of a report, the most serious first. The day must be one of the version. */
export async function qualityReport(
  source: ParquetVersion,
  { day, status, dealer }: QualityRequest,
): Promise<readonly Row[]> {
  const { manifest, folder } = source;
  const days = Object.keys(manifest.days)
    .filter((one) => one <= day)
    .slice(-windowDays - 1);
  const [first = day] = days;
  const files = {
    claims: intervalFiles(manifest, first),
    contenders: contendersSince(manifest, first),
    feeds: filesOfDays(manifest.tables.feeds, days),
    rejects: filesOfDays(manifest.tables.rejects, days),
    builds: manifest.tables.builds,
    dealers: manifest.tables.dealers,
  };
  const wanted = qualityStatuses.slice(0, 1 + qualityStatuses.indexOf(status)).map((one) => literal(one));
  const ofDealer = dealer === undefined ? sql`true` : sql`dealer_id = ${dealer}`;
  return source.rowsFrom(
    Object.values(files).flat(),
    sql`
    WITH ${inputs(files, { folder, first, day })}, ${measures(day)}, report AS (${comparedMeasures(day)} UNION ALL ${feedMeasures(day)} UNION ALL ${strayIssues(day)})
    SELECT ${day} AS "day", coalesce(dealer_id, '') AS dealer_id, "check", field, n::INTEGER AS n, round(share, 4) AS share, round(usual, 4) AS usual, status,
           coalesce(examples, []) AS examples
    FROM (SELECT * EXCLUDE (status), coalesce(status, ${judged}) AS status FROM report WHERE ${ofDealer}) WHERE status IN (${join(wanted)})
    ORDER BY list_position(['hold', 'warn', 'ok'], status), dealer_id, ${byCheck((check) => integerLiteral(Object.keys(qualityChecks).indexOf(check)))}, field`,
  );
}

/** Returns a report as CSV. */
export const qualityCsv = (rows: readonly Row[]): string =>
  encodeCsv({ columns: qualityColumns.map((name) => ({ name })), rows });

export const filesOfDays = (files: readonly LakeFile[], days: readonly string[]): readonly LakeFile[] => [
  ...new Set(days.flatMap((day) => filesOfDay(files, day))),
];

const contendersSince = ({ tables }: Manifest, first: string): readonly LakeFile[] =>
  tables.contenders.filter(({ partition }) => partition === openPartition || (partition ?? "") >= calendarMonth(first));

interface QualityWindow {
  readonly folder: string;
  readonly first: string;
  readonly day: string;
}

/** The relations `feeds` of the window, `delivered` (today's feeds and the last ones of their dealers), `facts` (claims) and `issues`. */
function inputs(
  files: Readonly<Record<"claims" | "contenders" | "feeds" | "rejects" | "builds" | "dealers", readonly LakeFile[]>>,
  window: QualityWindow,
): Sql {
  const { folder, first, day } = window;
  const inWindow = sql`delivery_date BETWEEN DATE ${literal(first)} AND DATE ${literal(day)}`;
  return sql`
    builds AS (${rowsOfFiles("builds", files.builds, folder)}), dealers AS (${rowsOfFiles("dealers", files.dealers, folder)}),
    feeds AS (
      SELECT dealer_id, delivery_date AS "day", verdict, vins, if(verdict = 'collapsed', coalesce("collapse", 'rows'), NULL) AS "collapse",
             known_prices, jumped_prices, last_delivered_on
      FROM (${rowsOfFiles("feeds", files.feeds, folder)}) WHERE ${inWindow}),
    delivered AS (
      SELECT * FROM feeds SEMI JOIN (SELECT dealer_id FROM feeds WHERE "day" = DATE ${literal(day)} AND verdict <> 'none') USING (dealer_id)
      WHERE verdict <> 'none'
      QUALIFY row_number() OVER (PARTITION BY dealer_id ORDER BY "day" DESC) <= 1 + ${integerLiteral(life.usualFeeds)}),
    facts AS NOT MATERIALIZED (
      SELECT dealers.dealer_id, facts.* FROM (
        SELECT *, true AS is_owner FROM (${rowsOfFiles("listings", files.claims, folder)})
        UNION ALL BY NAME SELECT *, false AS is_owner FROM (${rowsOfFiles("contenders", files.contenders, folder)})) AS facts
      JOIN dealers USING (dealer_key)
      WHERE valid_from <= DATE ${literal(day)} AND (valid_to IS NULL OR valid_to > DATE ${literal(first)})),
    issues AS (
      SELECT dealer_id, delivery_date AS "day", outcome AS "check", if(feed = 'inventory', '', feed || '.') || field || ': ' || reason AS field,
             count(*) AS n, min(file || ', row ' || "row" || coalesce(': ' || "value", ''), ${integerLiteral(examplesMax)}) AS examples
      FROM (${rowsOfFiles("rejects", files.rejects, folder)}) WHERE ${inWindow} AND outcome <> 'collapsed' GROUP BY ALL)`;
}

/**
 * The relation `measured`: what each check finds of each feed of `delivered`. A claim without `last_seen` was in all its dealer's feeds while its row
 * held.
 */
const measures = (day: string): Sql => sql`
  stated AS (
    SELECT dealer_id, valid_from, valid_to, ${foundBy(rowChecks)} AS found FROM facts JOIN builds USING (build_key)
    WHERE last_seen IS NULL GROUP BY ALL),
  shown AS (
    SELECT dealer_id, ${foundBy(rowChecks, sql`vin`)} AS found FROM facts JOIN builds USING (build_key)
    WHERE last_seen IS NULL AND ${holdsOn(sql`DATE ${literal(day)}`)} GROUP BY ALL),
  changed AS (
    SELECT coalesce(now.dealer_id, was.dealer_id) AS dealer_id, coalesce(now.valid_from, was.valid_to) AS "day",
           ${foundBy(changeChecks, sql`coalesce(now.vin, was.vin)`)} AS found
    FROM (SELECT * FROM facts WHERE valid_from > (SELECT min("day") FROM feeds)) AS now
    FULL JOIN (SELECT * FROM facts WHERE valid_to <= DATE ${literal(day)}) AS was
      ON now.vin = was.vin AND now.dealer_id = was.dealer_id AND now.valid_from = was.valid_to
    GROUP BY ALL),
  shared AS (
    SELECT dealer_id, field, unnest(vins) AS vin FROM (
      SELECT dealer_id, field, "value", list(vin) AS vins FROM (
        SELECT dealer_id, vin, unnest([${join(Object.entries(sharedFields).map(([field, value]) => sql`{field: ${literal(field)}, "value": if(${value} IS NULL, NULL, hash(${value}))}`))}], recursive := true)
        FROM facts WHERE last_seen IS NULL AND ${holdsOn(sql`DATE ${literal(day)}`)})
      WHERE "value" IS NOT NULL GROUP BY ALL HAVING count(*) > 1)),
  measured AS (
    SELECT dealer_id, "day", "check", field, sum(n) AS n, list_sort(flatten(list(examples) FILTER (examples IS NOT NULL)))[:${integerLiteral(examplesMax)}] AS examples FROM (
      SELECT stated.dealer_id, "day", "check", field, n, examples
      FROM (SELECT dealer_id, valid_from, valid_to, unnest(found, recursive := true) FROM stated) AS stated JOIN delivered
        ON stated.dealer_id = delivered.dealer_id AND n > 0 AND ${holdsOn(sql`"day"`)}
      UNION ALL SELECT dealer_id, DATE ${literal(day)}, "check", field, 0, examples FROM (SELECT dealer_id, unnest(found, recursive := true) FROM shown)
      UNION ALL SELECT dealer_id, "day", unnest(found, recursive := true) FROM changed
      UNION ALL SELECT dealer_id, DATE ${literal(day)}, 'shared', field, count(*), min(vin, ${integerLiteral(examplesMax)}) FROM shared GROUP BY ALL
      UNION ALL SELECT dealer_id, "day", "check", field, n, examples FROM issues)
    GROUP BY ALL HAVING sum(n) > 0)`;

/** Each check that found anything of a dealer's last feeds: that of the day beside the median of the others. */
const comparedMeasures = (day: string): Sql => sql`
  SELECT dealer_id, "check", field, max(n) FILTER (${isOfDay(day)}) AS n, max(share) FILTER (${isOfDay(day)}) AS share,
         median(share) FILTER (NOT ${isOfDay(day)} AND "check" <> 'shared') AS usual, any_value(examples) FILTER (${isOfDay(day)}) AS examples, NULL AS status
  FROM (
    SELECT dealer_id, "check", field, "day", coalesce(n, 0) AS n, coalesce(n, 0) / nullif(vins, 0) AS share, examples
    FROM (SELECT DISTINCT dealer_id, "check", field FROM measured) JOIN delivered USING (dealer_id)
    LEFT JOIN measured USING (dealer_id, "check", field, "day")
    WHERE "collapse" IS NULL OR "collapse" = 'rows' OR "check" IN (SELECT "check" FROM issues))
  GROUP BY ALL HAVING bool_or(${isOfDay(day)})`;

/** The checks of feeds as a whole: their sizes, their prices, and feeds that are absent. Collapsed ones are held. */
const feedMeasures = (day: string): Sql => sql`
  SELECT dealer_id, unnest([
      {"check": 'rows', field: 'vin', n: vins, share: vins / nullif(usual_vins, 0), usual: usual_vins, examples: NULL::VARCHAR[], status: CASE
        WHEN "collapse" IN ('rows', 'rejected') THEN 'hold'
        WHEN abs(vins - usual_vins) >= greatest(${integerLiteral(warnedRowsMin)}, ${numberLiteral(qualityChecks.rows[0])} * usual_vins) THEN 'warn' ELSE 'ok' END},
      {"check": 'prices', field: 'price', n: jumped_prices, share: jumped_prices / nullif(known_prices, 0), usual: usual_jumped, examples: NULL,
        status: if("collapse" = 'prices', 'hold', NULL)}], recursive := true)
  FROM (
    SELECT dealer_id, ${join(["vins", "collapse", "known_prices", "jumped_prices"].map((column) => sql`max(${ident(column)}) FILTER (${isOfDay(day)}) AS ${ident(column)}`))},
           median(vins) FILTER (NOT ${isOfDay(day)}) AS usual_vins, median(jumped_prices / nullif(known_prices, 0)) FILTER (NOT ${isOfDay(day)}) AS usual_jumped
    FROM delivered GROUP BY dealer_id)
  UNION ALL SELECT dealer_id, 'silent', 'vin', "day" - last_delivered_on, NULL, NULL, NULL, 'warn'
  FROM feeds WHERE ${isOfDay(day)} AND verdict = 'none' AND last_delivered_on >= (SELECT min("day") FROM feeds)`;

/** The issues of rows without a known dealer, or of dealers without a feed. */
const strayIssues = (day: string): Sql => sql`
  SELECT dealer_id, "check", field, n, NULL, NULL, examples, NULL FROM issues
  WHERE ${isOfDay(day)} AND NOT EXISTS (FROM delivered WHERE delivered.dealer_id = issues.dealer_id)`;

const isOfDay = (day: string): Sql => sql`"day" = DATE ${literal(day)}`;

const judged: Sql = sql`if(n >= ${integerLiteral(warnedRowsMin)} AND coalesce(share, 1) > coalesce(usual, if("check" = 'missing', share, 0)) + ${byCheck((check) => numberLiteral(qualityChecks[check][0]))}, 'warn', 'ok')`;
