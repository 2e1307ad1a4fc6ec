/**
 * SQL of rules: each compiles to one expression over the columns of a file, which are trimmed, without those texts that stand for no value.
 *
 * A conversion that fails leaves the text, so that it is recorded with its row as a value that the field cannot have. Regular expressions are
 * those of the engine (RE2), which match in linear time.
 */
import { all, join, literal, type Sql, sql } from "../../db/sql.ts";
import { listSeparator } from "../feed/feed-schema.ts";
import {
  type Conversions,
  columnsInTemplate,
  type ListRule,
  type RowCondition,
  type Rule,
  type Source,
} from "./rules.ts";

/** What rules are compiled against. */
export interface RuleScope {
  /** Returns the trimmed texts of the columns that a name stands for. */
  readonly columnsOf: (name: string) => readonly Sql[];
  /** The file's name. */
  readonly file: Sql;
  readonly folder?: Sql;
}

/** Returns the text of a rule; undefined if the file has none of its sources. */
export function ruleText(rule: Rule, scope: RuleScope): Sql | undefined {
  const texts = rule.from.flatMap((source) => sourceTexts(source, scope));
  return texts.length === 0 ? undefined : converted(firstOf(texts), rule, scope);
}

/** Returns the items of a rule; undefined if the file has none of its sources. */
export function ruleItems(rule: Rule, scope: RuleScope): Sql | undefined {
  const texts = rule.from.flatMap((source) => sourceTexts(source, scope));
  if (texts.length === 0) return undefined;
  const { list = {} } = rule;
  const items = list.all
    ? sql`list_concat(${join(texts.map((text) => sql`coalesce(${splitText(text, list)}, [])`))})`
    : splitText(firstOf(texts), list);
  const { item: pattern } = list;
  const part = pattern === undefined ? sql`item` : extracted(sql`item`, pattern);
  const hasConversions = [pattern, rule.html, rule.values].some((conversion) => conversion !== undefined);
  return hasConversions ? sql`list_transform(${items}, lambda item: ${converted(part, rule, scope)})` : items;
}

const firstOf = (texts: readonly Sql[]): Sql => (texts.length === 1 ? join(texts) : sql`coalesce(${join(texts)})`);

/** Returns the texts of a source: several if its name stands for several columns, none if the file lacks them. */
function sourceTexts(source: Source, scope: RuleScope): readonly Sql[] {
  const { match, zeroIsUnknown = false, when } = source;
  return originsOf(source, scope).map((origin) => {
    const matched = match === undefined ? origin : extracted(origin, match);
    const known = zeroIsUnknown
      ? sql`CASE WHEN ${matched} BETWEEN '1' AND ':' OR NOT regexp_full_match(${matched}, ${zero}) THEN ${matched} END`
      : matched;
    return when === undefined ? known : sql`CASE WHEN ${rowConditionOf(when, scope)} THEN ${known} END`;
  });
}

/** A zero, with a currency or a unit. */
const zero = "[^0-9]*0[0.,]*[^0-9]*";

function originsOf({ column, template, constant, file }: Source, scope: RuleScope): readonly Sql[] {
  if (column !== undefined) return scope.columnsOf(column);
  if (constant !== undefined) return [sql`${constant}`];
  if (template !== undefined) return templateText(template, scope);
  if (file === "name") return [scope.file];
  return scope.folder === undefined ? [] : [scope.folder];
}

function templateText(template: string, scope: RuleScope): readonly Sql[] {
  const columns = columnsInTemplate(template).map((name) => scope.columnsOf(name)[0]);
  const found = columns.filter((column) => column !== undefined);
  if (found.length < columns.length) return [];
  const parts = template.split(/\{[^}]*\}/).flatMap((text, index) => [sql`${text}`, ...found.slice(index, index + 1)]);
  const text = sql`concat(${join(parts)})`;
  return [found.length === 0 ? text : sql`CASE WHEN coalesce(${join(found)}) IS NOT NULL THEN ${text} END`];
}

/** Returns what the first group of a regular expression matches, without a group the whole match; null if nothing does. */
function extracted(text: Sql, pattern: string): Sql {
  const hasGroup = /\((?!\?)|\(\?P</.test(pattern.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, ""));
  return sql`nullif(trim(regexp_extract(${text}, ${pattern}, ${hasGroup ? literalOne : literalZero})), '')`;
}

const literalOne = sql`1`;
const literalZero = sql`0`;

/** Returns the SQL of a condition, which is never null. */
export function rowConditionOf({ column, ...test }: RowCondition, { columnsOf }: RuleScope): Sql {
  const [text = sql`NULL::VARCHAR`] = columnsOf(column);
  const isIn = (values: readonly string[]): Sql =>
    sql`list_contains(${values.map((value) => value.trim().toLowerCase())}, coalesce(lower(${text}), ''))`;
  const matches = (pattern: string): Sql => sql`coalesce(regexp_matches(${text}, ${pattern}), false)`;
  return all([
    ...(test.in === undefined ? [] : [isIn(test.in)]),
    ...(test.notIn === undefined ? [] : [sql`NOT ${isIn(test.notIn)}`]),
    ...(test.matches === undefined ? [] : [matches(test.matches)]),
    ...(test.notMatches === undefined ? [] : [sql`NOT ${matches(test.notMatches)}`]),
  ]);
}

/** A character that separates the items of a list, and occurs in no text. */
const separatorMark = sql`chr(31)`;

/** Splits a text into items. */
function splitText(text: Sql, { separator = listSeparator, before }: ListRule): Sql {
  const separators = typeof separator === "string" ? [separator] : separator;
  const [first = listSeparator] = separators;
  if (before === undefined && separators.length === 1) return sql`string_split(${text}, ${first})`;
  const any = separators.map(escapePattern).join("|");
  const begun = separators.every(({ length }) => length === 1)
    ? sql`rtrim(${text}, ${`${separators.join("")} `})`
    : sql`regexp_replace(${text}, ${`(?:(?:${any})\\s*)+$`}, '')`;
  const marked =
    before === undefined
      ? sql`regexp_replace(${text}, ${any}, ${separatorMark}, 'g')`
      : sql`regexp_replace(${begun}, ${`(?:(?:${any})\\s*)+(${before})`}, chr(31) || '\\1', 'g')`;
  return sql`string_split(${marked}, ${separatorMark})`;
}

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Returns a text after the conversions of a rule. */
function converted(text: Sql, { html, number, dates, values }: Conversions, scope: RuleScope): Sql {
  const plain = html === true ? withoutHtml(text) : text;
  const numeric = number === undefined ? plain : numberText(plain, number, scope);
  const dated = dates === undefined ? numeric : sql`coalesce(${timeText(numeric, dates)}, ${numeric})`;
  return values === undefined ? dated : replaced(dated, values);
}

function replaced(text: Sql, values: Readonly<Record<string, string | null>>): Sql {
  const cases = Object.entries(values).map(([from, to]) => sql`WHEN ${from.trim().toLowerCase()} THEN ${to}`);
  return cases.length === 0
    ? text
    : sql`CASE coalesce(lower(trim(${text})), '') ${join(cases, sql` `)} ELSE ${text} END`;
}

/** Parses a date in one of several formats; null if it has none of them. */
const timeText = (text: Sql, dates: readonly string[]): Sql =>
  sql`strftime(try_strptime(${text}, [${join(dates.map((format) => literal(format)))}]), '%Y-%m-%dT%H:%M:%SZ')`;

/** Parses a day in one of several formats, or in ISO 8601, to YYYY-MM-DD; null for other texts. */
export const dayText = (text: Sql, dates: readonly string[] = []): Sql =>
  sql`strftime(coalesce(${dates.length === 0 ? sql`NULL` : sql`try_strptime(${text}, [${join(dates.map((format) => literal(format)))}])`},
    TRY_CAST(${text} AS TIMESTAMP)), '%Y-%m-%d')`;

/** Returns a text without tags of HTML, and with one apostrophe for two. */
function withoutHtml(text: Sql): Sql {
  const untagged = sql`replace(regexp_replace(${text}, '<[^>]*>', ' ', 'g'), '''''', '''')`;
  return sql`CASE WHEN NOT regexp_matches(${text}, '<|''''') THEN ${text} ELSE trim(regexp_replace(${untagged}, '\\s+', ' ', 'g')) END`;
}

/** Returns the text of a number with what a mapping knows of it: its decimal sign as a point that groups no thousands, the unit if it has none. */
function numberText(
  text: Sql,
  { unit = "", unitColumn, decimal }: NonNullable<Conversions["number"]>,
  scope: RuleScope,
): Sql {
  const swapped = decimal === "," ? sql`translate(${text}, '.,', ',.')` : text;
  const pointed =
    decimal === undefined
      ? text
      : sql`regexp_replace(${swapped}, '^([^0-9]*[0-9]+\\.[0-9]{3})([^0-9.,]*)$', '\\10\\2')`;
  const [column] = unitColumn === undefined ? [] : scope.columnsOf(unitColumn);
  if (column === undefined && unit === "") return pointed;
  // Beside a number, a `k` alone stands for a thousand.
  const named = column && sql`if(lower(${column}) = 'k', '(' || ${column} || ')', ${column})`;
  const added = named === undefined ? literal(unit) : sql`coalesce(${named}, ${literal(unit)})`;
  return sql`CASE WHEN regexp_matches(${text}, '[0-9]\\s*[kK]?\\W*$') THEN concat_ws(' ', ${pointed}, nullif(${added}, '')) ELSE ${pointed} END`;
}
