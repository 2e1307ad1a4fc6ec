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
import type { Choices, ProposalSettings } from "./choices.ts";
import { aliases, columnNameOf, columnSource, type Match, targetName, targets } from "./match-columns.ts";
import { inOneUnit, metricMileage } from "./mileage-unit.ts";
import type { Sample } from "./sample.ts";

/** The share of texts that have the separator of their list. */
const separatedMin = 0.2;

/** Rules by the names of what they fill: `price`, `dealer`, `dealer.city`. */
type NamedRules = Map<string, Rule>;

type ColumnSource = Pick<Match, "column" | "target" | "source">;

/**
 * Returns the content of the mapping file, and the mileage that it only suggests, because its unit is to be decided. Throws a UserError if no column
 * has VINs.
 */
export async function writtenMapping(
  session: Session,
  sample: Sample,
  { used, suggested }: Readonly<Record<"used" | "suggested", readonly Match[]>>,
  { choices, isAccepting }: ProposalSettings,
) {
  const { name: file, preset, columns, hasHeader, records } = sample;
  const rules: NamedRules = new Map([...rulesOfPreset(preset), ...(await rulesOf(session, sample, used))]);
  await applyChoices(session, sample, rules, choices);
  if (!rules.has("vin")) {
    const known = used.map(({ column }) => column);
    throw fileError(
      { name: file },
      `${hasHeader ? ", row 0 (header)" : ""}: no column of VINs: expected one named VIN, or texts of 17 characters; ` +
        `found ${printableColumns(columns, known)}.`,
    );
  }
  const suggestions = await rulesOf(session, sample, suggested);
  const asked = await metricMileage(session, rules.get("miles"), columns);
  if (asked !== undefined) (isAccepting ? rules : suggestions).set("miles", asked.rule);
  if (asked !== undefined && !isAccepting) rules.delete("miles");
  const isKept = columnsOf(rules.get("dealer")).length > 0 || !isChosen(choices, "dealer.name");
  const { name, ...dealer } = preset && isKept ? keptIdentity(preset, rules) : await identityOf(session, file, rules);
  const layout = { ...preset?.file, ...(hasHeader ? {} : { header: false }), ...(records && { records }) };
  const { name: _, ...start }: Partial<Mapping> = preset ?? { unknown: aliases.unknown, required: ["vin", "dealer"] };
  const named = [...rules].filter(([field]) => field !== "dealer");
  const content: FileMapping = {
    version: mappingVersion,
    ...start,
    ...(Object.keys(layout).length > 0 && { file: layout }),
    fields: writtenRules(named.filter(([field]) => !field.startsWith("dealer."))),
    dealer: {
      ...dealer,
      key: dealer.key.map(writtenRule),
      fields: writtenRules([
        ["name", name],
        ...named.flatMap(([field, rule]) =>
          /^dealer\.(?!name$)/.test(field) ? [[field.slice(7), rule] as const] : [],
        ),
      ]),
    },
    ...(suggestions.size > 0 && { suggestions: writtenRules([...suggestions]) }),
  };
  return { content, asked: isAccepting ? undefined : asked };
}

function rulesOfPreset(preset: Mapping | undefined): readonly (readonly [string, Rule])[] {
  if (preset === undefined) return [];
  const { fields, dealer } = preset;
  const ofDealer = Object.entries(dealer.fields).map(([field, rule]) => [`dealer.${field}`, rule] as const);
  const [key = { from: locationSources }] = dealer.key;
  return [...Object.entries(fields), ...ofDealer, ["dealer", key]];
}

/** Returns the rules of matches. */
async function rulesOf(session: Session, sample: Sample, matches: readonly Match[]): Promise<NamedRules> {
  const rules: NamedRules = new Map();
  for (const target of targets) {
    const ofTarget = matches.filter((match) => match.target === target);
    if (ofTarget.length > 0) rules.set(targetName(target), await ruleOf(session, sample, ofTarget));
  }
  return rules;
}

const isChosen = ({ columns, constants }: Choices, name: string): boolean =>
  constants.has(name) || [...columns.values()].includes(name);

/** Applies choices: a chosen column fills its field alone, before other columns of it; a constant comes after all columns. */
async function applyChoices(
  session: Session,
  sample: Sample,
  rules: NamedRules,
  { columns, constants, unit }: Choices,
) {
  const isFree = (source: Source): boolean =>
    !matchingColumns(sample.columns, columnNameOf(source)).some((column) => columns.has(column));
  for (const [name, rule] of rules) {
    const from = rule.from.filter(isFree);
    if (from.length > 0) rules.set(name, { ...rule, from });
    else rules.delete(name);
  }
  const add = (name: string, rule: Rule, at: "before" | "after"): void => {
    const known = rules.get(name)?.from.filter((source) => columnNameOf(source) !== "") ?? [];
    const from = at === "before" ? [...rule.from, ...known] : [...known, ...rule.from];
    rules.set(name, { ...rule, ...rules.get(name), from });
  };
  for (const [column, name] of columns) {
    const target = targets.find((one) => targetName(one) === name && one.table !== "none");
    if (target !== undefined)
      add(name, await ruleOf(session, sample, [{ target, column, source: columnSource(target, column) }]), "before");
  }
  for (const [name, constant] of constants) add(name, { from: [{ constant }] }, "after");
  const miles = rules.get("miles");
  if (miles !== undefined && unit !== undefined) rules.set("miles", { ...miles, number: { ...miles.number, unit } });
}

/** Returns the rule of a field from its columns, without conversions that they do not need. */
async function ruleOf(session: Session, { columns }: Sample, matches: readonly ColumnSource[]): Promise<Rule> {
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
  matches: readonly ColumnSource[],
) {
  if (before !== undefined || typeof separator === "string" || separator === undefined) return {};
  const shares = separator.map((text) => sql`avg(contains("text", ${text})::INTEGER)`);
  const columns = matches.map(({ column }) => column);
  const row = await session.row(
    sql`SELECT list_position(list_transform([${join(shares)}], lambda share: share >= ${separatedMin}), true)::INTEGER AS position
        FROM cells WHERE list_contains(${columns}, "column")`,
  );
  return { separator: separator[typeof row?.position === "number" ? row.position - 1 : separator.length - 1] ?? "," };
}

const addressFields = ["line1", "city", "state", "postal_code", "country"] as const;
const locationSources: readonly Source[] = [{ file: "folder" }, { file: "name" }];

const columnsOf = (rule: Rule | undefined): readonly string[] =>
  (rule?.from ?? []).map(columnNameOf).filter((column) => column !== "");

/** How the dealer of a row is identified and named. */
interface Identity {
  readonly namespace?: string;
  readonly key: readonly Rule[];
  readonly name: Rule;
}

/** Returns the identity of a preset's dealers, whose rules can have other sources. */
function keptIdentity({ dealer: { key, namespace } }: Mapping, rules: NamedRules): Identity {
  const located = { from: locationSources };
  return {
    ...(namespace !== undefined && { namespace }),
    key: [rules.get("dealer") ?? located, ...key.slice(1)],
    name: rules.get("dealer.name") ?? located,
  };
}

/**
 * Returns how dealers are identified: by an id, else by a name and ZIP code, and by the city and state where rows have no ZIP code; else by an
 * address, else by where the file is.
 */
async function identityOf(session: Session, file: string, rules: NamedRules): Promise<Identity> {
  const id = rules.get("dealer");
  const name = rules.get("dealer.name");
  if (id?.from.some(({ file }) => file === undefined)) {
    const namespace = foldName(file.replace(/^.*\//, "").replace(/\..*$/, "")).replaceAll(/\d/g, "");
    const named = { from: [...(name?.from ?? []), ...id.from] };
    return { ...(namespace === "" ? {} : { namespace }), key: [id], name: named };
  }
  const located = (fields: readonly string[]): readonly Rule[] =>
    fields.flatMap((field) => rules.get(`dealer.${field}`) ?? []).filter((rule) => columnsOf(rule).length > 0);
  if (name !== undefined) {
    const rowsWith = (rule: Rule | undefined) =>
      sql`SELECT "row" FROM cells WHERE list_contains(${columnsOf(rule)}::VARCHAR[], "column")`;
    const zip = rules.get("dealer.postal_code");
    const isPartial =
      columnsOf(zip).length === 0 || (await session.hasRows(sql`FROM (${rowsWith(name)} EXCEPT ${rowsWith(zip)})`));
    return { key: [name, ...located(["postal_code", ...(isPartial ? ["city", "state"] : [])])], name };
  }
  const address = located(addressFields);
  if (address.length === 0) return { key: [{ from: locationSources }], name: { from: locationSources } };
  return { key: address, name: { from: [{ template: address.map((rule) => `{${columnsOf(rule)[0]}}`).join(", ") }] } };
}

const writtenRules = (rules: readonly (readonly [string, Rule])[]): Rules<FileRule> =>
  Object.fromEntries(rules.map(([field, rule]) => [field, writtenRule(rule)]));

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
