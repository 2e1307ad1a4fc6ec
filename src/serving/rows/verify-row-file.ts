/** Compares a row file with the Parquet file that it was built from. */
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { batchesOf, RowFile, type RowSource } from "./row-file.ts";
import type { TextRow, UnpackedRow } from "./row-format.ts";

/** Every n-th row is also looked up by id and VIN, which takes as long as reading it. */
const lookUpEvery = 100;

/** Returns the number of rows that differ from the source. Throws if the row file does not open. */
export async function differingRows(source: RowSource, path: string, options: DatabaseOptions): Promise<number> {
  const database = await DuckDatabase.open(options);
  try {
    const file = new RowFile(path, source.file.rows);
    try {
      return await database.using(async (session) => {
        let differing = 0;
        for await (const batch of batchesOf(session, source))
          differing += batch.filter((row) => !isStored(file, row)).length;
        return differing;
      });
    } finally {
      file.close();
    }
  } finally {
    database.close();
  }
}

function isStored(file: RowFile, { place, id, vin, text }: TextRow): boolean {
  const expected = `"${id}"\n"${vin}"\n${text}`;
  const matches = ({ row, validFrom, validTo }: UnpackedRow): boolean =>
    [...row, validFrom, validTo].join("\n") === expected;
  try {
    if (!matches(file.rowAt(place))) return false;
    return place % lookUpEvery !== 0 || (file.find("id", id).some(matches) && file.find("vin", vin).some(matches));
  } catch {
    return false;
  }
}
