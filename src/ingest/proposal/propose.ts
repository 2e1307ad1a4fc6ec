/**
 * Proposes the mapping of a foreign file from its sample: each column fills the field that it matches best, beside a preset that fits the header.
 * Columns with known names of one field are all used, in the order in which `targets` has them; others only if the field has none.
 */
import { textIn } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { fieldOfColumn } from "../feed/feed-schema.ts";
import { fileError } from "../feed/file-errors.ts";
import { foldName, mappingOf } from "../mapping/mapping.ts";
import type { FileMapping, Mapping } from "../mapping/rules.ts";
import { type Choices, nothingChosen, type ProposalSettings } from "./choices.ts";
import {
  type ColumnTarget,
  columnNameOf,
  fieldsByColumn,
  groupedBy,
  type Match,
  matchesByName,
  matchesByValues,
  targetName,
  targets,
} from "./match-columns.ts";
import type { MetricMileage } from "./mileage-unit.ts";
import type { Sample } from "./sample.ts";
import { writtenMapping } from "./written-mapping.ts";

/** The least score of a column that is used, and of one that needs no confirmation. */
const scoreMin = 0.3;
const matchedMin = 0.7;

/** What a proposal does with a column. */
export interface ColumnPlan {
  readonly column: string;
  readonly state: "matched" | "suggested" | "unmapped";
  /** What it fills, such as `price`, `dealer` or `dealer.city`. */
  readonly fields: readonly string[];
  readonly why: string;
  /** The share of the sample's texts that fit. */
  readonly usable?: number;
}

export interface Proposal {
  readonly plans: readonly ColumnPlan[];
  /** What a person should decide. */
  readonly notes: readonly string[];
  /** The content of its file. */
  readonly content: FileMapping;
  readonly mapping: Mapping;
}

/** Returns the proposed mapping of the file that is sampled. Throws a UserError if no column has VINs. */
export async function proposeMapping(
  session: Session,
  sample: Sample,
  settings: ProposalSettings = nothingChosen,
): Promise<Proposal> {
  const { columns } = sample;
  const { choices, isAccepting } = settings;
  const { byName, ...found } = await matchColumns(session, sample, choices);
  const matches = isAccepting ? await withoutContained(session, found.matches) : found.matches;
  const suggested = matches.filter(({ why, target }) => why === "values" && target.field !== "vin" && !isAccepting);
  const used = matches.filter((match) => !suggested.includes(match));
  const { content, asked } = await writtenMapping(session, sample, { used, suggested }, settings);
  const mapping = mappingOf(structuredClone(content), "proposed mapping");
  const filled = fieldsByColumn(mapping, columns);
  const ofPreset = fieldsByColumn(sample.preset, columns);
  const plans = columns.map((column): ColumnPlan => {
    const isOf = (match: Match): boolean => match.column === column;
    const only = suggested.find(isOf);
    const plan = { column, fields: filled.get(column) ?? [] };
    if (asked?.columns.includes(column)) return { column, state: "suggested", fields: ["miles"], why: "unknown unit" };
    if (only !== undefined)
      return { column, state: "suggested", fields: [targetName(only.target)], why: "values", usable: only.usable };
    if (choices.columns.has(column))
      return { ...plan, state: filled.has(column) ? "matched" : "unmapped", why: "chosen" };
    if (ofPreset.has(column)) return { ...plan, state: "matched", why: `preset ${sample.preset?.name}` };
    return { ...plan, ...verdictOf(matches.find(isOf), byName.find(isOf)) };
  });
  return { plans, content, mapping, notes: notesOf(mapping, suggested, asked) };
}

/** Returns the best matches of columns by their names, and those of each: chosen, by name, or by values. */
async function matchColumns(session: Session, { preset, columns }: Sample, choices: Choices) {
  const ofPreset = fieldsByColumn(preset, columns);
  const filled = new Set([...ofPreset.values()].flat());
  // Keys with an @ are those of JSON-LD itself.
  const isFree = (column: string): boolean =>
    !ofPreset.has(column) && !choices.columns.has(column) && !/(?:^|\.)@/.test(column);
  const free = columns.filter(isFree);
  const isOpen = (target: ColumnTarget): boolean =>
    preset === undefined || (target.table !== "dealer" && target.table !== "dealers" && !filled.has(target.field));
  const byName = (await matchesByName(session, free, choices.currency)).filter(({ target }) => isOpen(target));
  const named = await withoutContained(session, chosenOf(byName));
  const hasMatch = (column: string): boolean =>
    named.some((match) => match.column === column) ||
    byName.some((match) => match.column === column && (match.target.table === "none" || match.addresses > 0));
  // A list of addresses is looked for beside a column of single ones.
  const isFilled = (target: ColumnTarget): boolean =>
    named.some((match) => match.target === target && (target.hints === undefined || match.addresses > 1));
  const byValues = await matchesByValues(
    session,
    free.filter((column) => !hasMatch(column)),
    targets.filter((target) => isOpen(target) && !isFilled(target)),
    choices.currency,
  );
  const others = firstOfEach(byValues).filter(
    ({ target, addresses }) => addresses > 1 || !named.some((match) => match.target === target),
  );
  return { byName, matches: [...named, ...others] };
}

/** Removes columns whose addresses are all in a column with more of them. */
async function withoutContained(session: Session, matches: readonly Match[]): Promise<readonly Match[]> {
  const lists = matches.filter(({ target }) => target.hints !== undefined);
  const most = lists.find(({ addresses }) => addresses > 1 && lists.every((other) => addresses >= other.addresses));
  if (most === undefined) return matches;
  const rows = await session.rows(sql`
    SELECT one."column" AS "column" FROM cells AS one JOIN cells AS whole ON whole."row" = one."row" AND whole."column" = ${most.column}
    WHERE list_contains(${lists.flatMap(({ column }) => (column === most.column ? [] : [column]))}, one."column")
    GROUP BY ALL HAVING avg(contains(whole."text", one."text")::INTEGER) > 0.5`);
  const contained = rows.map((row) => textIn(row, "column"));
  return matches.filter((match) => !lists.includes(match) || !contained.includes(match.column));
}

/** Fields that buyers search by, the most important first. */
export const expectedFields =
  "price inventory_type miles year make model trim exterior_color photo_urls vdp_url stock_number".split(" ");
const expectedOfDealers = ["name", "city", "state", "postal_code"];

/** Returns what a person should decide about a mapping: the unit of the mileage, what is only suggested, and fields without a source. */
function notesOf(
  { fields, dealer, suggestions = {} }: Mapping,
  suggested: readonly Match[],
  asked: MetricMileage | undefined,
): readonly string[] {
  const names = suggested.map(({ target, column }) => `${targetName(target)} (${quoted([column])})`);
  const isNamed = dealer.fields.name?.from.some(({ file }) => file === undefined);
  const missing = [
    ...expectedFields.filter((field) => fields[field] === undefined),
    ...expectedOfDealers
      .filter((field) => dealer.fields[field] === undefined || (field === "name" && !isNamed))
      .map((field) => `dealer.${field}`),
  ].filter((name) => suggestions[name] === undefined);
  return [
    asked &&
      `miles is not used: ${quoted(asked.columns)} has no unit, and ${asked.reasons.join(", ")} let expect kilometers; --set miles.unit=km or --set miles.unit=mi decides`,
    names.length > 0 && `only values suggest, so not used: ${names.join(", ")}; --accept-suggestions uses them`,
    missing.length > 0 &&
      `no column for: ${missing.join(", ")}; --set field=value, such as inventory_type=used, fills one in all rows`,
  ].filter((note) => typeof note === "string");
}

const quoted = (columns: readonly string[]): string => columns.map((column) => `"${printable(column, 40)}"`).join(", ");

/** Returns what becomes of a column, and why, given the match that is used and the best by its name. */
function verdictOf(used: Match | undefined, best: Match | undefined): Pick<ColumnPlan, "state" | "why"> {
  if (used === undefined) return { state: "unmapped", why: reasonAgainst(best) };
  return { state: isNamed(used) && used.score >= matchedMin ? "matched" : "suggested", why: used.why };
}

function reasonAgainst(match: Match | undefined): string {
  if (match === undefined) return "unknown name";
  const { target, score, usable, reason } = match;
  if (target.table === "none") return "no field for it";
  const field = target.table === "dealers" ? `dealer.${target.field}` : target.field;
  if (score >= scoreMin) return `${field} has another column`;
  return usable === 1 ? "no values" : `${shareText(usable)} fit ${field}${reason === undefined ? "" : `: ${reason}`}`;
}

/** Throws a UserError if ingest reads the file without a mapping. */
export async function requireForeign(session: Session, { name, columns, preset }: Sample): Promise<void> {
  const [dealer, vin] = ["dealer_id", "vin"].map((field) =>
    columns.find((column) => fieldOfColumn("inventory", column) === field),
  );
  if (preset !== undefined || dealer === undefined || vin === undefined) return;
  const isUuid = await session.row(
    sql`SELECT bool_and(TRY_CAST("text" AS UUID) IS NOT NULL) AS "all" FROM cells WHERE "column" = ${dealer}`,
  );
  if (isUuid?.all === true) throw fileError({ name }, ": in the Carquet format: expected a file that needs a mapping.");
}

/** Returns the matches to use of those that are ordered by score. */
function chosenOf(matches: readonly Match[]): readonly Match[] {
  const best = new Map<string, Match>();
  for (const match of matches) if (!best.has(match.column)) best.set(match.column, match);
  const isBest = (match: Match): boolean => best.get(match.column)?.target === match.target;
  // A part of a text can fill a second field, such as the doors in a body style.
  const isPart = ({ source, target: { table, each }, usable }: Match): boolean =>
    source.match !== undefined && source.match !== each?.match && table !== "dealer" && usable >= 0.8;
  const usable = matches.filter(
    (match) =>
      match.target.table !== "none" &&
      match.score >= scoreMin &&
      (isBest(match) || (match.why === "name" && isPart(match))),
  );
  return [...groupedBy(usable, ({ target }) => target)].flatMap(([{ table }, found]) => {
    const named = found.filter(isNamed).sort((one, other) => rankOf(one) - rankOf(other));
    const [first] = named.length > 0 ? named : found;
    // A row has one dealer, and a similar name proves little.
    return named.length > 0 && table !== "dealer" ? named : found.filter(({ column }) => column === first?.column);
  });
}

const isNamed = ({ why }: Pick<Match, "why">): boolean => ["name", "words", "word"].includes(why);

/** Returns the rank of a source among those of its target; after all of them for a name that they do not have. */
function rankOf({ target, source }: Match): number {
  const rank = target.sources.findIndex(
    (known) => foldName(columnNameOf(known)) === foldName(columnNameOf(source)) && known.constant === source.constant,
  );
  return rank < 0 ? target.sources.length : rank;
}

/** Returns the best match of each target, for a column that no other has. */
function firstOfEach(matches: readonly Match[]): readonly Match[] {
  const taken = new Set<unknown>();
  return matches.filter(({ score, column, target }) => {
    if (score < scoreMin || taken.has(column) || taken.has(target)) return false;
    taken.add(column).add(target);
    return true;
  });
}

export const shareText = (share: number): string => `${Math.floor(100 * share)} %`;
