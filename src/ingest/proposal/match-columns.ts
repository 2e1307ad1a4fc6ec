/**
 * Matches the columns of a foreign file to fields: by known names, by the same words, by names that differ in letters, then by what their values
 * look like. The share of values that ingest could use is the evidence, by which each score is multiplied.
 *
 * Known names are those of `data/mappings/aliases.json`, which come first, of the Carquet format and of the presets.
 */

import { integerIn, type Json, type Row, textIn } from "../../base/json.ts";
import { projectText } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { wordsOf } from "../../db/text-matching.ts";
import { feed, isTextList } from "../feed/feed-schema.ts";
import { foldName, matchingColumns, preset, presetNames } from "../mapping/mapping.ts";
import { ruleItems, ruleText } from "../mapping/rule-values.ts";
import type { Conversions, FileSource, Mapping, Rule, Source } from "../mapping/rules.ts";
import { fieldReader } from "../normalize/field-readers.ts";
import { bound } from "../normalize/number-forms.ts";
import { attributeOfVocabulary, spellingKey } from "../normalize/vocabularies.ts";

/** The entry of a field in `data/mappings/aliases.json`. */
interface FieldAliases extends Conversions {
  readonly columns: readonly FileSource[];
  /** What all sources of the field have, unless they say otherwise. */
  readonly each?: Pick<Source, "match" | "zeroIsUnknown">;
  /** What the whole text of a value looks like, by which a column without a known name is found. */
  readonly shape?: string;
  /** Whether the words of its vocabulary, or its format, do the same. */
  readonly isShape?: boolean;
  /** Whether its vocabulary is far from complete. */
  readonly isOpen?: boolean;
  /** Codes of its vocabulary, such as n and u, all of which are in a column of codes that has no known name. By default two different ones. */
  readonly counterparts?: readonly string[];
  /** What a part of a text looks like that is no value of the field. */
  readonly except?: string;
  /** Whether few rows have the same value. */
  readonly isDistinct?: boolean;
  /** Words, one of which is in the names of its columns. */
  readonly hints?: readonly string[];
  /** Columns of the units of its numbers. */
  readonly unitColumns?: readonly string[];
}

interface AliasTable extends Readonly<Record<"inventory" | "dealers", Readonly<Record<string, FieldAliases>>>> {
  readonly unknown: readonly string[];
  /** Words of names that say nothing. */
  readonly fillers: readonly string[];
  /** Columns that no field has: costs, comments, dates. */
  readonly none: readonly string[];
  /** Columns that identify a dealer. */
  readonly dealer: FieldAliases;
  /** Whole texts, in columns whose names match `of`, of rows whose car is not for sale. */
  readonly gone: readonly Readonly<Record<"of" | "text", string>>[];
  /** Regular expressions by which kilometers are likely: of names of columns, and of whole texts in columns whose names match `of`. */
  readonly metric: { readonly names: string; readonly texts: readonly Readonly<Record<"of" | "text", string>>[] };
}

export const aliases: AliasTable = JSON.parse(projectText("data/mappings/aliases.json"));

/** What a column can fill: a field, the dealer's key, or nothing. */
export interface ColumnTarget extends Omit<FieldAliases, "columns"> {
  readonly table: "inventory" | "dealers" | "dealer" | "none";
  readonly field: string;
  /** All sources by which files fill it, in the order in which they are used. */
  readonly sources: readonly Source[];
}

/** Returns the column of a source; empty if it has none. */
export const columnNameOf = ({ column, when }: Source): string => column ?? when?.column ?? "";

/** Returns a source that reads another column. */
const withColumn = (source: Source, column: string): Source =>
  source.when === undefined ? { ...source, column } : { ...source, when: { ...source.when, column } };

const presets = presetNames.map(preset);
const keyNames = aliases.dealer.columns.map((source) =>
  foldName(typeof source === "string" ? source : columnNameOf(source)),
);

/** All targets, in the order in which they are preferred. */
export const targets: readonly ColumnTarget[] = [
  targetOf("dealer", "dealer", aliases.dealer),
  ...Object.entries(aliases.inventory).map(([field, { columns, ...entry }]) => {
    const { "x-column-aliases": names = [] } = feed.inventory.properties[field] ?? {};
    const ofPresets = presets.flatMap(({ fields }) => fields[field]?.from ?? []);
    return targetOf("inventory", field, { ...entry, columns: [...columns, field, ...names, ...ofPresets] });
  }),
  ...Object.entries(aliases.dealers).map(([field, { columns }]) => {
    // Presets name dealers without a name by their keys.
    const ofPresets = presets.flatMap(({ dealer }) => dealer.fields[field]?.from ?? []);
    const others = ofPresets.filter((source) => !keyNames.includes(foldName(columnNameOf(source))));
    return targetOf("dealers", field, { columns: [...columns, ...others] });
  }),
  targetOf("none", "none", { columns: aliases.none }),
];

/** Returns the name of what a target fills: `price`, `dealer`, `dealer.city`. */
export const targetName = ({ table, field }: ColumnTarget): string => (table === "dealers" ? `dealer.${field}` : field);

/** Returns the source by which a column fills a target: the known one of its name, if there is one. */
export function columnSource({ sources, each }: ColumnTarget, column: string): Source {
  const known = sources.find((source) => foldName(columnNameOf(source)) === foldName(column));
  return known === undefined ? { column, ...each } : withColumn(known, column);
}

function targetOf(table: ColumnTarget["table"], field: string, { columns, ...entry }: FieldAliases): ColumnTarget {
  const sources = new Map<string, Source>();
  for (const written of columns) {
    const source = typeof written === "string" ? { column: written } : written;
    const key = `${columnNameOf(source).split("*").map(foldName).join("*")} ${source.constant ?? ""}`;
    if (columnNameOf(source) !== "" && !sources.has(key)) sources.set(key, { ...source, ...entry.each, ...source });
  }
  return { ...entry, table, field, sources: [...sources.values()] };
}

/** Returns the words of a column's name. */
export const wordsOfName = (name: string): readonly string[] =>
  wordsOf(name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " "));

/** Returns the words of a column's name that say something, in any order, as one text; its words if none does. */
function wordKeyOf(name: string): string {
  const words = wordsOfName(name);
  const telling = words.filter((word) => !aliases.fillers.includes(word));
  return [...(telling.length === 0 ? words : telling)].sort().join(" ");
}

/** Returns items by key, both in their order. */
export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** How a column was matched to its field, and how much that counts. */
const nameScores = { name: 1, words: 0.95, word: 0.9, "similar name": 0.9, values: 0.6 } as const;

interface ColumnCandidate {
  readonly column: string;
  readonly target: ColumnTarget;
  readonly source: Source;
  readonly why: keyof typeof nameScores;
}

export interface Match extends ColumnCandidate {
  /** From 0 to 1. */
  readonly score: number;
  /** The share of known texts in the sample that ingest could use; 1 if there are none. */
  readonly usable: number;
  /** Why most of the others are not usable, if they are amounts of money. */
  readonly reason?: string;
  /** Addresses in a text of the column, on average. */
  readonly addresses: number;
}

const known = targets.flatMap((target) =>
  target.sources.map((source) => ({ target, source, name: columnNameOf(source) })),
);
const byName = groupedBy(known, ({ name }) => foldName(name));
const byWords = groupedBy(known, ({ name }) => wordKeyOf(name));

/** Returns the targets of columns by their names: by the same name, else by the same words, else by a similar name. */
export async function matchesByName(
  session: Session,
  columns: readonly string[],
  currency: string,
): Promise<readonly Match[]> {
  const others = columns.map(foldName).filter((name) => !byName.has(name));
  const similar = await similarNames(session, others, [...byName.keys()]);
  const candidates = columns.flatMap((column) => {
    const patterns = known.filter(({ name }) => name.includes("*") && matchingColumns([column], name).length > 0);
    const words = wordsOfName(column);
    const hinted = targets.filter(({ hints }) => hints?.some((hint) => words.includes(hint)));
    const exact = (byName.get(foldName(column)) ?? []).filter(({ name }) => !name.includes("*"));
    const ways = {
      name: exact.length > 0 ? exact : patterns,
      words: byWords.get(wordKeyOf(column)) ?? [],
      word: hinted.map((target) => ({ target, source: {}, name: "" })),
      "similar name": byName.get(similar.get(foldName(column)) ?? "") ?? [],
    };
    const why = (["name", "words", "word", "similar name"] as const).find((way) => ways[way].length > 0);
    return (why === undefined ? [] : ways[why]).map(({ target, source, name }) => ({
      column,
      target,
      why: why ?? "name",
      source: name.includes("*") ? source : withColumn(source, column),
    }));
  });
  return scored(session, candidates, currency);
}

/** Returns for each name the most similar known one with the same digits, if at most a quarter of its letters differ. */
async function similarNames(session: Session, names: readonly string[], others: readonly string[]) {
  const rows = await session.rows(sql`
    SELECT name, arg_max(known, jaro_winkler_similarity(name, known)) AS known
    FROM (SELECT unnest(${names}::VARCHAR[]) AS name), (SELECT unnest(${others}::VARCHAR[]) AS known)
    WHERE jaro_winkler_similarity(name, known) >= 0.92 AND 4 * damerau_levenshtein(name, known) <= length(name)
      AND regexp_replace(name, '[^0-9]', '', 'g') = regexp_replace(known, '[^0-9]', '', 'g') GROUP BY name`);
  return new Map(rows.map((row) => [textIn(row, "name"), textIn(row, "known")]));
}

/** Returns what the values of columns look like, of some targets. */
export function matchesByValues(
  session: Session,
  columns: readonly string[],
  open: readonly ColumnTarget[],
  currency: string,
) {
  const shaped = open.filter(({ shape, isShape }) => shape !== undefined || isShape);
  return scored(
    session,
    columns.flatMap((column) =>
      shaped.map((target) => ({ column, target, source: { column, ...target.each }, why: "values" as const })),
    ),
    currency,
  );
}

/** Returns candidates with their scores, the best first; of equals, that of the earlier target. */
async function scored(
  session: Session,
  candidates: readonly ColumnCandidate[],
  currency: string,
): Promise<readonly Match[]> {
  const tests = new Map<string, Sql>();
  const pairs = candidates.map((candidate) => {
    const { column, target, source, why } = candidate;
    const test = JSON.stringify([target.table, target.field, withColumn(source, ""), why === "values"]);
    if (!tests.has(test)) tests.set(test, testOf(candidate, currency));
    return { column, test, vocabulary: target.field };
  });
  const rows = pairs.length === 0 ? [] : await session.rows(evidenceOf(pairs, tests));
  const found = new Map(rows.map((row) => [`${textIn(row, "column")} ${textIn(row, "test")}`, row]));
  return candidates
    .map((candidate, index) => matchOf(candidate, found.get(`${candidate.column} ${pairs[index]?.test}`)))
    .sort(
      (one, other) =>
        other.score - one.score ||
        other.addresses - one.addresses ||
        targets.indexOf(one.target) - targets.indexOf(other.target),
    );
}

type Pair = Readonly<Record<"column" | "test" | "vocabulary", string>>;

/**
 * Counts for each pair the texts of its column, the different ones, those that pass its test, and those that its vocabulary has, if it is a closed
 * one; with the codes that pass, how long texts are, and the addresses in them.
 */
function evidenceOf(pairs: readonly Pair[], tests: ReadonlyMap<string, Sql>): Sql {
  const isUsable = sql`verdict = ''`;
  const list = (key: keyof Pair): Sql => sql`unnest(${pairs.map((pair) => pair[key])}::VARCHAR[]) AS ${ident(key)}`;
  const verdicts = [...tests].map(([test, verdict]) => sql`WHEN ${test} THEN ${verdict}`);
  const isCode = sql`length("text") <= ${codeLength}`;
  const addresses = sql`(length("text") - length(replace(lower("text"), 'http', ''))) / 4`;
  return sql`
    SELECT "column", test, count(*)::INTEGER AS texts, (count(*) FILTER (${isUsable}))::INTEGER AS usable, mode(verdict) FILTER (verdict NOT IN ('', 'unusable')) AS reason, count(DISTINCT "text")::INTEGER AS distinct_texts,
      bool_and(${isCode}) AS are_codes, list(DISTINCT lower("text")) FILTER (${isUsable} AND ${isCode}) AS codes,
      avg(if(contains("text", '://'), ${addresses}, 0))::DOUBLE AS addresses,
      (count(*) FILTER (${isUsable} AND canonical IS NOT NULL))::INTEGER AS spelled, any_value(attribute IN (SELECT attribute FROM canonical_of)) AS is_closed
    FROM (SELECT *, ${spellingKey(sql`"text"`)} AS key, CASE test ${join(verdicts, sql` `)} END AS verdict
          FROM cells JOIN (SELECT *, ${attributeOfVocabulary} AS attribute
                           FROM (SELECT ${join([list("column"), list("test"), list("vocabulary")])})) USING ("column"))
    LEFT JOIN canonical_of USING (attribute, key) WHERE verdict IS NOT NULL GROUP BY "column", test`;
}

/** Returns why ingest could not use `text`, empty if it could. Null if the text stands for no value. */
function testOf({ target, source, why }: ColumnCandidate, currency: string): Sql {
  const text = sql`"text"`;
  const { table, field, shape } = target;
  const isZero = sql`regexp_full_match(${text}, '[^0-9]*0[0.,]*[^0-9]*')`;
  if (table === "none" || table === "dealer")
    return source.zeroIsUnknown ? sql`CASE WHEN NOT ${isZero} THEN '' END` : sql`''`;
  const isAllowed = target.except === undefined ? sql`true` : sql`NOT regexp_matches(${text}, ${target.except})`;
  if (why === "values" && shape !== undefined)
    return sql`if(regexp_full_match(${text}, ${shape}) AND ${isAllowed}, '', 'unusable')`;
  const { when, constant: _, ...plain } = source;
  const schema = when === undefined ? feed[table].properties[field] : ({ type: "boolean" } as const);
  if (schema === undefined) return sql`'unusable'`;
  // With a unit, which the mapping has or the file is asked for, three digits after a point are thousands.
  const number = schema["x-quantity"] === "distance" ? { ...target.number, unit: "km" } : target.number;
  const rule = {
    ...(when === undefined ? { ...target, ...(number && { number }) } : {}),
    from: [{ ...plain, column: "text" }],
  };
  const scope = { columnsOf: (name: string) => (name === "text" ? [text] : []), file: sql`''` };
  const reader = fieldReader(field, schema, { day: lastDay, currency });
  const raw = (isTextList(schema) ? ruleItems : ruleText)(rule, scope) ?? text;
  const rawText = sql`raw_text`;
  const converted = sql`converted`;
  const value = reader.value(converted);
  const hasValue = isTextList(schema) ? sql`coalesce(len(${value}) > 0, false)` : sql`${value} IS NOT NULL`;
  const reason = schema["x-quantity"] === "money" ? reader.reason(converted) : sql`'unusable'`;
  // Repeating an expression at each of its uses would multiply the planning time.
  const verdict = bound(
    raw,
    rawText,
    bound(
      reader.converted?.(rawText) ?? rawText,
      converted,
      sql`CASE WHEN NOT ${isAllowed} THEN 'unusable' WHEN ${hasValue} THEN '' ELSE ${reason} END`,
    ),
  );
  return source.zeroIsUnknown ? sql`CASE WHEN NOT ${isZero} THEN ${verdict} END` : verdict;
}

/** A day after all times in files. */
export const lastDay = "9000-01-01";

/** The most characters of a code. */
const codeLength = 2;

/** The least share of texts that fit a field whose column has no known name, and of different texts in one whose values differ. */
const fittingMin = 0.8;

/** Returns a candidate with its score: texts of a closed vocabulary count in part by how many of them it has, and what no rule can refuse counts less. */
function matchOf(candidate: ColumnCandidate, row: Row | undefined): Match {
  const { target, why } = candidate;
  const isEmptyUsable = why !== "values" && why !== "word" && target.table !== "dealer";
  if (row === undefined)
    return { ...candidate, usable: 1, addresses: 0, score: isEmptyUsable ? nameScores[why] * unproven : 0 };
  const share = (column: string): number => integerIn(row, column) / integerIn(row, "texts");
  const isClosed = row.is_closed === true;
  const fitting = isClosed && why === "values" ? share("spelled") : share("usable");
  const isForeign = row.are_codes === true && isClosed && share("spelled") < 0.5;
  const isRepeated = target.isDistinct && share("distinct_texts") < fittingMin;
  const usable = isForeign ? share("spelled") : isRepeated ? share("distinct_texts") : fitting;
  const evidence = isClosed ? 0.7 + 0.3 * share("spelled") : isChecked(target) ? 1 : unproven;
  const isLikely = (why !== "values" && !target.isDistinct) || usable >= fittingMin;
  const isDecided = !isForeign && (row.are_codes !== true || areDecisive(candidate, row.codes));
  return {
    ...candidate,
    usable,
    ...(typeof row.reason === "string" && { reason: row.reason }),
    addresses: typeof row.addresses === "number" ? row.addresses : 0,
    score: isLikely && isDecided ? nameScores[why] * evidence * usable : 0,
  };
}

/** Returns whether codes decide a field: with its name, or beside their counterparts. */
function areDecisive({ target, why }: ColumnCandidate, found: Json | undefined): boolean {
  if (why !== "values" || target.shape !== undefined) return true;
  const codes = Array.isArray(found) ? found : [];
  return target.counterparts?.every((code) => codes.includes(code)) ?? codes.length > 1;
}

/** What a column counts whose texts prove nothing. */
const unproven = 0.8;

/** Whether ingest refuses some texts of a field. */
function isChecked({ table, field }: ColumnTarget): boolean {
  if (table === "dealer" || table === "none") return false;
  const { type, enum: words, format, pattern } = feed[table].properties[field] ?? { type: "string" };
  return type !== "string" || (words ?? format ?? pattern) !== undefined;
}

/** Returns each column that a mapping names, with what it fills: `price`, `dealer`, `dealer.city`. */
function namedColumns({ fields, dealer }: Mapping): readonly (readonly [column: string, field: string])[] {
  const ofRule = (field: string, { from }: Rule) =>
    from.map((source) => [columnNameOf(source), field] as const).filter(([column]) => column !== "");
  return [
    ...Object.entries(fields).flatMap(([field, rule]) => ofRule(field, rule)),
    ...dealer.key.flatMap((rule) => ofRule("dealer", rule)),
    ...Object.entries(dealer.fields).flatMap(([field, rule]) => ofRule(`dealer.${field}`, rule)),
  ];
}

/** Returns the fields that each column of a file fills by a mapping. */
export function fieldsByColumn(
  mapping: Mapping | undefined,
  columns: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, field] of mapping === undefined ? [] : namedColumns(mapping))
    for (const column of matchingColumns(columns, name)) {
      const known = fields.get(column) ?? [];
      if (!known.includes(field)) fields.set(column, [...known, field]);
    }
  return fields;
}

/** Returns the columns that a mapping names and a file lacks, with what they fill and the columns of the file that still fill it. */
export function absentColumns(mapping: Mapping, columns: readonly string[]) {
  const used = fieldsByColumn(mapping, columns);
  const absent = namedColumns(mapping).filter(([name]) => matchingColumns(columns, name).length === 0);
  return [...new Map(absent.map((pair) => [pair.join("\n"), pair])).values()].map(([column, field]) => ({
    column,
    field,
    others: columns.filter((other) => used.get(other)?.includes(field)),
  }));
}
