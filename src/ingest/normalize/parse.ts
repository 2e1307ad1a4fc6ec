/**
 * Parses raw feed rows into the tables `parsed_<table>` with typed values, and records every problem in the table `issues`.
 *
 * An invalid value becomes unknown (null). A row without a valid required value is rejected. Every such change is recorded with its
 * reason.
 */

import { bounds } from "../../base/bounds.ts";
import { plusDays } from "../../base/day.ts";
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { all, any, columnType, ident, join, type Sql, sql } from "../../db/sql.ts";
import { tables } from "../../lake/tables.ts";
import { type FeedField, type FeedTable, feed, feedTables, isTextList } from "../feed/feed-schema.ts";
import { type FieldReader, fieldReader } from "./field-readers.ts";
import { isMarker, markersOf } from "./unknown-markers.ts";
import { hasValidCheckDigit } from "./vin.ts";

/** Outcome of an issue: the row was rejected, the value became unknown, or the value was used but is unusual. */
type Outcome = "rejected" | "unknown" | "noted";

interface ParsedField {
  readonly field: string;
  readonly schema: FeedField;
  readonly isRequired: boolean;
  readonly reader: FieldReader;
  /** The column of the trimmed raw text. */
  readonly raw: Sql;
  /** The column of the typed value. */
  readonly value: Sql;
}

const parsedTable = (table: FeedTable): Sql => ident(`parsed_${table}`);

/** The day whose delivery is parsed. */
export interface ParsedDay {
  readonly day: string;
  /** Whether it is the first day of the lake, whose observations may be older than the delivery. */
  readonly isFirst: boolean;
}

/** Parses the files of one delivery. Each table is created by its first file: planning its query takes longer than running it on a small feed. */
export class FeedParser {
  private readonly created = new Set<FeedTable>();

  private constructor(
    private readonly session: Session,
    private readonly day: ParsedDay,
  ) {}

  /** Creates `issues`, empty. */
  static async begin(session: Session, day: ParsedDay): Promise<FeedParser> {
    const { delivery_date: _, ...recorded } = tables.rejects.columns;
    const columns = Object.entries(recorded).map(([column, type]) => sql`${ident(column)} ${columnType(type)}`);
    await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE issues (${join(columns)})`);
    return new FeedParser(session, day);
  }

  /** Parses raw rows into `parsed_<table>`. The issues of each row stay in the column `row_issues` until `finish`. */
  async parse(table: FeedTable, rows: Sql): Promise<void> {
    const parsed = parsedRows(table, rows, this.day);
    if (this.created.has(table)) return this.session.run(sql`INSERT INTO ${parsedTable(table)} ${parsed}`);
    await this.session.run(sql`CREATE OR REPLACE TEMPORARY TABLE ${parsedTable(table)} AS ${parsed}`);
    this.created.add(table);
  }

  /** Moves the issues of all parsed rows to `issues` and deletes the rejected rows. Returns the number of inventory rows before that. */
  async finish(): Promise<number> {
    for (const table of feedTables) if (!this.created.has(table)) await this.parse(table, noRows(table));
    const rows = await this.session.row(sql`SELECT count(*)::INTEGER AS n FROM parsed_inventory`);
    for (const table of feedTables) await collectIssues(this.session, table);
    return integerIn(rows, "n");
  }
}

/** Selects the raw columns of a table, without rows. */
function noRows(table: FeedTable): Sql {
  const fields = Object.entries(feed[table].properties).map(
    ([field, schema]) => sql`NULL::${columnType(isTextList(schema) ? "VARCHAR[]" : "VARCHAR")} AS ${ident(field)}`,
  );
  return sql`SELECT NULL::VARCHAR AS file, NULL::BIGINT AS "row", ${join(fields)} WHERE false`;
}

/** Moves the issues of the parsed rows of a table to `issues` and deletes its rejected rows. */
async function collectIssues(session: Session, table: FeedTable): Promise<void> {
  const length = bounds.rejectedValueCharacters;
  await session.run(sql`
    INSERT INTO issues
    SELECT issue.outcome, ${table}, file, "row", left(row_issues.vin, ${length}), left(row_issues.dealer_id, ${length}),
           issue.field, left(issue.value, ${length}), issue.reason
    FROM (SELECT file, "row", row_issues, unnest(row_issues.issues) AS issue FROM ${parsedTable(table)} WHERE row_issues IS NOT NULL)`);
  const hasRequiredValues = all(feed[table].required.map((field) => sql`${ident(field)} IS NOT NULL`));
  await session.run(sql`DELETE FROM ${parsedTable(table)} WHERE NOT ${hasRequiredValues}`);
  await session.run(sql`ALTER TABLE ${parsedTable(table)} DROP COLUMN row_issues`);
}

/** Returns parsed rows as four nested queries: trimmed texts, then texts without markers, then typed values, then issues. */
function parsedRows(table: FeedTable, rows: Sql, parsedDay: ParsedDay): Sql {
  const { properties, required } = feed[table];
  const { day } = parsedDay;
  const fields: readonly ParsedField[] = Object.entries(properties).map(([field, schema]) => ({
    field,
    schema,
    isRequired: required.includes(field),
    reader: fieldReader(field, schema, day),
    raw: ident(`raw ${field}`),
    value: ident(field),
  }));
  const texts = fields.map(({ field, schema, raw }) => sql`${trimmed(schema, ident(field))} AS ${raw}`);
  const known = fields.map(({ schema, raw }) => sql`${withoutMarker(schema, raw)} AS ${raw}`);
  const values = fields.map(({ reader, raw, value }) => sql`${raw}, ${reader.value(raw)} AS ${value}`);
  const checks =
    table === "inventory" ? [sql`${hasValidCheckDigit(sql`upper("raw vin")`)} AS "check digit is valid"`] : [];
  const typed = sql`SELECT file, "row", ${join([...values, ...checks])} 
    FROM (SELECT file, "row", ${join(known)} FROM (SELECT file, "row", ${join(texts)} FROM (${rows})))`;
  const observed = observationRange(parsedDay);
  const columns = fields.map(({ field, value }) =>
    field === "observed_at" ? sql`${observed.clamped} AS ${value}` : value,
  );
  return sql`SELECT file, "row", ${join(columns)}, ${issuesOfRow(table, fields, observed)} AS row_issues FROM (${typed})`;
}

/** Characters that are trimmed: ASCII white space and the no-break space. */
const whiteSpace = " \t\r\n\u00a0";

/** Trims a text or the items of a text list. Blank texts become null, blank items are dropped. */
function trimmed(schema: FeedField, text: Sql): Sql {
  if (!isTextList(schema)) return trim(text);
  return sql`list_filter(list_transform(${text}, lambda item: ${trim(sql`item`)}), lambda item: item IS NOT NULL)`;
}

/**
 * Testing the first and last character before trimming is six times as fast: the engine's `trim` builds a character set for every
 * value.
 */
function trim(text: Sql): Sql {
  const endsBlank = any([...whiteSpace].map((character) => sql`suffix(${text}, ${character})`));
  return sql`CASE WHEN ${text} BETWEEN '!' AND '~' AND NOT ${endsBlank} THEN ${text} ELSE nullif(trim(${text}, ${whiteSpace}), '') END`;
}

/** Returns null for a marker of an unknown value, and no items for a list of one. In longer lists, the vocabulary drops markers. */
function withoutMarker(schema: FeedField, text: Sql): Sql {
  const markers = markersOf(schema);
  if (markers.length === 0) return text;
  return isTextList(schema)
    ? sql`CASE WHEN len(${text}) = 1 AND ${isMarker(sql`${text}[1]`, markers)} THEN [] ELSE ${text} END`
    : sql`CASE WHEN ${isMarker(text, markers)} THEN NULL ELSE ${text} END`;
}

/** A condition that a row has an issue, and the list of its issues (null entries are dropped). */
interface IssueCheck {
  readonly hasIssue: Sql;
  readonly issues: Sql;
}

/** Creates the struct of one issue. */
type IssueBuilder = (outcome: Outcome, field: string, value: Sql, reason: Sql) => Sql;

/** The times that `observed_at` can have: those of the delivery's day, and on the first day of the lake earlier ones too. */
interface ObservationRange {
  readonly isEarlier: Sql;
  readonly isLater: Sql;
  /** The time, or the nearest one in the range. */
  readonly clamped: Sql;
}

function observationRange({ day, isFirst }: ParsedDay): ObservationRange {
  const [first, last] = [sql`${`${day} 00:00:00`}::TIMESTAMP`, sql`${`${day} 23:59:59`}::TIMESTAMP`];
  const isEarlier = isFirst ? sql`false` : sql`coalesce(observed_at < ${first}, false)`;
  const isLater = sql`coalesce(observed_at >= ${`${plusDays(day, 1)} 00:00:00`}::TIMESTAMP, false)`;
  return {
    isEarlier,
    isLater,
    clamped: sql`CASE WHEN ${isEarlier} THEN ${first} WHEN ${isLater} THEN ${last} ELSE observed_at END`,
  };
}

/** Returns a row's VIN, dealer and list of issues as a struct; null if it has none. Tests all conditions first, because few rows have issues. */
function issuesOfRow(table: FeedTable, fields: readonly ParsedField[], observed: ObservationRange): Sql {
  const vin = table === "inventory" ? sql`coalesce(vin, "raw vin")` : sql`NULL::VARCHAR`;
  const dealer = table === "options" ? sql`NULL::VARCHAR` : sql`coalesce(dealer_id, "raw dealer_id")`;
  const issue: IssueBuilder = (outcome, field, value, reason) =>
    sql`struct_pack(outcome := ${outcome}, field := ${field}, "value" := ${value}, reason := ${reason})`;
  const checks = fields.map((field) => (isTextList(field.schema) ? checkList(field, issue) : checkValue(field, issue)));
  if (table === "inventory") checks.push(checkCheckDigit(issue), checkObservation(observed, issue));
  const hasIssue = join(
    checks.map((check) => check.hasIssue),
    sql` OR `,
  );
  const issues = sql`flatten(list_filter([${join(checks.map((check) => check.issues))}], lambda entry: entry IS NOT NULL))`;
  return sql`CASE WHEN ${hasIssue} THEN struct_pack(vin := ${vin}, dealer_id := ${dealer}, issues := ${issues}) END`;
}

/** One issue per invalid item of a list. */
function checkList({ field, reader, raw, value }: ParsedField, issue: IssueBuilder): IssueCheck {
  const invalid = sql`list_filter(${raw}, lambda item: ${reader.reason(sql`item`)} IS NOT NULL)`;
  return {
    hasIssue: sql`coalesce(len(${raw}) <> len(${value}), false)`,
    issues: sql`[${issue("unknown", field, sql`item`, reader.reason(sql`item`))} FOR item IN ${invalid}]`,
  };
}

/** An issue if a value is invalid, or missing although it is required. */
function checkValue({ field, isRequired, reader, raw, value }: ParsedField, issue: IssueBuilder): IssueCheck {
  const reason = sql`CASE WHEN ${raw} IS NULL THEN 'missing' ELSE ${reader.reason(raw)} END`;
  const hasIssue = isRequired ? sql`${value} IS NULL` : sql`(${raw} IS NOT NULL AND ${value} IS NULL)`;
  const found = issue(isRequired ? "rejected" : "unknown", field, raw, reason);
  return { hasIssue, issues: sql`CASE WHEN ${hasIssue} THEN [${found}] END` };
}

function checkCheckDigit(issue: IssueBuilder): IssueCheck {
  const hasIssue = sql`(vin IS NOT NULL AND NOT "check digit is valid")`;
  const found = issue("noted", "vin", sql`vin`, sql`'wrong check digit'`);
  return { hasIssue, issues: sql`CASE WHEN ${hasIssue} THEN [${found}] END` };
}

/** An issue if the time of the observation was clamped. */
function checkObservation({ isEarlier, isLater }: ObservationRange, issue: IssueBuilder): IssueCheck {
  const reason = sql`if(${isLater}, 'after the day of the delivery', 'before the day of the delivery')`;
  const hasIssue = sql`(${isEarlier} OR ${isLater})`;
  const found = issue("noted", "observed_at", sql`"raw observed_at"`, reason);
  return { hasIssue, issues: sql`CASE WHEN ${hasIssue} THEN [${found}] END` };
}
