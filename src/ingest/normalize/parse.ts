/**
 * Turns rows as they were read into `parsed_<table>`: typed values, and a row in `issues` with the reason for whatever was not
 * usable.
 *
 * A value that is not usable becomes unknown; a row without one of its table's required values is rejected. Nothing is
 * dropped in silence.
 */

import type { Session } from "../../db/duckdb.ts";
import { all, columnType, ident, join, type Sql, sql } from "../../db/sql.ts";
import { tables } from "../../lake/tables.ts";
import { type FeedField, type FeedTable, feed, feedTables, isTextList } from "../feed/feed-schema.ts";
import { type FieldReader, fieldReader } from "./field-readers.ts";
import { hasValidCheckDigit } from "./vin.ts";

/** What becomes of a row or a value that `issues` records. */
type Outcome = "rejected" | "unknown" | "noted";

interface ParsedField {
  readonly field: string;
  readonly schema: FeedField;
  readonly isRequired: boolean;
  readonly reading: FieldReader;
  /** The text as it was read. */
  readonly was: Sql;
  /** The value. */
  readonly is: Sql;
}

const parsedTable = (table: FeedTable): Sql => ident(`parsed_${table}`);

/** Makes the tables, empty. */
export async function createParsedTables(session: Session, day: string): Promise<void> {
  const columns = Object.entries(tables.rejects.columns).map(([column, of]) => sql`${ident(column)} ${columnType(of)}`);
  await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE issues (${join(columns)})`);
  for (const table of feedTables) {
    const fields = Object.entries(feed[table].properties).map(
      ([field, schema]) => sql`NULL::${columnType(isTextList(schema) ? "VARCHAR[]" : "VARCHAR")} AS ${ident(field)}`,
    );
    const nothing = sql`SELECT NULL::VARCHAR AS file, NULL::BIGINT AS "row", ${join(fields)} WHERE false`;
    await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE ${parsedTable(table)} AS ${parsed(table, nothing, day)}`);
  }
}

/** Parses rows of a table, with the faults that they have in a column of their own. */
export async function parseRows(session: Session, table: FeedTable, rows: Sql, day: string): Promise<void> {
  await session.run(sql`INSERT INTO ${parsedTable(table)} ${parsed(table, rows, day)}`);
}

/** Moves the faults to `issues`, and the rows that cannot be used with them. */
export async function collectIssues(session: Session): Promise<void> {
  for (const table of feedTables) {
    await session.run(sql`
      INSERT INTO issues
      SELECT fault.outcome, ${table}, file, "row", fault.vin, fault.dealer_id, fault.field, fault.value, fault.reason
      FROM (SELECT file, "row", unnest(faults) AS fault FROM ${parsedTable(table)} WHERE faults IS NOT NULL)`);
    const isUsable = all(feed[table].required.map((field) => sql`${ident(field)} IS NOT NULL`));
    await session.run(sql`DELETE FROM ${parsedTable(table)} WHERE NOT ${isUsable}`);
    await session.run(sql`ALTER TABLE ${parsedTable(table)} DROP COLUMN faults`);
  }
}

/** In three steps, each over the columns of the one before: texts without blanks around them, values, faults. */
function parsed(table: FeedTable, rows: Sql, day: string): Sql {
  const { properties, required } = feed[table];
  const fields: readonly ParsedField[] = Object.entries(properties).map(([field, schema]) => ({
    field,
    schema,
    isRequired: required.includes(field),
    reading: fieldReader(field, schema, day),
    was: ident(`raw ${field}`),
    is: ident(field),
  }));
  const texts = fields.map(({ field, schema, was }) => sql`${trimmed(schema, ident(field))} AS ${was}`);
  const values = fields.map(({ reading, was, is }) => sql`${was}, ${reading.value(was)} AS ${is}`);
  const fits = table === "inventory" ? [sql`${hasValidCheckDigit(sql`upper("raw vin")`)} AS "check digit fits"`] : [];
  const typed = sql`SELECT file, "row", ${join([...values, ...fits])} FROM (SELECT file, "row", ${join(texts)} FROM (${rows}))`;
  return sql`SELECT file, "row", ${join(fields.map(({ is }) => is))}, ${faultsOf(table, fields)} AS faults FROM (${typed})`;
}

/** What is taken off around a text. */
const blanks = " \t\r\n\u00a0";

/**
 * Without blanks around it; what is blank is null. Of a list, its items that are not blank. Looking at both ends first is four
 * times as fast, because trimming makes a set of the blanks for each text.
 */
function trimmed(schema: FeedField, text: Sql): Sql {
  const bare = (value: Sql): Sql =>
    sql`CASE WHEN ${value} BETWEEN '!' AND '~' AND ${value}[-1] BETWEEN '!' AND '~' THEN ${value} ELSE nullif(trim(${value}, ${blanks}), '') END`;
  return isTextList(schema)
    ? sql`list_filter(list_transform(${text}, lambda item: ${bare(sql`item`)}), lambda item: item IS NOT NULL)`
    : bare(text);
}

/** The faults of a row as a list, null when it has none: whether it has any is asked first, because few have. */
function faultsOf(table: FeedTable, fields: readonly ParsedField[]): Sql {
  const vin = table === "inventory" ? sql`coalesce(vin, "raw vin")` : sql`NULL::VARCHAR`;
  const dealer = table === "options" ? sql`NULL::VARCHAR` : sql`coalesce(dealer_id, "raw dealer_id")`;
  const fault = (
    outcome: Outcome,
    field: string,
    value: Sql,
    reason: Sql,
  ): Sql => sql`struct_pack(outcome := ${outcome},
    vin := ${vin}, dealer_id := ${dealer}, field := ${field}, "value" := ${value}, reason := ${reason})`;
  const checks = fields.map(
    ({ field, schema, isRequired, reading, was, is }): readonly [isFaulty: Sql, faults: Sql] => {
      if (isTextList(schema)) {
        const broken = sql`list_filter(${was}, lambda item: ${reading.fault(sql`item`)} IS NOT NULL)`;
        return [
          sql`coalesce(len(${was}) <> len(${is}), false)`,
          sql`[${fault("unknown", field, sql`item`, reading.fault(sql`item`))} FOR item IN ${broken}]`,
        ];
      }
      const reason = sql`CASE WHEN ${was} IS NULL THEN 'missing' ELSE ${reading.fault(was)} END`;
      const isFaulty = isRequired ? sql`${is} IS NULL` : sql`(${was} IS NOT NULL AND ${is} IS NULL)`;
      const found = fault(isRequired ? "rejected" : "unknown", field, was, reason);
      return [isFaulty, sql`CASE WHEN ${isFaulty} THEN [${found}] END`];
    },
  );
  if (table === "inventory") {
    const isWrong = sql`(vin IS NOT NULL AND NOT "check digit fits")`;
    checks.push([
      isWrong,
      sql`CASE WHEN ${isWrong} THEN [${fault("noted", "vin", sql`vin`, sql`'check digit does not fit'`)}] END`,
    ]);
  }
  const isAny = join(
    checks.map(([isFaulty]) => isFaulty),
    sql` OR `,
  );
  return sql`CASE WHEN ${isAny} THEN flatten(list_filter([${join(checks.map(([, faults]) => faults))}], lambda found: found IS NOT NULL)) END`;
}
