/**
 * Mapping files: rules that turn the columns of a foreign file into feed fields.
 *
 * A file is as `schemas/mapping.json` says. In the `Mapping` that it becomes, every rule is a list of sources and the conversions of their value. A
 * file of another version, and a rule of an unknown field, is refused before any row is read.
 */
import { readFile } from "node:fs/promises";
import { isNotFound } from "../../base/files.ts";
import { isObject } from "../../base/json.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { checker } from "../../contract/schema.ts";
import { type FeedTable, feed, isTextList } from "../feed/feed-schema.ts";
import {
  type FileMapping,
  type FileRule,
  type FileSource,
  type Mapping,
  mappingVersion,
  type Rule,
  type Rules,
} from "./rules.ts";

const check = checker<FileMapping>("mapping");

/** Reads a mapping file. Throws a UserError if it does not match the schema or names an unknown field. */
export const readMapping = (path: string): Promise<Mapping> => mappingIn(path, path);

/** Reads a mapping file that messages call by another name. */
export const mappingIn = async (path: string, name: string): Promise<Mapping> => mappingOf(await readJson(path), name);

/**
 * Returns the mapping that a parsed file contains. Throws a UserError if it has another version, does not match the schema or names an unknown
 * field.
 */
export function mappingOf(content: unknown, name: string): Mapping {
  if (isObject(content) && content.version !== mappingVersion)
    throw new UserError(
      `${printable(name)}: unsupported mapping version ${printable(JSON.stringify(content.version) ?? "none", 40)}: expected ${mappingVersion}. ` +
        "Write the mapping again as docs/mappings.md describes, or with carquet map.",
    );
  const written = check(content, name);
  const fail = (rule: string, message: string): never => {
    throw new UserError(`${printable(name)}: ${rule}: ${message}`);
  };
  const rulesOf = (table: FeedTable, path: string, rules: Rules<FileRule>): Rules => {
    checkFieldNames(name, table, rules);
    const entries = Object.entries(rules).map(([field, rule]) => {
      const whole = ruleOf(rule, (message) => fail(`${path}.${field}`, message));
      if (whole.list !== undefined && !isTextList(feed[table].properties[field]))
        fail(`${path}.${field}.list`, `expected only in fields that are lists: ${listFieldsOf(table).join(", ")}.`);
      return [field, whole] as const;
    });
    return Object.fromEntries(entries);
  };
  const { fields, dealer } = written;
  return {
    ...written,
    name,
    fields: rulesOf("inventory", "fields", fields),
    dealer: {
      ...dealer,
      key: dealer.key.map((rule, index) => ruleOf(rule, (message) => fail(`dealer.key[${index}]`, message))),
      fields: rulesOf("dealers", "dealer.fields", dealer.fields),
    },
  };
}

const listFieldsOf = (table: FeedTable): readonly string[] =>
  Object.entries(feed[table].properties).flatMap(([field, schema]) => (isTextList(schema) ? [field] : []));

const isSources = (rule: FileRule | FileSource | readonly FileSource[]): rule is readonly FileSource[] =>
  Array.isArray(rule);

/** Returns a rule with its sources as a list. Calls `fail` if one of them has not exactly one origin. */
function ruleOf(rule: FileRule, fail: (message: string) => never): Rule {
  const { from, ...conversions } = typeof rule === "string" || isSources(rule) ? { from: rule } : rule;
  const sources = (isSources(from) ? from : [from]).map((source) =>
    typeof source === "string" ? { column: source } : source,
  );
  for (const [index, { column, template, constant, file }] of sources.entries())
    if ([column, template, constant, file].filter((origin) => origin !== undefined).length !== 1)
      fail(`invalid source ${index + 1}: expected exactly one of column, template, constant, file.`);
  return { ...conversions, from: sources };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (thrown) {
    if (isNotFound(thrown)) throw new UserError(`${path}: mapping file not found.`);
    throw new UserError(`${path}: invalid JSON in mapping file: ${printable(messageOf(thrown))}.`);
  }
}

function checkFieldNames(name: string, table: FeedTable, rules: Rules<unknown>): void {
  const known = Object.keys(feed[table].properties);
  const unknown = Object.keys(rules).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  throw new UserError(
    `${printable(name)}: unknown field "${printable(unknown, 40)}" of ${table}: expected one of ${known.join(", ")}.`,
  );
}
