/**
 * Mapping files: rules that turn the columns of a foreign file into feed fields, and presets, the mappings of common layouts in `data/mappings/`.
 *
 * A file is as `schemas/mapping.json` says. In the `Mapping` that it becomes, every rule is a list of sources and the conversions of their value. A
 * file of another version, and a rule of an unknown field, is refused before any row is read.
 */
import { readFile } from "node:fs/promises";
import { isNotFound } from "../../base/files.ts";
import { isObject } from "../../base/json.ts";
import { projectPath, projectText } from "../../base/project-files.ts";
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
    throw new UserError(`${path}: invalid JSON in mapping file: ${printable(messageOf(thrown, path))}.`);
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

export const presetNames = [
  "cargurus",
  "frazer-dealercarsearch",
  "frazer-dealerwebsites",
  "google-ads",
  "google-listings",
  "homenet",
  "meta",
  "provider-pipe",
  "vauto",
  "vauto-web",
] as const;

export type PresetName = (typeof presetNames)[number];

const loaded = new Map<PresetName, Mapping>();

/** Returns the mapping of a preset. */
export function preset(name: PresetName): Mapping {
  const mapping = loaded.get(name) ?? mappingOf(JSON.parse(projectText(presetFile(name))), name);
  loaded.set(name, mapping);
  return mapping;
}

const presetFile = (name: PresetName): string => `data/mappings/${name}.json`;

export const presetPath = (name: PresetName): string => projectPath(presetFile(name));

/** Returns the preset of files with these columns: of those whose columns to recognize are all there, that with the most. */
export function recognizedPreset(columns: readonly string[]): Mapping | undefined {
  const names = new Set(columns.map(foldName));
  const fitting = presetNames
    .map(preset)
    .filter(({ recognize = [] }) => recognize.every((name) => names.has(foldName(name))));
  return fitting.sort((one, other) => (other.recognize?.length ?? 0) - (one.recognize?.length ?? 0))[0];
}

/** Returns a name without case, spaces and punctuation: providers write one header in many ways. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/**
 * Returns the columns that a mapping's name stands for: the one with exactly this name, else the first that equals it without case, spaces and
 * punctuation. If the name has a `*`, which stands for digits or nothing: all that match, by these numbers.
 */
export function matchingColumns(columns: readonly string[], name: string): readonly string[] {
  if (columns.includes(name)) return [name];
  const parts = name.split("*").map(foldName);
  if (parts.join("") === "") return [];
  const pattern = new RegExp(`^${parts.join("(\\d*)")}$`, "u");
  const found = columns.flatMap((column) => {
    const digits = pattern.exec(foldName(column))?.slice(1);
    return digits === undefined ? [] : [{ column, order: digits.map((number) => number.padStart(9, "0")).join() }];
  });
  if (parts.length === 1) return found.slice(0, 1).map(({ column }) => column);
  return found
    .sort((one, other) => (one.order < other.order ? -1 : Number(one.order > other.order)))
    .map(({ column }) => column);
}

/** Returns the names of the columns of a foreign file, each once in any case: the second `Photo` is `Photo (2)`, a fifth without a name `column 5`. */
export function distinctNames(names: readonly string[]): readonly string[] {
  const taken = new Set(["row"]);
  return names.map((name, index) => {
    const base = name.trim() === "" ? `column ${index + 1}` : name;
    let distinct = base;
    for (let number = base.toLowerCase() === "row" ? 1 : 2; taken.has(distinct.toLowerCase()); number += 1)
      distinct = number === 1 ? `${base}_` : `${base} (${number})`;
    taken.add(distinct.toLowerCase());
    return distinct;
  });
}
