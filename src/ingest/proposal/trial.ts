/** Trial of a mapping: runs the steps of ingest that read, check and normalize the rows of a file, and reports what became of them. */
import { integerIn, type Json, type Row, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, sql } from "../../db/sql.ts";
import { tryDay } from "../day.ts";
import { countIssues, type IssueCount } from "../delivery-report.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { feed, isTextList } from "../feed/feed-schema.ts";
import type { ReadSettings } from "../feed/file-formats.ts";
import type { Mapping } from "../mapping/rules.ts";
import { valuesOutside } from "../normalize/spellings.ts";
import { isSpelled, type Spellings, valuesAsRows } from "../normalize/vocabularies.ts";
import { aliases } from "./known-columns.ts";
import { sampleRows } from "./sample.ts";

export interface MappingTrial {
  readonly rows: number;
  /** Rows that ingest would reject. */
  readonly refused: number;
  readonly dealers: number;
  readonly issues: readonly IssueCount[];
  readonly remarks: readonly string[];
  /** The share of a field's texts that are used. A field without texts is absent. */
  readonly usable: ReadonlyMap<string, number>;
  /** Values that the closed list of their vocabulary lacks: vocabulary, value, uses. */
  readonly outside: readonly Row[];
  /** The values of the first rows by field, as listings have them, by the number of the row. */
  readonly values: ReadonlyMap<number, Row>;
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
  return {
    ...{ rows, issues, remarks, refused: integerIn(counts, "refused"), dealers: integerIn(counts, "dealers") },
    usable: await usableShares(session, fields, issues),
    outside: words.length === 0 ? [] : await session.rows(valuesOutside(uses)),
    values: await firstValues(session, fields, spellings),
  };
}

const isList = (field: string): boolean => isTextList(feed.inventory.properties[field]);

async function usableShares(session: Session, fields: readonly string[], issues: readonly IssueCount[]) {
  const counts = fields.map((field) => {
    const hasValue = isList(field) ? sql`len(${ident(field)}) > 0` : sql`${ident(field)} IS NOT NULL`;
    return sql`(count(*) FILTER (${hasValue}))::INTEGER AS ${ident(field)}`;
  });
  const used = await session.row(sql`SELECT ${join(counts)} FROM parsed_inventory`);
  const shares = fields.map((field): readonly [string, number] => {
    const ofField = issues.filter((issue) => issue.field === `inventory.${field}` && issue.outcome !== "noted");
    const unusable = ofField.reduce((sum, { count }) => sum + count, 0);
    return [field, integerIn(used, field) / (integerIn(used, field) + unusable)];
  });
  return new Map(shares.filter(([, share]) => !Number.isNaN(share)));
}

async function firstValues(session: Session, fields: readonly string[], spellings: Spellings) {
  const columns = fields.map((field) => {
    const value = isSpelled(field) && !isList(field) ? spellings.lookUp(field, ident(field)) : ident(field);
    return sql`${value} AS ${ident(field)}`;
  });
  const rows = await session.rows(
    sql`SELECT "row"::INTEGER AS "row", ${join(columns)} FROM parsed_inventory WHERE "row" <= ${integerLiteral(sampleRows)}`,
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
    const [column, text] = [textIn(cell, "column"), textIn(cell, "text")];
    const found = samples.get(column) ?? [];
    if (found.length >= samplesMax || found.some(([before]) => before === text)) continue;
    const after = values.get(integerIn(cell, "row"))?.[fieldOf.get(column) ?? ""] ?? null;
    samples.set(column, [...found, [text, after]]);
  }
  return samples;
}
