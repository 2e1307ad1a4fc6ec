/** Inventory files of a generated day in the layout of a provider, which replace those in the Carquet format. */
import { mkdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { integerIn, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { fileLiteral, integerLiteral, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { dialectRows, type FeedDialect } from "./dialects.ts";

/** Maximum rows per inventory file, which are sorted at once. Markets up to this size run on one thread: a second one does not help. */
export const rowsPerFile = 100_000;

/** One of the files of a day's inventory. */
interface InventoryPart {
  /** Follows the name of the file; empty if it is the only one. */
  readonly suffix: string;
  /** The condition of its rows. */
  readonly condition: Sql;
}

/** Returns the files into which the inventory of a day is divided. */
export function inventoryParts(rows: number): readonly InventoryPart[] {
  const parts = Math.max(1, Math.ceil(rows / rowsPerFile));
  return Array.from({ length: parts }, (_, index) => {
    const first = index * rowsPerFile;
    const last = (index + 1) * rowsPerFile - 1;
    return {
      suffix: parts === 1 ? "" : `-${String(index + 1).padStart(3, "0")}`,
      condition: sql`line BETWEEN ${numberLiteral(first)} AND ${numberLiteral(last)}`,
    };
  });
}

/** Writes the files of a day, in a folder for each dealer if no column names it. `carsIn` returns the inventory rows of a condition. */
export async function writeDialect(
  session: Session,
  folder: string,
  {
    dialect,
    rows,
    carsIn,
  }: { readonly dialect: FeedDialect; readonly rows: number; readonly carsIn: (condition: Sql) => Sql },
): Promise<void> {
  const copy = (condition: Sql, path: string): Promise<void> =>
    session.run(
      sql`COPY (${dialectRows(dialect, withDealers(carsIn(condition)))}) TO ${fileLiteral(path)} (${dialect.settings})`,
    );
  if (dialect.isPerDealer) {
    const dealers = await session.rows(sql`
      SELECT dealer::INTEGER AS dealer, dealer_id FROM dealers WHERE dealer IN (SELECT dealer FROM day_rows) ORDER BY dealer`);
    for (const row of dealers) {
      const path = join(folder, textIn(row, "dealer_id"));
      await mkdir(path, { recursive: true });
      await copy(sql`dealer = ${integerLiteral(integerIn(row, "dealer"))}`, join(path, dialect.file));
    }
    return;
  }
  const ending = extname(dialect.file);
  for (const { suffix, condition } of inventoryParts(rows))
    await copy(condition, join(folder, `${basename(dialect.file, ending)}${suffix}${ending}`));
}

/** Returns the rows of cars as texts, with their dealers. */
const withDealers = (cars: Sql): Sql => sql`
  SELECT cars.* EXCLUDE (line), dealers.* EXCLUDE (id),
    CASE lower(inventory_type) WHEN 'new' THEN 'new' WHEN 'certified' THEN 'certified' WHEN 'cpo' THEN 'certified' ELSE 'used' END AS kind
  FROM (SELECT row_number() OVER () AS line, COLUMNS(*)::VARCHAR FROM (${cars})) AS cars
  LEFT JOIN (SELECT dealer_id AS id, name AS dealer_name, line1, city, state AS dealer_state, postal_code, phone, latitude::VARCHAR AS latitude,
             longitude::VARCHAR AS longitude FROM dealers) AS dealers ON id = cars.dealer_id
  ORDER BY line`;
