/** The sample of a foreign file from which its mapping is proposed: its columns, and the texts of its first rows. */
import { printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import { preparedFiles } from "../documents/prepared-files.ts";
import { undatedFiles } from "../feed/delivery.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { unknownMarkers } from "../feed/feed-schema.ts";
import { checkFeedFile } from "../feed/file-checks.ts";
import { describeFileError, fileError } from "../feed/file-errors.ts";
import { type ReadSettings, relationOf, shapeOf } from "../feed/file-formats.ts";
import { mappingOf } from "../mapping/mapping.ts";
import { recognizedPreset } from "../mapping/presets.ts";
import { type Mapping, mappingVersion } from "../mapping/rules.ts";
import { knownText } from "../normalize/unknown-markers.ts";
import { aliases } from "./known-columns.ts";

/** The most rows of a sample, and the most values. */
export const sampleRows = 1000;
const sampleValues = 200_000;

export interface Sample {
  readonly name: string;
  readonly columns: readonly string[];
  /** Whether the first line has the names of the columns. */
  readonly hasHeader: boolean;
  /** The preset that fits the columns. */
  readonly preset?: Mapping;
}

/** Returns the file at a path. Throws a UserError if there is none, or several. */
export async function fileAt(path: string): Promise<FeedFile> {
  const [file, ...others] = await undatedFiles(path);
  if (file !== undefined && others.length === 0) return file;
  throw new UserError(`${printable(path)}: a folder of ${others.length + 1} files: expected one file.`);
}

/**
 * Creates the table `cells` (row, column, text) with the known texts of the first rows, read by the mapping of the settings if there is one, and
 * returns the columns. Throws a UserError if the file is invalid or has no values.
 */
export async function sampleFile(
  session: Session,
  file: FeedFile,
  settings: ReadSettings & { readonly scratch: string },
): Promise<Sample> {
  const read = (mapping: Mapping) => readSample(session, file, { ...settings, mapping });
  const plain = await read(settings.mapping ?? reading({}));
  const isNamed = settings.mapping !== undefined;
  const hasHeader = isNamed || !plain.some((column) => /^(?=.*\d)[A-HJ-NPR-Z\d]{17}$/i.test(column));
  const preset = hasHeader && !isNamed ? recognizedPreset(plain) : undefined;
  const mapping = hasHeader ? preset : reading({ header: false });
  const columns = mapping === undefined ? plain : await read(mapping);
  if (!(await session.hasRows(sql`FROM cells`))) throw fileError(file, ": no rows with values: expected at least one.");
  return { name: file.name, columns, hasHeader, ...(preset === undefined ? {} : { preset }) };
}

/** Returns a mapping by which a file is read before its columns are known. */
const reading = (file: NonNullable<Mapping["file"]>): Mapping =>
  mappingOf(
    {
      version: mappingVersion,
      file,
      fields: { vin: [{ constant: "" }] },
      dealer: { key: [[{ file: "name" }]], fields: { name: [{ file: "name" }] } },
    },
    "sample",
  );

async function readSample(
  session: Session,
  file: FeedFile,
  settings: ReadSettings & { readonly scratch: string },
): Promise<readonly string[]> {
  const [prepared] = await preparedFiles(file, { ...settings, remark: () => {}, onRecognized: () => {} });
  if (prepared === undefined) throw fileError(file, ": no feed file in it.");
  const { limits } = settings;
  await checkFeedFile(prepared, limits);
  try {
    const shape = await shapeOf(session, prepared, settings);
    const { columns, rows } = relationOf({ files: [prepared], file: prepared, shape }, settings);
    const rowsMax = Math.min(sampleRows, Math.ceil(sampleValues / columns.length));
    const first = sql`SELECT "row"::INTEGER AS "row", * EXCLUDE ("row") FROM (${rows}) LIMIT ${integerLiteral(rowsMax)}`;
    const cells = sql`UNPIVOT (${first}) ON COLUMNS(* EXCLUDE ("row")) INTO NAME "column" VALUE "text"`;
    const known = knownText(sql`"text"`, [...unknownMarkers, ...aliases.unknown]);
    await session.createTempTable(
      "cells",
      sql`FROM (SELECT "row", "column", ${known} AS "text" FROM (${cells})) WHERE "text" IS NOT NULL`,
    );
    return columns;
  } catch (thrown) {
    throw await describeFileError(prepared, { columns: [], limits }, thrown);
  }
}
