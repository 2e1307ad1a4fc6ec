/**
 * Known columns: the names under which files have each field. They are those of `data/mappings/aliases.json`, which come first, of the Carquet
 * format and of the presets.
 */
import { projectText } from "../../base/project-files.ts";
import { wordsOf } from "../../db/text-matching.ts";
import { type FeedTable, feed } from "../feed/feed-schema.ts";
import { foldName } from "../mapping/column-matching.ts";
import { preset, presetNames } from "../mapping/presets.ts";
import type { Conversions, FileSource, Source } from "../mapping/rules.ts";

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
}

interface AliasTable extends Readonly<Record<"inventory" | "dealers", Readonly<Record<string, FieldAliases>>>> {
  readonly unknown: readonly string[];
  /** Words of names that say nothing. */
  readonly fillers: readonly string[];
  /** Columns that no field has: costs, comments, dates. */
  readonly none: readonly string[];
  /** Columns that identify a dealer. */
  readonly dealer: FieldAliases;
}

export const aliases: AliasTable = JSON.parse(projectText("data/mappings/aliases.json"));

/** What a column can fill: a field, the dealer's key, or nothing. */
export interface ColumnTarget extends Omit<FieldAliases, "columns"> {
  readonly table: FeedTable | "dealer" | "none";
  readonly field: string;
  /** All sources by which files fill it, in the order in which they are used. */
  readonly sources: readonly Source[];
}

/** Returns the column of a source; empty if it has none. */
export const columnNameOf = ({ column, when }: Source): string => column ?? when?.column ?? "";

/** Returns a source that reads another column. */
export const withColumn = (source: Source, column: string): Source =>
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

function targetOf(table: ColumnTarget["table"], field: string, { columns, ...entry }: FieldAliases): ColumnTarget {
  const sources = new Map<string, Source>();
  for (const written of columns) {
    const source = typeof written === "string" ? { column: written } : written;
    const key = `${foldName(columnNameOf(source))} ${columnNameOf(source).includes("*")} ${source.constant ?? ""}`;
    if (columnNameOf(source) !== "" && !sources.has(key)) sources.set(key, { ...source, ...entry.each, ...source });
  }
  return { ...entry, table, field, sources: [...sources.values()] };
}

/** Returns the words of a column's name that say something, in any order, as one text. */
export const wordKeyOf = (name: string): string =>
  wordsOf(name.replaceAll(/([a-z])([A-Z])/g, "$1 $2"))
    .filter((word) => !aliases.fillers.includes(word))
    .sort()
    .join(" ");

/** Returns items by key, both in their order. */
export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key) {
  const groups = new Map<Key, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
