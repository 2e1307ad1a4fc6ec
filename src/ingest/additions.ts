/** What a day adds to the lake's tables, and the writing of it. */
import { textIn } from "../base/json.ts";
import { join, type Sql, sql } from "../base/sql.ts";
import type { TableName } from "../lake/layout.ts";
import type { Files, LakeFile, Manifest } from "../lake/manifest.ts";
import { type Writer, writeFile } from "../lake/writer.ts";

/** A table, the value of its partition where it has one, and the rows to add. */
type Addition = readonly [TableName, string | null, Sql];

/** Writes the files of a day, named after its version, and gives all files of the tables with them. */
export async function writeAdditions(writer: Writer, manifest: Manifest): Promise<Files> {
  const files: Record<TableName, readonly LakeFile[]> = { ...manifest.tables };
  for (const [table, partition, rows] of await additionsOf(writer, manifest.as_of)) {
    const file = await writeFile(writer, manifest.version, table, partition, rows);
    if (file !== undefined) files[table] = [...files[table], file];
  }
  return files;
}

async function additionsOf({ session }: Writer, day: string): Promise<readonly Addition[]> {
  const inState = (...states: readonly string[]): Sql =>
    sql`SELECT * FROM absent WHERE state IN (${join(states.map((state) => sql`${state}`))})`;
  const months = await session.rows(sql`
    SELECT DISTINCT strftime(sold_date, '%Y-%m') AS "month" FROM absent WHERE state = 'sold' ORDER BY "month"`);
  const sold = months.map((row): Addition => {
    const month = textIn(row, "month");
    return ["sold", month, withTrim(sql`${inState("sold")} AND strftime(sold_date, '%Y-%m') = ${month}`)];
  });
  const owned = sql`SELECT dealer_id, (count(*) FILTER (is_owner))::INTEGER AS owned FROM claims_today
    WHERE sighted_on = ${day}::DATE GROUP BY dealer_id`;
  return [
    ["snapshots", day, withTrim(sql`FROM next_active`)],
    ["contenders", day, withTrim(sql`FROM next_contenders`)],
    ["missing", day, withTrim(inState("missing"))],
    ...sold,
    ["ended", day.slice(0, 7), withTrim(inState("ended", "superseded"))],
    ["builds", null, sql`FROM new_builds`],
    ["dealers", null, sql`FROM new_dealers`],
    ["tokens", null, sql`FROM new_tokens`],
    ["options", null, sql`FROM new_options`],
    ["claims", day, sql`FROM claims_today`],
    ["deliveries", day, sql`SELECT * FROM deliveries_today LEFT JOIN (${owned}) USING (dealer_id)`],
    ["rejects", day, sql`FROM issues`],
  ];
}

/** Listings with the trim that the layout sorts them by. */
function withTrim(listings: Sql): Sql {
  return sql`SELECT listings.*, all_builds.trim FROM (${listings}) AS listings JOIN all_builds USING (build_key)`;
}
