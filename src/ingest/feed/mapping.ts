/**
 * Mapping files: rules that turn the columns of a foreign CSV file into feed fields.
 *
 * Each rule compiles to one SQL expression over the file's columns. A rule that uses an unknown column or field is refused before any row
 * is read. The file format is defined by `schemas/mapping.json`.
 */
import { readFile } from "node:fs/promises";
import { isNotFound } from "../../base/files.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { checker } from "../../contract/schema.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import type { FeedFile } from "./feed-file.ts";
import { type FeedTable, feed, listSeparator } from "./feed-schema.ts";
import { fileError, printableColumns } from "./file-errors.ts";

export interface MappingRule {
  readonly column?: string;
  readonly template?: string;
  readonly constant?: string;
  readonly values?: Readonly<Record<string, string | null>>;
  readonly separator?: string;
}

export interface Mapping {
  readonly description?: string;
  readonly day?: string;
  readonly delimiter?: string;
  readonly encoding?: "utf-8" | "utf-16" | "latin-1";
  readonly fields: Readonly<Record<string, MappingRule>>;
  readonly dealer: { readonly columns: readonly string[]; readonly fields: Readonly<Record<string, MappingRule>> };
}

const check = checker<Mapping>("mapping");

/** Reads a mapping file. Throws a UserError if it does not match the schema or names an unknown field. */
export async function readMapping(path: string): Promise<Mapping> {
  const mapping = check(await readJson(path), path);
  checkFieldNames(path, "inventory", mapping.fields);
  checkFieldNames(path, "dealers", mapping.dealer.fields);
  for (const [field, rule] of Object.entries(mapping.dealer.fields)) {
    for (const column of columnsOf(rule)) {
      if (mapping.dealer.columns.includes(column)) continue;
      throw new UserError(
        `${path}: invalid column "${column}" in dealer.fields.${field}: ` +
          `expected one of dealer.columns (${mapping.dealer.columns.join(", ")}).`,
      );
    }
  }
  return mapping;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (thrown) {
    if (isNotFound(thrown)) throw new UserError(`${path}: mapping file not found.`);
    throw new UserError(`${path}: invalid JSON in mapping file: ${printable(messageOf(thrown))}.`);
  }
}

function checkFieldNames(path: string, table: FeedTable, rules: Readonly<Record<string, MappingRule>>): void {
  const known = Object.keys(feed[table].properties);
  const unknown = Object.keys(rules).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  throw new UserError(`${path}: unknown field "${unknown}" of ${table}: expected one of ${known.join(", ")}.`);
}

/** Returns the columns that a rule reads. */
function columnsOf(rule: MappingRule): readonly string[] {
  if (rule.column !== undefined) return [rule.column];
  return [...(rule.template ?? "").matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? "");
}

/** Throws a UserError if the file lacks a column that the mapping reads. */
export function validateMapping(mapping: Mapping, file: FeedFile, columns: readonly string[]): void {
  const rules = { ...mapping.fields, ...mapping.dealer.fields };
  const uses = Object.entries(rules).flatMap(([field, rule]) =>
    columnsOf(rule).map((column) => [field, column] as const),
  );
  const all = [...uses, ...mapping.dealer.columns.map((column) => ["dealer", column] as const)];
  for (const [field, column] of all) {
    if (columns.includes(column)) continue;
    throw fileError(
      file,
      `, row 0 (header): missing column "${column}": expected by the mapping of ${field}; ` +
        `found ${printableColumns(
          columns,
          all.map(([, used]) => used),
        )}.`,
    );
  }
}

/** Compiles a rule to SQL over the file's columns. The value is null where `values` maps to null. */
export function mappedValue(rule: MappingRule): Sql {
  const value = unmappedValue(rule);
  if (rule.values === undefined && rule.separator === undefined) return value;
  const cases = Object.entries(rule.values ?? {}).map(
    ([from, to]) => sql`WHEN ${from.trim().toLowerCase()} THEN ${to}`,
  );
  const mapped = cases.length === 0 ? value : sql`CASE lower(trim(${value})) ${join(cases, sql` `)} ELSE ${value} END`;
  return rule.separator === undefined ? mapped : sql`replace(${mapped}, ${rule.separator}, ${listSeparator})`;
}

function unmappedValue(rule: MappingRule): Sql {
  if (rule.column !== undefined) return ident(rule.column);
  if (rule.template === undefined) return sql`${rule.constant ?? null}`;
  const literals = rule.template.split(/\{[^}]*\}/);
  const columns = columnsOf(rule);
  return sql`concat(${join(
    literals.flatMap((text, index) => {
      const column = columns[index];
      return column === undefined ? [sql`${text}`] : [sql`${text}`, sql`trim(${ident(column)})`];
    }),
  )})`;
}

/**
 * Returns the SQL expression of a row's dealer id: a UUIDv5 (RFC 9562) in Carquet's namespace of the trimmed, lower-cased values of
 * `dealer.columns`. Null if all of them are empty.
 */
export function mappedDealerId(mapping: Mapping): Sql {
  const values = mapping.dealer.columns.map((column) => sql`coalesce(lower(trim(${ident(column)})), '')`);
  const hash = sql`sha1(unhex(${namespace}) || encode(concat_ws(chr(31), ${join(values)})))`;
  const part = (from: number, length: number) => sql`substr(${hash}, ${from}, ${length})`;
  const variant = sql`translate(${part(17, 1)}, '0123456789abcdef', '89ab89ab89ab89ab')`;
  return sql`CASE WHEN concat(${join(values)}) <> '' THEN concat(
    ${part(1, 8)}, '-', ${part(9, 4)}, '-5', ${part(14, 3)}, '-', ${variant}, ${part(18, 3)}, '-', ${part(21, 12)}) END`;
}

/** Carquet's namespace: the UUIDv5 of `carquet` in the DNS namespace. */
const namespace = "ba0b230271315c479da2be3ea9d48205";
