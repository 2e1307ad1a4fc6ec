/** Rows of mapped files: compiles a mapping to the inventory rows of files of one shape, and to a row for each of their dealers. */
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { all, ident, join, type Sql, sql } from "../../db/sql.ts";
import { type DealerList, listedDealers } from "../feed/dealer-list.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import { type FeedTable, feed, isTextList, listSeparator } from "../feed/feed-schema.ts";
import { fileError, printableColumns } from "../feed/file-errors.ts";
import { type FeedRelation, withinLimit } from "../feed/file-formats.ts";
import { knownText } from "../normalize/field-readers.ts";
import { matchingColumns } from "./mapping.ts";
import { dayText, type RuleScope, rowConditionOf, ruleItems, ruleText } from "./rule-values.ts";
import { columnsInTemplate, type Mapping, patternsOf, type Rule, type Source } from "./rules.ts";

/** Rows of a table, and the expression of each of its fields over them. */
export interface MappedTable {
  readonly table: FeedTable;
  readonly source: FeedRelation;
  readonly values: ReadonlyMap<string, Sql>;
}

/** Mappings whose regular expressions are valid. */
const valid = new WeakSet<Mapping>();

/** Throws a UserError for the first regular expression of a mapping that the engine refuses. */
export async function checkPatterns(session: Session, mapping: Mapping): Promise<void> {
  if (valid.has(mapping)) return;
  for (const [rule, pattern] of patternsOf(mapping)) {
    await session.row(sql`SELECT regexp_matches('', ${pattern}) AS "matches"`).catch((thrown: unknown) => {
      const reason = messageOf(thrown).split("\n")[0] ?? "";
      throw new UserError(`${printable(mapping.name)}: ${rule}: invalid regular expression: ${printable(reason)}.`);
    });
  }
  valid.add(mapping);
}

/**
 * Returns the inventory rows of mapped files, and one dealer row per distinct dealer id in each: the first that leaves the fewest fields of the dealer
 * unknown. Throws a UserError if a required column is missing.
 */
export function mappedTables(
  file: FeedFile,
  source: FeedRelation,
  mapping: Mapping,
  list?: DealerList,
): readonly MappedTable[] {
  checkColumns(file, source.columns, mapping);
  const { fields, dealer } = mapping;
  const inventory = mappedTable("inventory", source, mapping, fields);
  const dealers = mappedTable("dealers", source, mapping, dealer.fields);
  const unknown = [...dealers.values.values()].map((value) => sql`(${value} IS NULL)::INTEGER`);
  const first = sql`SELECT DISTINCT ON (${join([...source.fileColumn, rowDealer])}) * FROM (${dealers.source.rows})
    WHERE ${rowDealer} IS NOT NULL ORDER BY ${rowDealer}, ${join(unknown, sql` + `)}, "row"`;
  return [inventory, withList({ ...dealers, source: { ...source, rows: first } }, list)];
}

/** Returns dealers with the fields that a list has of them. */
function withList(dealers: MappedTable, list: DealerList | undefined): MappedTable {
  if (list === undefined) return dealers;
  const values = new Map(dealers.values);
  for (const field of Object.keys(list.fields)) {
    const listed = ident(`listed ${field}`);
    const text = isTextList(feed.dealers.properties[field]) ? sql`string_split(${listed}, ${listSeparator})` : listed;
    const mapped = dealers.values.get(field);
    values.set(field, mapped === undefined ? text : sql`coalesce(${text}, ${mapped})`);
  }
  const rows = sql`SELECT * FROM (${dealers.source.rows}) LEFT JOIN (${listedDealers(list)}) ON listed_key = ${rowDealerKey}`;
  return { ...dealers, source: { ...dealers.source, rows }, values };
}

/** Selects the keys of dealers that a list does not have: `key`, and `row`, the first with it. */
export const unlistedKeys = (dealers: Sql): Sql =>
  sql`SELECT ${rowDealerKey} AS "key", min("row")::INTEGER AS "row" FROM ${dealers} WHERE listed_key IS NULL GROUP BY ALL`;

/** Returns a row for each that the filter keeps, with the texts of the columns that the rules of a table use, and the dealer's id. */
function mappedTable(table: FeedTable, source: FeedRelation, mapping: Mapping, rules: Mapping["fields"]): MappedTable {
  const used = new Map<string, Sql>();
  const scope = scopeOf(source, used);
  const values = new Map(
    Object.entries(rules).flatMap(([field, rule]) => {
      const value = (isTextList(feed[table].properties[field]) ? ruleItems : ruleText)(rule, scope);
      return value === undefined ? [] : [[field, value] as const];
    }),
  ).set("dealer_id", rowDealer);
  const { key, namespace: assigner } = mapping.dealer;
  const keys = key.map((rule) => ruleText(rule, scope) ?? sql`NULL::VARCHAR`);
  const dealerKey = sql`lower(concat_ws('|', ${join(keys)}))`;
  const isUsed = all([
    ...(mapping.filter ?? []).map((condition) => rowConditionOf(condition, scope)),
    ...(mapping.onDay === undefined ? [] : [sql`${dayOfRow(mapping, scope)} = ${mapping.onDay}`]),
  ]);
  const texts = [...used].map(([column, text]) => sql`${knownText(ident(column), unknownTexts(mapping))} AS ${text}`);
  const known = sql`SELECT ${join([sql`"row"`, ...source.fileColumn, ...texts])} FROM (${source.rows}) ${limitOf([...used.keys()], source)}`;
  const rows = sql`SELECT *, ${dealerIdOf(keys, assigner)} AS ${rowDealer}, ${dealerKey} AS ${rowDealerKey} FROM (${known}) WHERE ${isUsed}`;
  return { table, source: { ...source, rows }, values };
}

/** Fails at the first row with more bytes in some columns than it may have. */
function limitOf(columns: readonly string[], { recordBytes }: FeedRelation): Sql {
  if (recordBytes === undefined || columns.length === 0) return sql``;
  const sizes = columns.map((column) => sql`coalesce(strlen(${ident(column)}), 0)`);
  return sql`WHERE ${withinLimit("recordBytes", sql`${join(sizes, sql` + `)} > ${recordBytes}`)}`;
}

/** Returns the day of a row, by the mapping's column; null if it has none. */
function dayOfRow({ day }: Mapping, { columnsOf }: RuleScope): Sql {
  const { column = "", dates } = typeof day === "object" ? day : {};
  const [text = sql`NULL::VARCHAR`] = columnsOf(column);
  return dayText(text, dates);
}

/** Returns the day of each row of files, before the filter: columns `row` and `day`. */
export function daysOfRows(source: FeedRelation, mapping: Mapping): Sql {
  const used = new Map<string, Sql>();
  const day = dayOfRow(mapping, scopeOf(source, used));
  const texts = [...used].map(([column, text]) => sql`trim(${ident(column)}) AS ${text}`);
  return sql`SELECT "row", ${day} AS "day" FROM (SELECT ${join([sql`"row"`, ...texts])} FROM (${source.rows}))`;
}

const rowDealer = sql`row_dealer_id`;

/** The parts of a dealer's key, joined by vertical bars, in lower case. */
const rowDealerKey = sql`row_dealer_key`;

const unknownTexts = ({ unknown = [] }: Mapping): readonly string[] => unknown.map((text) => text.trim().toLowerCase());

/** Returns what the rules of a mapping are compiled against, and adds the columns that they use to `used`. */
function scopeOf(source: FeedRelation, used: Map<string, Sql>): RuleScope {
  const columnsOf = (name: string): readonly Sql[] =>
    matchingColumns(source.columns, name).map((column) => {
      const text = used.get(column) ?? ident(`text ${used.size}`);
      used.set(column, text);
      return text;
    });
  return { columnsOf, file: source.file, ...(source.folder === undefined ? {} : { folder: source.folder }) };
}

/** Sets of columns of which a rule needs one set whole. */
type Alternatives = readonly (readonly string[])[];

const columnsOfSource = ({ column, template = "" }: Source): readonly string[] =>
  column === undefined ? columnsInTemplate(template) : [column];

/** Rules by what they fill, each with its columns. */
type NeededColumns = readonly (readonly [rule: string, alternatives: Alternatives])[];

/** Returns the rules that a file must have columns for. */
function requiredColumns({ fields, dealer, required, filter = [] }: Mapping): NeededColumns {
  const ofRule = ({ from }: Rule): Alternatives => from.map(columnsOfSource);
  const ofRules = (rules: Mapping["fields"], prefix = "") =>
    Object.entries(rules).map(([field, rule]) => [`${prefix}${field}`, ofRule(rule)] as const);
  const filters = filter
    .filter(({ in: values, matches }) => (values ?? matches) !== undefined)
    .map(({ column }) => ["filter", [[column]]] as const);
  const keys = dealer.key.map(ofRule);
  if (required === undefined) {
    const rules = [...ofRules(fields), ...ofRules(dealer.fields, "dealer.")];
    return [...rules, ...keys.map((key) => ["dealer", key] as const), ...filters];
  }
  const chosen = ofRules(fields).filter(([field]) => required.includes(field));
  return [...chosen, ...(required.includes("dealer") ? [["dealer", keys.flat()] as const] : []), ...filters];
}

/** Returns all rules, whether or not a file must have columns for them. */
const namedColumns = ({ required: _, ...mapping }: Mapping): NeededColumns => requiredColumns(mapping);

const isIn = (columns: readonly string[], name: string): boolean => matchingColumns(columns, name).length > 0;

/** Returns those of some rules whose columns a file lacks. */
const unfilled = (rules: NeededColumns, columns: readonly string[]): NeededColumns =>
  rules.filter(([, alternatives]) => !alternatives.some((names) => names.every((name) => isIn(columns, name))));

/** Returns the fields of a mapping whose columns a file lacks, each with a name of these: perhaps it has been changed. */
export const unfilledFields = (mapping: Mapping, columns: readonly string[]): ReadonlyMap<string, string | undefined> =>
  new Map(unfilled(namedColumns(mapping), columns).map(([field, [names]]) => [field, names?.[0]]));

/** Throws a UserError if the file lacks the columns of a required rule. */
function checkColumns(file: FeedFile, columns: readonly string[], mapping: Mapping): void {
  for (const [rule, alternatives] of unfilled(requiredColumns(mapping), columns)) {
    const named = namedColumns(mapping).flatMap(([, sets]) => sets.flat());
    const known = named.flatMap((name) => matchingColumns(columns, name));
    const missing = alternatives
      .flat()
      .filter((name) => !isIn(columns, name))
      .map((name) => `"${printable(name, 40)}"`);
    throw fileError(
      file,
      `${file.format === "csv" ? ", row 0 (header)" : ""}: missing column ${missing.join(" or ")}: expected by the mapping of ${rule}; ` +
        `found ${printableColumns(columns, known)}.`,
    );
  }
}

/**
 * Returns the SQL of a dealer id: a UUIDv5 (RFC 9562) in Carquet's namespace of who assigns the dealer's key, if that is known, and its lower-cased texts. Null if all of them are
 * empty.
 */
function dealerIdOf(key: readonly Sql[], assigner: string | undefined): Sql {
  const values = key.map((text) => sql`coalesce(lower(${text}), '')`);
  const named = assigner === undefined ? values : [sql`${assigner}`, ...values];
  const hash = sql`sha1(unhex(${namespace}) || encode(concat_ws(chr(31), ${join(named)})))`;
  const part = (from: number, length: number) => sql`substr(${hash}, ${from}, ${length})`;
  const variant = sql`translate(${part(17, 1)}, '0123456789abcdef', '89ab89ab89ab89ab')`;
  return sql`CASE WHEN concat(${join(values)}) <> '' THEN concat(
    ${part(1, 8)}, '-', ${part(9, 4)}, '-5', ${part(14, 3)}, '-', ${variant}, ${part(18, 3)}, '-', ${part(21, 12)}) END`;
}

/** Carquet's namespace: the UUIDv5 of `carquet` in the DNS namespace. */
const namespace = "ba0b230271315c479da2be3ea9d48205";
