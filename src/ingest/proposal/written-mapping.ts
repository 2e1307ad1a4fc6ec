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
import { aliases, type ColumnTarget, columnNameOf, type Match, targetName, targets } from "./match-columns.ts";
import { inOneUnit } from "./mileage-unit.ts";
import type { Sample } from "./sample.ts";

/** The share of texts that have the separator of their list. */
const separatedMin = 0.2;

type Dealer = Mapping["dealer"];
type Rulesets = Readonly<Record<ColumnTarget["table"], Rules>>;

/** Returns the content of the mapping file, by the matches that are used. Throws a UserError if no column has VINs. */
export async function writtenMapping(
  session: Session,
  sample: Sample,
  used: readonly Match[],
  choices: Choices,
): Promise<FileMapping> {
  const { name, preset, columns, hasHeader, records } = sample;
  const rules = await rulesOf(session, sample, used, choices);
  const base = preset === undefined ? undefined : withoutColumns(preset, sample, choices);
  const fields = withConstants(merged(base?.fields, rules.inventory), choices, "");
  if (fields.vin === undefined) {
    const known = used.map(({ column }) => column);
    throw fileError(
      { name },
      `${hasHeader ? ", row 0 (header)" : ""}: no column of VINs: expected one named VIN, or texts of 17 characters; ` +
        `found ${printableColumns(columns, known)}.`,
    );
  }
  const layout = { ...preset?.file, ...(hasHeader ? {} : { header: false }), ...(records && { records }) };
  const { name: _, ...start } = preset ?? {
    name,
    version: mappingVersion,
    unknown: aliases.unknown,
    required: ["vin", "dealer"],
  };
  const dealerFields = withConstants(merged(base?.dealer.fields, rules.dealers), choices, "dealer.");
  const { dealer: key } = rules.dealer;
  const constant = choices.constants.get("dealer");
  const dealer =
    base === undefined
      ? await dealerOf(session, name, withConstant(key, constant), dealerFields)
      : { ...base.dealer, key: presetKey(base.dealer.key, key, choices), fields: dealerFields };
  return {
    ...start,
    ...(Object.keys(layout).length > 0 && { file: layout }),
    fields: writtenRules(fields),
    dealer: writtenDealer(dealer),
  };
}

/** Returns the rules of matches by table and field. */
export async function rulesOf(
  session: Session,
  sample: Sample,
  matches: readonly Match[],
  choices: Choices,
): Promise<Rulesets> {
  const rules: Record<keyof Rulesets, Record<string, Rule>> = { inventory: {}, dealers: {}, dealer: {}, none: {} };
  for (const target of targets) {
    const ofTarget = matches.filter((match) => match.target === target);
    if (ofTarget.length > 0)
      rules[target.table][target.field] = await ruleOf(
        session,
        sample,
        ofTarget,
        target.field === "miles" ? choices.unit : undefined,
      );
  }
  return rules;
}

/** Returns rules by the names of their fields, as a mapping file has them. */
export const namedRules = (matches: readonly Match[], rules: Rulesets): Rules<FileRule> =>
  Object.fromEntries(
    [...new Set(matches.map(({ target }) => target))].flatMap((target) => {
      const rule = rules[target.table][target.field];
      return rule === undefined ? [] : [[targetName(target), writtenRule(rule)]];
    }),
  );

/** Returns a preset without the columns that are chosen for other fields. */
function withoutColumns(preset: Mapping, { columns }: Sample, choices: Choices): Pick<Mapping, "fields" | "dealer"> {
  const isKept = (source: Source): boolean =>
    !matchingColumns(columns, columnNameOf(source)).some((column) => choices.columns.has(column));
  const ruleWithout = (rule: Rule): readonly Rule[] => {
    const from = rule.from.filter(isKept);
    return from.length === 0 ? [] : [{ ...rule, from }];
  };
  const without = (rules: Rules): Rules =>
    Object.fromEntries(Object.entries(rules).flatMap(([field, rule]) => ruleWithout(rule).map((one) => [field, one])));
  const key = preset.dealer.key.flatMap(ruleWithout);
  const { name = { from: places }, ...fields } = without(preset.dealer.fields);
  return {
    fields: without(preset.fields),
    dealer: { ...preset.dealer, key: key.length === 0 ? [{ from: places }] : key, fields: { name, ...fields } },
  };
}

/** Returns the rules of a preset, with the sources of others before those of their fields. */
const merged = (base: Rules = {}, rules: Rules): Rules => ({
  ...base,
  ...Object.fromEntries(
    Object.entries(rules).map(([field, rule]) => {
      const known = base[field];
      return [field, known === undefined ? rule : { ...known, from: [...rule.from, ...known.from] }];
    }),
  ),
});

/** Adds the constants of fields whose names begin with a prefix, after all other sources. */
function withConstants(rules: Rules, { constants }: Choices, prefix: string): Rules {
  const chosen = [...constants].filter(([name]) => name !== "dealer" && name.replace(/[^.]*$/, "") === prefix);
  const added = chosen.map(([name, constant]) => {
    const field = name.slice(prefix.length);
    return [field, withConstant(rules[field], constant) ?? { from: [] }] as const;
  });
  return { ...rules, ...Object.fromEntries(added) };
}

/** Returns a rule whose value is a constant where its sources have none. */
const withConstant = (rule: Rule | undefined, constant: string | undefined): Rule | undefined =>
  constant === undefined ? rule : { ...rule, from: [...(rule?.from ?? []), { constant }] };

/** Returns the key of a preset's dealers: a chosen column instead of its own, and a constant where it has no value. */
function presetKey(key: Dealer["key"], chosen: Rule | undefined, { constants }: Choices): Dealer["key"] {
  const [first, ...others] = chosen === undefined ? key : [chosen];
  const whole = withConstant(first, constants.get("dealer") ?? constants.get("dealer.name"));
  return whole === undefined ? key : [whole, ...others];
}

/** Returns the rule of a field from its columns, without conversions that they do not need. */
async function ruleOf(
  session: Session,
  { columns }: Sample,
  matches: readonly Match[],
  chosenUnit: string | undefined,
): Promise<Rule> {
  const { number, list, html, unitColumns = [], field } = matches[0]?.target ?? {};
  const { items, unit = chosenUnit } = field === "miles" ? inOneUnit(matches) : { items: matches, unit: undefined };
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

const writtenDealer = ({ key, fields, ...dealer }: Dealer): FileMapping["dealer"] => ({
  ...dealer,
  key: key.map(writtenRule),
  fields: writtenRules(fields),
});

const writtenRules = (rules: Rules): Rules<FileRule> =>
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
