/**
 * Parses raw feed rows into the tables `parsed_<table>` with typed values, and records every problem in the table `issues`.
 *
 * An invalid value becomes unknown (null). A row without a valid required value is rejected. Every such change is recorded with its
 * reason.
 */
import { plusDays } from "../../base/day.ts";
import { integerIn, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { all, columnType, ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import { tables } from "../../lake/tables.ts";
import { hasWrongCheckDigit, isFiller } from "../../listing/vins.ts";
import { type FeedField, type FeedTable, feed, feedTables, isTextList } from "../feed/feed-schema.ts";
import { type FieldReader, fieldReader, isMarker, knownText, markersOf, type ReadingContext } from "./field-readers.ts";
import { ambiguousSign, bound } from "./number-forms.ts";

/** Characters of an unusable value that are kept in `rejects`. */
export const rejectedCharactersMax = 200;

/** Outcome of an issue: the row was rejected, the value became unknown, or the value was used but is unusual. */
type Outcome = "rejected" | "unknown" | "noted";

interface ParsedField {
  readonly field: string;
  readonly schema: FeedField;
  readonly isRequired: boolean;
  readonly reader: FieldReader;
  /** The column of the trimmed raw text. */
  readonly raw: Sql;
  /** The column of the converted text; that of the raw text if there is no conversion. */
  readonly converted: Sql;
  /** The column of the typed value. */
  readonly value: Sql;
}

const parsedTable = (table: FeedTable): Sql => ident(`parsed_${table}`);

export interface ParsedDay extends ReadingContext {
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

  /** Removes the rows of a file. */
  async discard(file: string): Promise<void> {
    for (const table of this.created)
      await this.session.run(sql`DELETE FROM ${parsedTable(table)} WHERE file = ${file}`);
  }

  /** Moves the issues of all parsed rows to `issues` and deletes the rejected rows. Returns the number of inventory rows before that. */
  async finish(): Promise<number> {
    for (const table of feedTables) if (!this.created.has(table)) await createEmpty(this.session, table, this.day);
    const rows = await this.session.row(sql`SELECT count(*)::INTEGER AS n FROM parsed_inventory`);
    for (const table of this.created) {
      await collectIssues(this.session, table);
      await readWithComma(this.session, table, this.day);
      await this.session.run(sql`ALTER TABLE ${parsedTable(table)} DROP COLUMN signs`);
    }
    return integerIn(rows, "n");
  }
}

/** Creates `parsed_<table>` without rows, as of a delivery without files of the table. */
async function createEmpty(session: Session, table: FeedTable, context: ReadingContext): Promise<void> {
  const columns = Object.entries(feed[table].properties).map(
    ([field, schema]) => sql`${ident(field)} ${columnType(fieldReader(field, schema, context).type)}`,
  );
  await session.run(
    sql`CREATE OR REPLACE TEMPORARY TABLE ${parsedTable(table)} (file VARCHAR, "row" BIGINT, ${join(columns)})`,
  );
}

/** Moves the issues of the parsed rows of a table to `issues` and deletes its rejected rows. */
async function collectIssues(session: Session, table: FeedTable): Promise<void> {
  const length = rejectedCharactersMax;
  await session.run(sql`
    INSERT INTO issues
    SELECT outcome, ${table}, file, "row", left(vin, ${length}), left(dealer_id, ${length}), field, left("value", ${length}), reason
    FROM (SELECT file, "row", row_issues.vin AS vin, row_issues.dealer_id AS dealer_id, unnest(row_issues.outcomes) AS outcome,
                 unnest(row_issues.fields) AS field, unnest(row_issues."values") AS "value", unnest(row_issues.reasons) AS reason
          FROM ${parsedTable(table)} WHERE row_issues IS NOT NULL)
    WHERE reason IS NOT NULL`);
  const hasRequiredValues = all(feed[table].required.map((field) => sql`${ident(field)} IS NOT NULL`));
  await session.run(sql`DELETE FROM ${parsedTable(table)} WHERE NOT ${hasRequiredValues}`);
  await session.run(sql`ALTER TABLE ${parsedTable(table)} DROP COLUMN row_issues`);
}

/**
 * Reads the texts that left their decimal sign open in files whose other texts in that column show that it is the comma, and none that it is the point.
 */
async function readWithComma(session: Session, table: FeedTable, context: ReadingContext): Promise<void> {
  const isOpen = sql`feed = ${table} AND outcome = 'unknown' AND reason = ${ambiguousSign}`;
  const open = await session.rows(sql`SELECT DISTINCT field FROM issues WHERE ${isOpen}`);
  for (const field of open.map((row) => textIn(row, "field"))) {
    const schema = feed[table].properties[field];
    const readAgain = schema === undefined ? undefined : fieldReader(field, schema, context).valueWithComma;
    if (readAgain === undefined) continue;
    const sign = sql`signs.${ident(field)}`;
    await session.createTempTable(
      "read_with_comma",
      sql`SELECT file, "row", ${readAgain(sql`"value"`)} AS amount
          FROM issues JOIN ${parsedTable(table)} AS parsed USING (file, "row")
          JOIN (SELECT file, count_if(${sign} = ',') AS commas, count_if(${sign} = '.') AS points FROM ${parsedTable(table)} GROUP BY file) AS shown USING (file)
          WHERE ${isOpen} AND field = ${field} AND points = 0 AND commas > if(parsed.${sign} = ',', 1, 0)`,
    );
    await session.run(sql`UPDATE ${parsedTable(table)} AS parsed SET ${ident(field)} = amount FROM read_with_comma AS one
      WHERE one.file = parsed.file AND one."row" = parsed."row" AND amount IS NOT NULL`);
    await session.run(sql`DELETE FROM issues WHERE ${isOpen} AND field = ${field}
      AND (file, "row") IN (SELECT (file, "row") FROM read_with_comma WHERE amount IS NOT NULL)`);
    await session.drop("read_with_comma");
  }
}

/** Returns parsed rows as nested queries: trimmed texts without markers, then converted texts, then typed values, then issues. */
function parsedRows(table: FeedTable, rows: Sql, parsedDay: ParsedDay): Sql {
  const { properties, required } = feed[table];
  const fields: readonly ParsedField[] = Object.entries(properties).map(([field, schema]) => {
    const reader = fieldReader(field, schema, parsedDay);
    const raw = ident(`raw ${field}`);
    const converted = reader.converted === undefined ? raw : ident(`converted ${field}`);
    return { field, schema, isRequired: required.includes(field), reader, raw, converted, value: ident(field) };
  });
  const converted = fields.flatMap(({ reader, raw, converted: column }) =>
    reader.converted === undefined ? [] : [sql`${reader.converted(raw)} AS ${column}`],
  );
  const values = fields.map(({ reader, converted: column, value }) => sql`${reader.value(column)} AS ${value}`);
  const observed = observationRange(parsedDay);
  const columns = fields.map(({ field, value }) =>
    field === "observed_at" ? sql`${observed.clamped} AS ${value}` : value,
  );
  const signs = fields.flatMap(({ reader, converted: column, value }) =>
    reader.sign === undefined ? [] : [sql`${value} := ${reader.sign(column)}`],
  );
  const shown = signs.length === 0 ? sql`NULL` : sql`struct_pack(${join(signs)})`;
  return sql`SELECT file, "row", ${join(columns)}, ${shown} AS signs, ${issuesOfRow(table, fields, observed)} AS row_issues
    FROM (SELECT *, ${join(values)} FROM (SELECT *, ${join(converted)} FROM (${knownTexts(fields, rows)})))`;
}

/** Selects the texts of all fields, trimmed and without markers, as raw columns. */
function knownTexts(fields: readonly ParsedField[], rows: Sql): Sql {
  const trimmed = fields.map(({ field, schema, raw }) => {
    const text = ident(field);
    return sql`${isTextList(schema) ? trimmedItems(text, schema) : knownText(text, markersOf(schema))} AS ${raw}`;
  });
  const lists = fields.filter(({ schema }) => isTextList(schema));
  const replaced = lists.map(({ schema, raw }) => sql`${withoutMarker(schema, raw)} AS ${raw}`);
  const columns = replaced.length === 0 ? sql`*` : sql`* REPLACE (${join(replaced)})`;
  return sql`SELECT ${columns} FROM (SELECT file, "row", ${join(trimmed)} FROM (${rows}))`;
}

/** Trims the items of a text list and drops blank ones, and addresses that are in it before. */
function trimmedItems(list: Sql, { items }: FeedField): Sql {
  const known = sql`list_filter(list_transform(${list}, lambda item: ${knownText(sql`item`, [])}), lambda item: item IS NOT NULL)`;
  if (items === undefined || "$ref" in items || items.format !== "uri") return known;
  return bound(known, sql`known`, sql`list_filter(known, lambda item, index: list_position(known, item) = index)`);
}

/** Returns no items for a list of a marker of an unknown value. In longer lists, the vocabulary drops markers. */
function withoutMarker(schema: FeedField, list: Sql): Sql {
  const markers = markersOf(schema);
  if (markers.length === 0) return list;
  return sql`CASE WHEN len(${list}) = 1 AND ${isMarker(sql`${list}[1]`, markers)} THEN [] ELSE ${list} END`;
}

/** A possible issue of a row: its field and reason, and the condition that the row has it. */
interface IssueCheck {
  readonly outcome: Outcome;
  readonly field: string;
  readonly value: Sql;
  readonly reason: Sql;
  readonly hasIssue: Sql;
}

/** The times that `observed_at` can have: those of the delivery's day, and on the first day of the lake earlier ones too. */
interface ObservationRange {
  readonly isEarlier: Sql;
  readonly isLater: Sql;
  /** The time, or the nearest one in the range. */
  readonly clamped: Sql;
}

function observationRange({ day, isFirst }: ParsedDay): ObservationRange {
  const first = sql`${`${day} 00:00:00`}::TIMESTAMP`;
  const last = sql`${`${day} 23:59:59`}::TIMESTAMP`;
  const isEarlier = isFirst ? sql`false` : sql`coalesce(observed_at < ${first}, false)`;
  const isLater = sql`coalesce(observed_at >= ${`${plusDays(day, 1)} 00:00:00`}::TIMESTAMP, false)`;
  return {
    isEarlier,
    isLater,
    clamped: sql`CASE WHEN ${isEarlier} THEN ${first} WHEN ${isLater} THEN ${last} ELSE observed_at END`,
  };
}

/**
 * Returns a row's VIN, dealer and issues as a struct of parallel lists; null if it has none. A reason is null where the row does not have
 * the issue. Tests all conditions first, because few rows have issues.
 */
function issuesOfRow(table: FeedTable, fields: readonly ParsedField[], observed: ObservationRange): Sql {
  const vin = table === "inventory" ? sql`coalesce(vin, "raw vin")` : sql`NULL::VARCHAR`;
  const dealer = table === "options" ? sql`NULL::VARCHAR` : sql`coalesce(dealer_id, "raw dealer_id")`;
  const checks = fields.filter(({ schema }) => !isTextList(schema)).map(checkValue);
  checks.push(...fields.filter(({ reader }) => reader.completed !== undefined).map(checkCompletion));
  if (table === "inventory") checks.push(...vinChecks, checkObservation(observed));
  const lists = fields.filter(({ schema }) => isTextList(schema)).map(checkList);
  const hasIssue = join(
    [...checks, ...lists].map((check) => check.hasIssue),
    sql` OR `,
  );
  const concatenated = (ofChecks: readonly Sql[], ofLists: readonly Sql[]): Sql =>
    sql`list_concat(${join([sql`[${join(ofChecks)}]`, ...ofLists])})`;
  return sql`CASE WHEN ${hasIssue} THEN struct_pack(vin := ${vin}, dealer_id := ${dealer},
    outcomes := ${concatenated(
      checks.map(({ outcome }) => literal(outcome)),
      lists.map(({ perItem }) => perItem(literal("unknown"))),
    )},
    fields := ${concatenated(
      checks.map(({ field }) => literal(field)),
      lists.map(({ field, perItem }) => perItem(literal(field))),
    )},
    "values" := ${concatenated(
      checks.map(({ value }) => value),
      lists.map(({ perItem }) => perItem(sql`item`)),
    )},
    reasons := ${concatenated(
      checks.map((check) => sql`CASE WHEN ${check.hasIssue} THEN ${check.reason} END`),
      lists.map(({ perItem, reason }) => perItem(reason)),
    )}) END`;
}

/** One issue per invalid item of a list. `perItem` returns a list with an expression over each such `item`. */
function checkList({ field, reader, raw, value }: ParsedField) {
  const item = reader.converted === undefined ? sql`item` : sql`${reader.converted(sql`[item]`)}[1]`;
  const reason = reader.reason(item);
  return {
    field,
    hasIssue: sql`coalesce(len(${raw}) <> len(${value}), false)`,
    reason,
    perItem: (expression: Sql): Sql => sql`coalesce([${expression} FOR item IN ${raw} IF ${reason} IS NOT NULL], [])`,
  };
}

/** An issue if a value is invalid, or missing although it is required. */
function checkValue({ field, isRequired, reader, raw, converted, value }: ParsedField): IssueCheck {
  const reason = reader.reason(converted);
  if (!isRequired)
    return { outcome: "unknown", field, value: raw, reason, hasIssue: sql`(${raw} IS NOT NULL AND ${value} IS NULL)` };
  const reasonOrMissing = sql`CASE WHEN ${raw} IS NULL THEN 'missing' ELSE ${reason} END`;
  return { outcome: "rejected", field, value: raw, reason: reasonOrMissing, hasIssue: sql`${value} IS NULL` };
}

/** An issue if a value was read from a text with a part missing. */
const checkCompletion = ({ field, reader, raw, value }: ParsedField): IssueCheck => ({
  outcome: "noted",
  field,
  value: raw,
  reason: literal(reader.completed?.reason ?? ""),
  hasIssue: sql`(${value} IS NOT NULL AND ${reader.completed?.isCompleted(raw, value) ?? sql`false`})`,
});

/** An issue of a VIN that is used all the same. */
const checkVin = (reason: string, isNoted: Sql): IssueCheck => ({
  outcome: "noted",
  field: "vin",
  value: sql`vin`,
  reason: literal(reason),
  hasIssue: sql`(vin IS NOT NULL AND ${isNoted})`,
});

const vinChecks: readonly IssueCheck[] = [
  checkVin("wrong check digit", hasWrongCheckDigit(sql`vin`)),
  checkVin("one character repeated", isFiller(sql`vin`)),
];

/** An issue if the time of the observation was clamped. */
const checkObservation = ({ isEarlier, isLater }: ObservationRange): IssueCheck => ({
  outcome: "noted",
  field: "observed_at",
  value: sql`"raw observed_at"`,
  reason: sql`if(${isLater}, 'after the day of the delivery', 'before the day of the delivery')`,
  hasIssue: sql`(${isEarlier} OR ${isLater})`,
});
