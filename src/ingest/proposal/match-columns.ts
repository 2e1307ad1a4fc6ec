/**
 * Matches the columns of a foreign file to fields: by known names, by the same words, by names that differ in letters, then by what their values
 * look like. The share of values that ingest could use is the evidence, by which each score is multiplied.
 */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { feed, isTextList } from "../feed/feed-schema.ts";
import { foldName, matchingColumns } from "../mapping/column-matching.ts";
import { ruleItems, ruleText } from "../mapping/rule-values.ts";
import type { Source } from "../mapping/rules.ts";
import { fieldReader } from "../normalize/field-readers.ts";
import { attributeOfVocabulary, spellingKey } from "../normalize/spellings.ts";
import { type ColumnTarget, columnNameOf, groupedBy, targets, withColumn, wordKeyOf } from "./known-columns.ts";

/** How a column was matched to its field, and how much that counts. */
const nameScores = { name: 1, words: 0.95, "similar name": 0.9, values: 0.6 } as const;

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
}

const known = targets.flatMap((target) =>
  target.sources.map((source) => ({ target, source, name: columnNameOf(source) })),
);
const byName = groupedBy(known, ({ name }) => foldName(name));
const byWords = groupedBy(known, ({ name }) => wordKeyOf(name));

/** Returns the targets of columns by their names: by the same name, else by the same words, else by a similar name. */
export async function matchesByName(session: Session, columns: readonly string[]): Promise<readonly Match[]> {
  const others = columns.map(foldName).filter((name) => !byName.has(name));
  const similar = await similarNames(session, others, [...byName.keys()]);
  const candidates = columns.flatMap((column) => {
    const patterns = known.filter(({ name }) => name.includes("*") && matchingColumns([column], name).length > 0);
    const ways = {
      name: byName.get(foldName(column)) ?? patterns,
      words: byWords.get(wordKeyOf(column)) ?? [],
      "similar name": byName.get(similar.get(foldName(column)) ?? "") ?? [],
    };
    const why = (["name", "words", "similar name"] as const).find((way) => ways[way].length > 0);
    return (why === undefined ? [] : ways[why]).map(({ target, source, name }) => ({
      ...{ column, target, why: why ?? "name" },
      source: name.includes("*") ? source : withColumn(source, column),
    }));
  });
  return scored(session, candidates);
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
export function matchesByValues(session: Session, columns: readonly string[], open: readonly ColumnTarget[]) {
  const shaped = open.filter(({ shape, isShape }) => shape !== undefined || isShape);
  return scored(
    session,
    columns.flatMap((column) =>
      shaped.map((target) => ({ column, target, source: { column, ...target.each }, why: "values" as const })),
    ),
  );
}

/** Returns candidates with their scores, the best first; of equals, that of the earlier target. */
async function scored(session: Session, candidates: readonly ColumnCandidate[]): Promise<readonly Match[]> {
  const tests = new Map<string, Sql>();
  const pairs = candidates.map((candidate) => {
    const { column, target, source, why } = candidate;
    const test = JSON.stringify([target.table, target.field, withColumn(source, ""), why === "values"]);
    if (!tests.has(test)) tests.set(test, testOf(candidate));
    return { column, test, vocabulary: target.field };
  });
  const rows = pairs.length === 0 ? [] : await session.rows(evidenceOf(pairs, tests));
  const found = new Map(rows.map((row) => [`${textIn(row, "column")} ${textIn(row, "test")}`, row]));
  return candidates
    .map((candidate, index) => matchOf(candidate, found.get(`${candidate.column} ${pairs[index]?.test}`)))
    .sort((one, other) => other.score - one.score || targets.indexOf(one.target) - targets.indexOf(other.target));
}

type Pair = Readonly<Record<"column" | "test" | "vocabulary", string>>;

/** Counts for each pair the texts of its column, those that pass its test, and those that its vocabulary has, if it is a closed one. */
function evidenceOf(pairs: readonly Pair[], tests: ReadonlyMap<string, Sql>): Sql {
  const list = (key: keyof Pair): Sql => sql`unnest(${pairs.map((pair) => pair[key])}::VARCHAR[]) AS ${ident(key)}`;
  const passes = [...tests].map(([test, isUsable]) => sql`WHEN ${test} THEN ${isUsable}`);
  return sql`
    SELECT "column", test, count(*)::INTEGER AS texts, (count(*) FILTER (is_usable))::INTEGER AS usable,
      (count(*) FILTER (is_usable AND canonical IS NOT NULL))::INTEGER AS spelled, any_value(attribute IN (SELECT attribute FROM canonical_of)) AS is_closed
    FROM (SELECT *, ${spellingKey(sql`"text"`)} AS key, CASE test ${join(passes, sql` `)} END AS is_usable
          FROM cells JOIN (SELECT *, ${attributeOfVocabulary} AS attribute
                           FROM (SELECT ${join([list("column"), list("test"), list("vocabulary")])})) USING ("column"))
    LEFT JOIN canonical_of USING (attribute, key) WHERE is_usable IS NOT NULL GROUP BY "column", test`;
}

/** Returns a condition of `text`: ingest could use it. Null if the text stands for no value. */
function testOf({ target, source, why }: ColumnCandidate): Sql {
  const text = sql`"text"`;
  const { table, field, shape } = target;
  if (table === "none" || table === "dealer") return sql`true`;
  if (why === "values" && shape !== undefined) return sql`regexp_full_match(${text}, ${shape})`;
  const { when, constant: _, ...plain } = source;
  const schema = when === undefined ? feed[table].properties[field] : ({ type: "boolean" } as const);
  if (schema === undefined) return sql`false`;
  const rule = { ...(when === undefined ? target : {}), from: [{ ...plain, column: "text" }] };
  const scope = { columnsOf: () => [text], file: sql`''` };
  const reader = fieldReader(field, schema, lastDay);
  const raw = (isTextList(schema) ? ruleItems : ruleText)(rule, scope) ?? text;
  const [rawText, converted] = [sql`raw_text`, sql`converted`];
  const value = reader.value(converted);
  const hasValue = isTextList(schema) ? sql`coalesce(len(${value}) > 0, false)` : sql`${value} IS NOT NULL`;
  // Repeating an expression at each of its uses would multiply the planning time.
  const isUsable = bound(raw, rawText, bound(reader.converted?.(rawText) ?? rawText, converted, hasValue));
  const isZero = sql`regexp_full_match(${text}, '[^0-9]*0[0.,]*[^0-9]*')`;
  return source.zeroIsUnknown ? sql`CASE WHEN NOT ${isZero} THEN ${isUsable} END` : isUsable;
}

const bound = (value: Sql, name: Sql, use: Sql): Sql => sql`list_transform([${value}], lambda ${name}: ${use})[1]`;

/** A day after all times in files. */
const lastDay = "9000-01-01";

/** Returns a candidate with its score: texts of a closed vocabulary count in part by how many of them it has, and what no rule can refuse counts less. */
function matchOf(candidate: ColumnCandidate, row: Row | undefined): Match {
  const { target, why } = candidate;
  const isEmptyUsable = why !== "values" && target.table !== "dealer";
  if (row === undefined) return { ...candidate, usable: 1, score: isEmptyUsable ? nameScores[why] * unproven : 0 };
  const share = (column: string): number => integerIn(row, column) / integerIn(row, "texts");
  const isClosed = row.is_closed === true;
  const usable = isClosed && why === "values" ? share("spelled") : share("usable");
  const evidence = isClosed ? 0.7 + 0.3 * share("spelled") : isChecked(target) ? 1 : unproven;
  const isLikely = why !== "values" || usable >= 0.8;
  return { ...candidate, usable, score: isLikely ? nameScores[why] * evidence * usable : 0 };
}

/** What a column counts whose texts prove nothing. */
const unproven = 0.8;

/** Whether ingest refuses some texts of a field. */
function isChecked({ table, field }: ColumnTarget): boolean {
  if (table === "dealer" || table === "none") return false;
  const { type, enum: words, format, pattern } = feed[table].properties[field] ?? { type: "string" };
  return type !== "string" || (words ?? format ?? pattern) !== undefined;
}
