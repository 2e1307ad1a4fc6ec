/**
 * The sample of a foreign file from which its mapping is proposed, and the trial of a mapping: the steps of ingest that read, check and normalize the
 * rows of a file, with a report of what became of them.
 */
import { integerIn, type Json, type Row, textIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { tryDay } from "../day.ts";
import { countIssues, type IssueCount } from "../delivery-report.ts";
import { preparedFiles, readRepaired } from "../documents/prepared-files.ts";
import { isVin } from "../documents/record-paths.ts";
import { undatedFiles } from "../feed/delivery.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { feed, isTextList, unknownMarkers } from "../feed/feed-schema.ts";
import { checkFeedFile } from "../feed/file-checks.ts";
import { fileError } from "../feed/file-errors.ts";
import { type ReadSettings, relationOf, shapeOf } from "../feed/file-formats.ts";
import { mappingOf, recognizedPreset } from "../mapping/mapping.ts";
import { type Mapping, mappingVersion } from "../mapping/rules.ts";
import { knownText } from "../normalize/field-readers.ts";
import { fillFromVins } from "../normalize/vin-filling.ts";
import { isSpelled, type Spellings, valuesAsRows, valuesOutside } from "../normalize/vocabularies.ts";
import { aliases } from "./match-columns.ts";

/** The most rows of a sample, and the most values. */
const sampleRows = 1000;
const sampleValues = 200_000;

export interface Sample {
  readonly name: string;
  readonly columns: readonly string[];
  /** Whether the first line has the names of the columns. */
  readonly hasHeader: boolean;
  /** The preset that fits the columns. */
  readonly preset?: Mapping;
  /** The path of the records of a document, if it is not found by their structure. */
  readonly records?: string;
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
  { records, ...settings }: ReadSettings & Pick<Sample, "records"> & { readonly scratch: string },
): Promise<Sample> {
  const read = (mapping: Mapping) => readSample(session, file, { ...settings, mapping });
  const layout = records === undefined ? {} : { records };
  if (records !== undefined && ["csv", "parquet"].includes(file.format))
    throw fileError(file, ": has no path of records: expected --records only with XML or JSON.");
  const plain = await read(settings.mapping ?? reading(layout));
  const isNamed = settings.mapping !== undefined;
  const hasHeader = isNamed || !plain.some(isVin);
  const preset = hasHeader && !isNamed ? recognizedPreset(plain) : undefined;
  const mapping = hasHeader ? preset && { ...preset, file: { ...preset.file, ...layout } } : reading({ header: false });
  const columns = mapping === undefined ? plain : await read(mapping);
  if (!(await session.hasRows(sql`FROM cells`))) throw fileError(file, ": no rows with values: expected at least one.");
  return { name: file.name, columns, hasHeader, ...(mapping && preset && { preset: mapping }), ...layout };
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
  return readRepaired(prepared, settings, async (one) => {
    await checkFeedFile(one, settings.limits);
    const shape = await shapeOf(session, one, settings);
    const { columns, rows } = relationOf({ files: [one], file: one, shape }, settings);
    const rowsMax = Math.min(sampleRows, Math.ceil(sampleValues / columns.length));
    const first = sql`SELECT "row"::INTEGER AS "row", * EXCLUDE ("row") FROM (${rows}) LIMIT ${integerLiteral(rowsMax)}`;
    const cells = sql`UNPIVOT (${first}) ON COLUMNS(* EXCLUDE ("row")) INTO NAME "column" VALUE "text"`;
    const known = knownText(sql`"text"`, [...unknownMarkers, ...aliases.unknown]);
    await session.createTempTable(
      "cells",
      sql`FROM (SELECT "row", "column", ${known} AS "text" FROM (${cells})) WHERE "text" IS NOT NULL`,
    );
    return columns;
  });
}

export interface MappingTrial {
  readonly rows: number;
  /** Rows that ingest would reject. */
  readonly refused: number;
  readonly dealers: number;
  readonly issues: readonly IssueCount[];
  readonly remarks: readonly string[];
  /** The share of a field's texts that are used. A field without texts is absent. */
  readonly usable: ReadonlyMap<string, number>;
  /** The numbers of rows that have a value, by field. */
  readonly filled: ReadonlyMap<string, number>;
  /** Values that the closed list of their vocabulary lacks: vocabulary, value, uses. */
  readonly outside: readonly Row[];
  /** The values of the first rows by field, as listings have them, by the number of the row. */
  readonly values: ReadonlyMap<number, Row>;
  /** The first cars as listings, with what follows from their VINs, and the name, city and state of their dealers. */
  readonly listings: readonly Row[];
}

interface TrialInput {
  readonly file: FeedFile;
  readonly mapping: Mapping;
  readonly day: string;
}

/** Tries a mapping on a file. Throws a UserError if the file is invalid, or lacks a required column. */
export async function tryMapping(
  session: Session,
  { file, mapping, day }: TrialInput,
  settings: ReadSettings,
): Promise<MappingTrial> {
  const delivery = { day, files: [{ ...file, mapping }] };
  const { rows, remarks, spellings } = await tryDay(session, delivery, { ...settings, mapping });
  const issues = await countIssues(session);
  const counts = await session.row(sql`SELECT (SELECT count(*) FROM parsed_dealers)::INTEGER AS dealers,
    count(DISTINCT (file, "row"))::INTEGER AS refused FROM issues WHERE feed = 'inventory' AND outcome = 'rejected'`);
  const fields = Object.keys(mapping.fields);
  const words = fields.filter(isSpelled).filter((field) => !isList(field) && aliases.inventory[field]?.isOpen !== true);
  const uses = valuesAsRows(words, sql`(SELECT *, 1 AS uses FROM parsed_inventory)`);
  const trial = {
    rows,
    issues,
    remarks,
    refused: integerIn(counts, "refused"),
    dealers: integerIn(counts, "dealers"),
    ...(await usableShares(session, fields, issues)),
    outside: words.length === 0 ? [] : await session.rows(valuesOutside(uses)),
    values: await firstValues(session, fields, spellings),
  };
  // Adds values and issues that are not those of the columns.
  await fillFromVins(session, day);
  return { ...trial, listings: await firstListings(session, spellings) };
}

const listingsMax = 20;
const listedFields =
  "vin inventory_type year make model trim body_type drivetrain exterior_color price miles stock_number vdp_url".split(
    " ",
  );

/** The columns of fields, with the spellings of listings. */
const spelled = (fields: readonly string[], spellings: Spellings): readonly Sql[] =>
  fields.map((field) => {
    const value = ident(field);
    const isText = isSpelled(field) && !isList(field);
    return isText ? sql`coalesce(${spellings.lookUp(field, value)}, ${value}) AS ${value}` : value;
  });

function firstListings(session: Session, spellings: Spellings): Promise<readonly Row[]> {
  const photos = sql`coalesce(len(photo_urls), 0)::INTEGER AS photos`;
  return session.rows(sql`
    SELECT inventory.*, dealers.name AS dealer_name, dealers.city AS dealer_city, dealers.state AS dealer_state
    FROM (SELECT "row"::INTEGER AS "row", dealer_id, ${join([...spelled(listedFields, spellings), photos])} FROM parsed_inventory ORDER BY "row" LIMIT ${integerLiteral(listingsMax)}) AS inventory
    LEFT JOIN parsed_dealers AS dealers USING (dealer_id) ORDER BY "row"`);
}

const isList = (field: string): boolean => isTextList(feed.inventory.properties[field]);

async function usableShares(session: Session, fields: readonly string[], issues: readonly IssueCount[]) {
  const counts = fields.map((field) => {
    const hasValue = isList(field) ? sql`len(${ident(field)}) > 0` : sql`${ident(field)} IS NOT NULL`;
    return sql`(count(*) FILTER (${hasValue}))::INTEGER AS ${ident(field)}`;
  });
  const used = await session.row(sql`SELECT ${join(counts)} FROM parsed_inventory`);
  const filled = new Map(fields.map((field) => [field, integerIn(used, field)]));
  const shares = fields.map((field): readonly [string, number] => {
    const ofField = issues.filter((issue) => issue.field === `inventory.${field}` && issue.outcome !== "noted");
    const unusable = ofField.reduce((sum, { count }) => sum + count, 0);
    return [field, integerIn(used, field) / (integerIn(used, field) + unusable)];
  });
  return { filled, usable: new Map(shares.filter(([, share]) => !Number.isNaN(share))) };
}

async function firstValues(session: Session, fields: readonly string[], spellings: Spellings) {
  const rows = await session.rows(
    sql`SELECT "row"::INTEGER AS "row", ${join(spelled(fields, spellings))} FROM parsed_inventory WHERE "row" <= ${integerLiteral(sampleRows)}`,
  );
  return new Map(rows.map((row) => [integerIn(row, "row"), row]));
}

const samplesMax = 2;

/** A text of a column, and the value of its field in that row. */
type ColumnSample = readonly [before: string, after: Json];

/** Returns some different texts of each column in the sample. */
export async function samplesOf(
  session: Session,
  { values }: MappingTrial,
  fieldOf: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, readonly ColumnSample[]>> {
  const samples = new Map<string, readonly ColumnSample[]>();
  for (const cell of await session.rows(sql`FROM cells ORDER BY "row"`)) {
    const column = textIn(cell, "column");
    const text = textIn(cell, "text");
    const found = samples.get(column) ?? [];
    if (found.length >= samplesMax || found.some(([before]) => before === text)) continue;
    const after = values.get(integerIn(cell, "row"))?.[fieldOf.get(column) ?? ""] ?? null;
    samples.set(column, [...found, [text, after]]);
  }
  return samples;
}
