/**
 * Appeal: by which factor a kind of car is more frequent in a region or a month than on average. A kind is a combination of make, model, body,
 * drivetrain and powertrain.
 *
 * `regions.csv` and `seasons.csv` have relative factors, those that match a kind are multiplied. They follow the order in published rankings of state
 * vehicle registrations (state motor vehicle agencies, dealer associations, market researchers) and in price indexes by month, not their percentages.
 * Appeal is scaled so that a kind keeps its share of the whole country and of a year.
 */
import type { Session } from "../../db/duckdb.ts";
import { ident, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { RandomDraws } from "../random.ts";

/** Appeal from which a draw is always accepted. */
const appealMax = 2;
/** Number of draws, of which the first accepted one is taken. None of them is accepted for one car in 64. */
export const drawsPerCar = 6;

const traits = sql`make, model, body_type, drivetrain, powertrain_type`;

/** Returns a condition: whether a draw with an appeal is accepted. */
export const isAccepted = (draws: RandomDraws, key: Sql, appeal: Sql): Sql =>
  sql`(${numberLiteral(appealMax)} * ${draws.uniform("accepted", key)} < ${appeal})`;

/**
 * Creates the tables `region_appeal` (kind_key, region, and the appeal `among_all` cars and `within_make`), `season_appeal` (kind_key, month,
 * appeal) and `make_appeal` (make, region, appeal).
 */
export async function createAppeal(session: Session): Promise<void> {
  await session.createTempTable("kinds", sql`SELECT DISTINCT kind_key, ${traits} FROM variants`);
  await session.createTempTable("region_appeal", regionAppeal);
  await session.createTempTable("season_appeal", seasonAppeal);
  await session.createTempTable(
    "make_appeal",
    sql`SELECT "value" AS make, region, ${scaled(sql`factor`, sql`"value"`)} AS appeal
        FROM ${factorsIn("regions", "region")} JOIN ${regionPeople} USING (region) WHERE attribute = 'make'`,
  );
  await session.drop("kinds");
}

const regionPeople = sql`(SELECT region, sum(people) AS people FROM state_people GROUP BY region)`;

/** The rows of a file as attribute, value, a column that names the region or the season, and the factor. */
const factorsIn = (file: "regions" | "seasons", column: string): Sql =>
  sql`(UNPIVOT (SELECT * EXCLUDE (line) FROM ${ident(`${file}_facts`)}) ON COLUMNS(* EXCLUDE (attribute, "value")) INTO NAME ${ident(column)} VALUE factor)`;

/** The traits of each kind, one row each. */
const kindTraits = sql`(UNPIVOT (SELECT kind_key, make, make || ' ' || model AS model, body_type, drivetrain, powertrain_type FROM kinds)
  ON ${traits} INTO NAME attribute VALUE "value")`;

const product = (condition: Sql): Sql => sql`coalesce(exp(sum(ln(factor)) FILTER (${condition})), 1)`;

/** Rounds a quotient of sums, whose last digits depend on the order of the addends, and that on the number of threads. */
const rounded = (quotient: Sql): Sql => sql`round(${quotient}, 6)`;

/** Divides factors by their mean over the people of all regions. */
const scaled = (factor: Sql, entity: Sql): Sql =>
  rounded(
    sql`${factor} * sum(people) OVER (PARTITION BY ${entity}) / sum(people * ${factor}) OVER (PARTITION BY ${entity})`,
  );

const regionAppeal = sql`
  SELECT kind_key, region, ${scaled(sql`of_all`, sql`kind_key`)} AS among_all, ${scaled(sql`of_make`, sql`kind_key`)} AS within_make
  FROM (SELECT kind_key, region, people, ${product(sql`true`)} AS of_all, ${product(sql`attribute <> 'make'`)} AS of_make
        FROM ${kindTraits} CROSS JOIN ${regionPeople} LEFT JOIN ${factorsIn("regions", "region")} USING (attribute, "value", region) GROUP BY ALL)`;

const seasonAppeal = sql`
  SELECT kind_key, "month"::INTEGER AS "month", ${rounded(sql`factor / avg(factor) OVER (PARTITION BY kind_key)`)} AS appeal
  FROM (SELECT kind_key, "month", ${product(sql`true`)} AS factor
        FROM ${kindTraits} CROSS JOIN (SELECT unnest(range(1, 13))::VARCHAR AS "month") LEFT JOIN ${factorsIn("seasons", "month")} USING (attribute, "value", "month") GROUP BY ALL)`;
