/** Loads the reference data of the demo market: `data/reference/market/*.csv`, ZIP codes and spelling aliases. */
import { projectPath } from "../base/project-files.ts";
import type { Session } from "../db/duckdb.ts";
import { literal, pathLiteral, sql } from "../db/sql.ts";

const factFiles = [
  "ages",
  "base_colors",
  "features",
  "lines",
  "makes",
  "models",
  "names",
  "options",
  "paints",
  "plants",
  "regions",
  "seasons",
];

/** Creates a table `<file>_facts` per reference file, with the file's row number as `line`, and the tables `zips`, `state_people` and `aliases`. */
export async function loadFactTables(session: Session): Promise<void> {
  for (const file of [...factFiles, "stores", "states"]) {
    await session.createTempTable(
      `${file}_facts`,
      sql`SELECT row_number() OVER () AS line, * FROM ${csv(`market/${file}.csv`)}`,
    );
  }
  await session.createTempTable(
    "zips",
    sql`SELECT *, sum(population) OVER (ORDER BY state, postal_code ROWS UNBOUNDED PRECEDING) - population AS people_before
        FROM ${csv("zip_codes.csv", "postal_code")} SEMI JOIN states_facts USING (state) WHERE population > 0`,
  );
  await session.createTempTable(
    "state_people",
    sql`SELECT state, region, min(people_before) AS people_before, sum(population) AS people FROM zips JOIN states_facts USING (state) GROUP BY ALL`,
  );
  await session.createTempTable(
    "aliases",
    sql`SELECT attribute, canonical, max(spelling) AS alias FROM ${csv("spellings.csv")} WHERE lower(canonical) <> spelling GROUP BY ALL`,
  );
}

const csv = (file: string, textColumn?: string) => {
  const types = textColumn === undefined ? sql`` : sql`, types = {${literal(textColumn)}: 'VARCHAR'}`;
  return sql`read_csv(${pathLiteral(projectPath(`data/reference/${file}`))}, header = true${types})`;
};
