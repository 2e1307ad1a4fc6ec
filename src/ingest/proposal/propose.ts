/**
 * Proposes the mapping of a foreign file from its sample: each column fills the field that it matches best, beside a preset that fits the header.
 * Columns with known names of one field are all used, in the order in which `targets` has them; others only if the field has none.
 */
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { fieldOfColumn } from "../feed/feed-schema.ts";
import { fileError } from "../feed/file-errors.ts";
import { foldName, mappingOf } from "../mapping/mapping.ts";
import type { FileMapping, Mapping } from "../mapping/rules.ts";
import {
  type ColumnTarget,
  columnNameOf,
  fieldsByColumn,
  groupedBy,
  type Match,
  matchesByName,
  matchesByValues,
  targets,
} from "./match-columns.ts";
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
}

export interface Proposal {
  readonly plans: readonly ColumnPlan[];
  /** The content of its file. */
  readonly content: FileMapping;
  readonly mapping: Mapping;
}

/** Returns the proposed mapping of the file that is sampled. Throws a UserError if no column has VINs. */
export async function proposeMapping(session: Session, sample: Sample): Promise<Proposal> {
  const { preset, columns } = sample;
  const ofPreset = fieldsByColumn(preset, columns);
  const filled = new Set([...ofPreset.values()].flat());
  const free = columns.filter((column) => !ofPreset.has(column));
  const isOpen = (target: ColumnTarget): boolean =>
    preset === undefined || (target.table !== "dealer" && target.table !== "dealers" && !filled.has(target.field));
  const byName = (await matchesByName(session, free)).filter(({ target }) => isOpen(target));
  const named = chosenOf(byName);
  const hasMatch = (column: string): boolean =>
    named.some((match) => match.column === column) ||
    byName.some((match) => match.column === column && match.target.table === "none");
  const byValues = await matchesByValues(
    session,
    free.filter((column) => !hasMatch(column)),
    targets.filter((target) => isOpen(target) && !named.some((match) => match.target === target)),
  );
  const chosen = [...named, ...firstOfEach(byValues)];
  const content = await writtenMapping(session, sample, chosen);
  const mapping = mappingOf(structuredClone(content), "proposed mapping");
  const fields = fieldsByColumn(mapping, columns);
  const plans = columns.map((column) => {
    const isOf = (match: Match): boolean => match.column === column;
    const verdict = ofPreset.has(column)
      ? ({ state: "matched", why: `preset ${preset?.name}` } as const)
      : verdictOf(chosen.find(isOf), byName.find(isOf));
    return { ...verdict, column, fields: fields.get(column) ?? [] };
  });
  return { plans, content, mapping };
}

/** Returns what becomes of a column, and why, given the match that is used and the best by its name. */
function verdictOf(used: Match | undefined, best: Match | undefined): Pick<ColumnPlan, "state" | "why"> {
  if (used === undefined) return { state: "unmapped", why: reasonAgainst(best) };
  return { state: isNamed(used) && used.score >= matchedMin ? "matched" : "suggested", why: used.why };
}

function reasonAgainst(match: Match | undefined): string {
  if (match === undefined) return "unknown name";
  const { target, score, usable } = match;
  if (target.table === "none") return "no field for it";
  const field = target.table === "dealers" ? `dealer.${target.field}` : target.field;
  if (score >= scoreMin) return `${field} has another column`;
  return usable === 1 ? "no values" : `${shareText(usable)} fit ${field}`;
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
    const named = found.filter(isNamed).sort((one, other) => placeOf(one) - placeOf(other));
    const [first] = named.length > 0 ? named : found;
    // A row has one dealer, and a similar name proves little.
    return named.length > 0 && table !== "dealer" ? named : found.filter(({ column }) => column === first?.column);
  });
}

const isNamed = ({ why }: Pick<Match, "why">): boolean => why === "name" || why === "words";

const placeOf = ({ target, source }: Match): number =>
  target.sources.findIndex(
    (known) => foldName(columnNameOf(known)) === foldName(columnNameOf(source)) && known.constant === source.constant,
  );

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
