/** Deliveries of files with months of history, whose rows have their day in a column: one for each day. Every delivery reads the files again. */
import { integerIn, textIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { preparedFiles, withScratch } from "../documents/prepared-files.ts";
import { matchingColumns } from "../mapping/column-matching.ts";
import { daysOfRows } from "../mapping/mapped-rows.ts";
import type { Mapping } from "../mapping/rules.ts";
import type { Delivery } from "./delivery.ts";
import type { FeedFile } from "./feed-file.ts";
import { checkFeedFile } from "./file-checks.ts";
import { describeFileError, fileError } from "./file-errors.ts";
import { type ReadSettings, relationOf, shapeOf } from "./file-formats.ts";

/** Returns the days of the mapping's column as deliveries in order. Throws a UserError for the first row without one. */
export async function deliveriesByColumn(
  files: readonly FeedFile[],
  mapping: Mapping,
  settings: ReadSettings,
): Promise<readonly Delivery[]> {
  const database = await DuckDatabase.open({ threads: 1 });
  const filesOfDay = new Map<string, FeedFile[]>();
  try {
    await database.using((session) =>
      withScratch(settings, async (scratch) => {
        for (const file of files)
          for (const day of await daysIn(session, file, { ...settings, mapping, scratch }))
            filesOfDay.set(day, [...(filesOfDay.get(day) ?? []), { ...file, mapping: { ...mapping, onDay: day } }]);
      }),
    );
  } finally {
    database.close();
  }
  if (filesOfDay.size === 0) throw new UserError(`${printable(mapping.name)}: no rows: expected days in the files.`);
  return [...filesOfDay]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([day, ofDay]) => ({ day, files: ofDay }));
}

/** Returns the days of the rows of a file. */
async function daysIn(
  session: Session,
  file: FeedFile,
  settings: ReadSettings & { readonly scratch: string; readonly mapping: Mapping },
): Promise<readonly string[]> {
  const { mapping, limits } = settings;
  const days: string[] = [];
  for (const prepared of await preparedFiles(file, { ...settings, remark: () => {}, onRecognized: () => {} })) {
    await checkFeedFile(prepared, limits);
    const read = async (): Promise<void> => {
      const shape = await shapeOf(session, prepared, settings);
      const name = typeof mapping.day === "object" ? (mapping.day.column ?? "") : "";
      if (matchingColumns(shape.columns, name).length === 0)
        throw fileError(
          prepared,
          `, row 0 (header): missing column "${printable(name, 40)}": expected by the mapping of day.`,
        );
      const rows = daysOfRows(relationOf({ files: [prepared], file: prepared, shape }, settings), mapping);
      const found = await session.rows(sql`SELECT "day", min("row")::INTEGER AS "row" FROM (${rows}) GROUP BY "day"`);
      const without = found.find(({ day }) => day === null);
      if (without !== undefined)
        throw fileError(
          prepared,
          `, row ${integerIn(without, "row")}: no day in column "${printable(name, 40)}": expected a date, as in day.dates.`,
        );
      days.push(...found.map((row) => textIn(row, "day")));
    };
    await read().catch(async (thrown: unknown) => {
      throw await describeFileError(prepared, { columns: [], limits }, thrown);
    });
  }
  return days;
}
