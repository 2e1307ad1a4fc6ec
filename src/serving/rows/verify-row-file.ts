/** Compares a row file with the Parquet file that it was built from. */
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { batchesOf, RowFile, type RowSource, type TextRow, type UnpackedRow } from "./row-file.ts";

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
          differing += batch.filter(differsFrom(file, batch)).length;
        return differing;
      });
    } finally {
      file.close();
    }
  } finally {
    database.close();
  }
}

/** Returns a function that returns whether a row of a batch differs from the file. The rows are read together, one by one only if one of them is damaged. */
function differsFrom(file: RowFile, batch: readonly TextRow[]): (row: TextRow, index: number) => boolean {
  const read = attempt(() => file.rowsAt(batch.map(({ position }) => position)));
  return (row, index) => {
    const [found] =
      read === undefined ? (attempt(() => file.rowsAt([row.position])) ?? []) : read.slice(index, index + 1);
    return found === undefined || textOf(found) !== expectedOf(row) || !isFound(file, row);
  };
}

const expectedOf = ({ id, vin, text }: TextRow): string => `"${id}"\n"${vin}"\n${text}`;
const textOf = ({ row, validFrom, validTo }: UnpackedRow): string => [...row, validFrom, validTo].join("\n");

/** Returns whether some of the rows are found by their id and VIN. */
function isFound(file: RowFile, row: TextRow): boolean {
  if (row.position % lookUpEvery !== 0) return true;
  const matches = (found: UnpackedRow): boolean => textOf(found) === expectedOf(row);
  return (["id", "vin"] as const).every((key) => attempt(() => file.find(key, [row[key]]))?.some(matches) === true);
}

/** Returns what a read returns; undefined if it throws. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
