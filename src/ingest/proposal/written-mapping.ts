/** Writes a proposed mapping as the content of a mapping file, with as little as says the same. */
import type { Session } from "../../db/duckdb.ts";
import { join, sql } from "../../db/sql.ts";
import { fileError, printableColumns } from "../feed/file-errors.ts";
import { foldName, matchingColumns } from "../mapping/mapping.ts";
import {
  type FileMapping,
  type FileRule,
  type FileSource,
  type Mapping,
  mappingVersion,
  type Rule,
  type Rules,
  type Source,
} from "../mapping/rules.ts";
import type { Choices } from "./choices.ts";
import {
  aliases,
  type ColumnTarget,
  columnNameOf,
  groupedBy,
  type Match,
  sourceOf,
  targetName,
  targets,
} from "./match-columns.ts";
import { inOneUnit } from "./mileage-unit.ts";
import type { Sample } from "./sample.ts";

/** The share of texts that have the separator of their list. */
const separatedMin = 0.2;

type Dealer = Mapping["dealer"];
type Rulesets = Readonly<Record<ColumnTarget["table"], Rules>>;

/** Returns the content of the mapping file, by the matches that are used and a person's choices. Throws a UserError if no column has VINs. */
export async function writtenMapping(
  session: Session,
  sample: Sample,
  used: readonly Match[],
  choices: Choices,
): Promise<FileMapping> {
  const { name, preset, columns, hasHeader, records } = sample;
  const { inventory, dealers, dealer: key } = await rulesOf(session, sample, used);
  const start = preset ?? {
    version: mappingVersion,
    unknown: aliases.unknown,
    required: ["vin", "dealer"],
    fields: {},
  };
  const { fields, dealer } = await withChoices(session, sample, choices, {
    fields: { ...inventory, ...start.fields },
    dealer: preset?.dealer ?? (await dealerOf(session, name, key.dealer, dealers)),
  });
  if (fields.vin === undefined) {
    const known = used.map(({ column }) => column);
    throw fileError(
      { name },
      `${hasHeader ? ", row 0 (header)" : ""}: no column of VINs: expected one named VIN, or texts of 17 characters; ` +
        `found ${printableColumns(columns, known)}.`,
    );
  }
  const file = { ...preset?.file, ...(hasHeader ? {} : { header: false }), ...(records && { records }) };
  const { name: _, ...rest }: Partial<Mapping> = start;
  return {
    ...rest,
    version: mappingVersion,
    ...(Object.keys(file).length > 0 && { file }),
    fields: writtenRules(fields),
    dealer: { ...dealer, key: dealer.key.map(writtenRule), fields: writtenRules(dealer.fields) },
  };
}

/**
 * Applies choices: a chosen column fills its field alone, before other columns of it; a constant comes after all columns. A dealer that only the place
 * of the file identifies is identified by a chosen name.
 */
async function withChoices(
  session: Session,
  sample: Sample,
  { columns, constants, unit }: Choices,
  { fields, dealer }: Pick<Mapping, "fields" | "dealer">,
): Promise<Pick<Mapping, "fields" | "dealer">> {
  const {
    key: [first, ...others],
    ...rest
  } = dealer;
  const isFree = (source: Source): boolean =>
    !matchingColumns(sample.columns, columnNameOf(source)).some((column) => columns.has(column));
  const named = new Map([
    ...Object.entries(fields),
    ...Object.entries(rest.fields).map(([field, rule]) => [`dealer.${field}`, rule] as const),
    ["dealer", first ?? { from: places }],
  ]);
  for (const [name, rule] of named) named.set(name, { ...rule, from: rule.from.filter(isFree) });
  const isPlaced = columnsOf(named.get("dealer")).length === 0;
  let key = others;
  for (const target of targets) {
    const name = targetName(target);
    if (name === "none") continue;
    const chosen = [...columns].filter(([, field]) => field === name).map(([column]) => chosenMatch(target, column));
    const constant = constants.get(name);
    if (chosen.length === 0 && constant === undefined) continue;
    const rule = chosen.length === 0 ? { from: [] } : await ruleOf(session, sample, chosen);
    const from = [...rule.from, ...(named.get(name)?.from.filter((source) => columnNameOf(source) !== "") ?? [])];
    const whole = { ...rule, ...named.get(name), from: [...from, ...(constant === undefined ? [] : [{ constant }])] };
    named.set(name, whole);
    if (name !== "dealer.name") continue;
    // An id, which has a namespace, identifies a dealer without its name.
    if (!isPlaced && (chosen.length === 0 || dealer.namespace !== undefined)) continue;
    if (!isPlaced && first !== undefined) key = [first, ...others];
    named.set("dealer", whole);
  }
  const miles = named.get("miles");
  if (miles !== undefined && unit !== undefined) named.set("miles", { ...miles, number: { ...miles.number, unit } });
  const rules = [...named].filter(([, { from }]) => from.length > 0);
  const { dealer: identity = { from: places }, ...filled } = Object.fromEntries(
    rules.filter(([name]) => !name.includes(".")),
  );
  const ofDealer = rules.flatMap(([name, rule]) =>
    name.includes(".") ? [[name.slice("dealer.".length), rule] as const] : [],
  );
  return {
    fields: filled,
    dealer: { ...rest, key: [identity, ...key], fields: { name: { from: places }, ...Object.fromEntries(ofDealer) } },
  };
}

const chosenMatch = (target: ColumnTarget, column: string): Match => ({
  column,
  target,
  source: sourceOf(target, column),
  why: "name",
  score: 1,
  usable: 1,
  addresses: 0,
});

/** Returns the rules of matches by table and field. */
export async function rulesOf(session: Session, sample: Sample, matches: readonly Match[]): Promise<Rulesets> {
  const rules: Record<keyof Rulesets, Record<string, Rule>> = { inventory: {}, dealers: {}, dealer: {}, none: {} };
  for (const [target, ofTarget] of groupedBy(matches, (match) => match.target))
    rules[target.table][target.field] = await ruleOf(session, sample, ofTarget);
  return rules;
}

/** Returns the rule of a field from its columns, without conversions that they do not need. */
async function ruleOf(session: Session, { columns }: Sample, matches: readonly Match[]): Promise<Rule> {
  const { number, list, html, unitColumns = [], field } = matches[0]?.target ?? {};
  const { items, unit } = field === "miles" ? inOneUnit(matches) : { items: matches, unit: undefined };
  const sources = [...new Map(items.map(({ source }) => [JSON.stringify(source), source])).values()];
  // A name with a * also stands for the column without a number.
  const isCovered = (source: Source): boolean =>
    sources.some(
      (other) =>
        other !== source &&
        columnNameOf(other).includes("*") &&
        matchingColumns([columnNameOf(source)], columnNameOf(other)).length > 0,
    );
  const from = sources.filter((source) => !isCovered(source));
  const unitColumn = unitColumns.find((name) => matchingColumns(columns, name).length > 0);
  return {
    from,
    ...(html && { html }),
    ...(number && { number: { ...number, ...(unitColumn && { unitColumn }), ...(unit && { unit }) } }),
    ...(list && { list: { ...list, ...(await separatorOf(session, list, matches)) } }),
  };
}

/** Returns the first of the separators that many texts of the columns have; the last if none has. */
async function separatorOf(
  session: Session,
  { separator, before }: NonNullable<Rule["list"]>,
  matches: readonly Match[],
) {
  if (before !== undefined || typeof separator === "string" || separator === undefined) return {};
  const shares = separator.map((text) => sql`avg(contains("text", ${text})::INTEGER)`);
  const columns = matches.map(({ column }) => column);
  const row = await session.row(
    sql`SELECT list_position(list_transform([${join(shares)}], lambda share: share >= ${separatedMin}), true)::INTEGER AS place
        FROM cells WHERE list_contains(${columns}, "column")`,
  );
  return { separator: separator[typeof row?.place === "number" ? row.place - 1 : separator.length - 1] ?? "," };
}

const addressFields = ["line1", "city", "state", "postal_code", "country"] as const;
const places: readonly Source[] = [{ file: "folder" }, { file: "name" }];

const columnsOf = (rule: Rule | undefined): readonly string[] =>
  (rule?.from ?? []).map(columnNameOf).filter((column) => column !== "");

/**
 * Returns how the dealer of a row is identified: by an id, else by a name and ZIP code, and by its city and state where rows have no ZIP code; else by an
 * address, else by where the file is.
 */
async function dealerOf(session: Session, file: string, key: Rule | undefined, fields: Rules): Promise<Dealer> {
  const { name } = fields;
  if (key !== undefined) {
    const namespace = foldName(file.replace(/^.*\//, "").replace(/\..*$/, "")).replaceAll(/\d/g, "");
    const named = { from: [...(name?.from ?? []), ...key.from] };
    return { ...(namespace === "" ? {} : { namespace }), key: [key], fields: { ...fields, name: named } };
  }
  const located = (names: readonly string[]): readonly Rule[] =>
    names.flatMap((field) => (columnsOf(fields[field]).length > 0 ? (fields[field] ?? []) : []));
  if (name !== undefined) {
    const zips = columnsOf(fields.postal_code);
    const rowsWith = (columns: readonly string[]) =>
      sql`SELECT "row" FROM cells WHERE list_contains(${columns}, "column")`;
    const isPartial =
      zips.length === 0 || (await session.hasRows(sql`FROM (${rowsWith(columnsOf(name))} EXCEPT ${rowsWith(zips)})`));
    const others = located(["postal_code", ...(isPartial ? ["city", "state"] : [])]);
    return { key: [name, ...others], fields: { ...fields, name } };
  }
  const address = located(addressFields);
  if (address.length === 0) return { key: [{ from: places }], fields: { ...fields, name: { from: places } } };
  const template = address.map((rule) => `{${columnsOf(rule)[0]}}`).join(", ");
  return { key: address, fields: { ...fields, name: { from: [{ template }] } } };
}

export const writtenRules = (rules: Rules): Rules<FileRule> =>
  Object.fromEntries(Object.entries(rules).map(([field, rule]) => [field, writtenRule(rule)]));

/** Returns a rule in its shortest form. */
function writtenRule({ from, ...conversions }: Rule): FileRule {
  const sources = from.map(
    (source): FileSource => (source.column !== undefined && Object.keys(source).length === 1 ? source.column : source),
  );
  const [first] = sources;
  const isOne = sources.length === 1 && typeof first === "string";
  if (Object.keys(conversions).length > 0) return { from: isOne ? first : sources, ...conversions };
  return isOne ? first : sources;
}
