/** The facts that a market is made from, as tables: `data/reference/market/*.csv`, one table each, and ZIP codes. */
import { projectPath } from "../base/project-files.ts";
import type { Session } from "../db/duckdb.ts";
import { literal, sql } from "../db/sql.ts";

const facts = ["ages", "base_colors", "features", "lines", "makes", "models", "names", "options", "paints", "plants"];

/** Makes a table of each file of facts, named `<file>_facts`, and `zips`, `aliases` and `stores_facts`, `states_facts`. */
export async function loadFactTables(session: Session): Promise<void> {
  for (const file of [...facts, "stores", "states"]) {
    await session.createTempTable(
      `${file}_facts`,
      sql`SELECT row_number() OVER () AS line, * FROM ${csv(`market/${file}.csv`)}`,
    );
  }
  await session.createTempTable(
    "zips",
    sql`SELECT *, sum(population) OVER (ORDER BY postal_code ROWS UNBOUNDED PRECEDING) - population AS people_before
        FROM ${csv("zip_codes.csv", "postal_code")} SEMI JOIN states_facts USING (state) WHERE population > 0`,
  );
  await session.createTempTable(
    "aliases",
    sql`SELECT attribute, canonical, max(spelling) AS alias FROM ${csv("spellings.csv")} WHERE lower(canonical) <> spelling GROUP BY ALL`,
  );
}

const csv = (file: string, text?: string) => {
  const types = text === undefined ? sql`` : sql`, types = {${literal(text)}: 'VARCHAR'}`;
  return sql`read_csv(${literal(projectPath(`data/reference/${file}`))}, header = true${types})`;
};
