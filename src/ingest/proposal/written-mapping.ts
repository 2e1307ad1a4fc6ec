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
import { aliases, type ColumnTarget, type Match, targets } from "./match-columns.ts";
import type { Sample } from "./sample.ts";

/** The share of texts that have the separator of their list. */
const separatedMin = 0.2;

/** Returns the content of the mapping file. Throws a UserError if no column has VINs. */
export async function writtenMapping(session: Session, sample: Sample, chosen: readonly Match[]): Promise<FileMapping> {
  const { name, preset, columns, hasHeader } = sample;
  const rulesOf = async (table: ColumnTarget["table"]): Promise<Rules> => {
    const rules: Record<string, Rule> = {};
    for (const target of targets) {
      const matches = chosen.filter((match) => match.target === target);
      if (target.table === table && matches.length > 0) rules[target.field] = await ruleOf(session, sample, matches);
    }
    return rules;
  };
  const fields = { ...(await rulesOf("inventory")), ...preset?.fields };
  if (fields.vin === undefined) {
    const known = chosen.map(({ column }) => column);
    throw fileError(
      { name },
      `${hasHeader ? ", row 0 (header)" : ""}: no column of VINs: expected one named VIN, or texts of 17 characters; ` +
        `found ${printableColumns(columns, known)}.`,
    );
  }
  if (preset !== undefined) {
    const { name: _, ...content } = preset;
    return { ...content, fields: writtenRules(fields), dealer: writtenDealer(preset.dealer) };
  }
  const { dealer: key, ...ofKey } = await rulesOf("dealer");
  return {
    version: mappingVersion,
    ...(hasHeader ? {} : { file: { header: false } }),
    unknown: aliases.unknown,
    required: ["vin", "dealer"],
    fields: writtenRules(fields),
    dealer: writtenDealer(dealerOf(name, key, { ...ofKey, ...(await rulesOf("dealers")) })),
  };
}

/** Returns the rule of a field from its columns, without conversions that they do not need. */
async function ruleOf(session: Session, { columns }: Sample, matches: readonly Match[]): Promise<Rule> {
  const { number, list, html } = matches[0]?.target ?? {};
  const from = [...new Map(matches.map(({ source }) => [JSON.stringify(source), source])).values()];
  const { unitColumn = "", ...plain } = number ?? {};
  const isMetric = matches.some(({ column }) => /\b(?:km|kms|kilomet(?:er|re)s)\b/i.test(column.replaceAll("_", " ")));
  const unit = matchingColumns(columns, unitColumn).length > 0 ? { unitColumn } : {};
  return {
    from,
    ...(html && { html }),
    ...(number && { number: { ...plain, ...unit, ...(isMetric && { unit: "km" }) } }),
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

/** Returns how the dealer of a row is identified: by an id, else by a name and ZIP code, else by an address, else by where the file is. */
function dealerOf(file: string, key: Rule | undefined, fields: Rules): Mapping["dealer"] {
  const { name, postal_code } = fields;
  if (key !== undefined) {
    const namespace = foldName(file.replace(/^.*\//, "").replace(/\..*$/, "")).replaceAll(/\d/g, "");
    const named = { from: [...(name?.from ?? []), ...key.from] };
    return { ...(namespace === "" ? {} : { namespace }), key: [key], fields: { ...fields, name: named } };
  }
  if (name !== undefined)
    return { key: [name, ...(postal_code === undefined ? [] : [postal_code])], fields: { ...fields, name } };
  const address = addressFields.flatMap((field) => fields[field] ?? []);
  const places: readonly Source[] = [{ file: "folder" }, { file: "name" }];
  if (address.length === 0) return { key: [{ from: places }], fields: { ...fields, name: { from: places } } };
  const template = address.map(({ from: [source] }) => `{${source?.column}}`).join(", ");
  return { key: address, fields: { ...fields, name: { from: [{ template }] } } };
}

const writtenDealer = ({ key, fields, ...dealer }: Mapping["dealer"]): FileMapping["dealer"] => ({
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
