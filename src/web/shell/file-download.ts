/** CSV files that are written while they are read. */
import { csvLines } from "../../formats/table-formats.ts";

/** Rows that are read at once: few, because other requests wait while a chunk is encoded. */
const chunkRows = 500;

/** Yields the lines of rows that are read in chunks: `read` returns those after a row, up to a limit. */
export async function* csvOfChunks<Row>(
  heading: readonly string[],
  read: (after: Row | null, limit: number) => Promise<readonly Row[]>,
  cellsOf: (row: Row) => readonly (string | undefined)[],
): AsyncGenerator<string> {
  yield csvLines([heading]);
  for (let after: Row | null = null; ; ) {
    const rows: readonly Row[] = await read(after, chunkRows);
    yield csvLines(rows.map(cellsOf));
    const last = rows.at(-1);
    if (rows.length < chunkRows || last === undefined) return;
    after = last;
  }
}
