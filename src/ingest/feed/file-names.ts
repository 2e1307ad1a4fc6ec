/** Kinds of feed files by their names. */
import type { FeedFile } from "./feed-file.ts";
import { feedTables } from "./feed-schema.ts";

const plainFormats = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".ndjson": "ndjson",
  ".json": "json",
  ".xml": "xml",
} as const satisfies Readonly<Record<string, FeedFile["format"]>>;

type Kind = Pick<FeedFile, "format" | "isGzip">;

const kinds: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(
    Object.entries(plainFormats).flatMap(([ending, format]): [string, Kind][] => [
      [ending, { format, isGzip: false }],
      [`${ending}.gz`, { format, isGzip: true }],
    ]),
  ),
  ".parquet": { format: "parquet", isGzip: false },
  ".zip": { format: "zip", isGzip: false },
};

/** The endings of feed files, as a list for messages. */
export const feedEndings = Object.keys(kinds).join(", ");

/** Returns the kind of a file by the ending of its name; undefined if it is no feed file. */
export const fileOf = (name: string): Kind | undefined =>
  Object.entries(kinds).find(([ending]) => name.toLowerCase().endsWith(ending))?.[1];

/** Returns the table of a file: that with which its name begins, else the inventory, which it is only by a mapping. */
export function tableOfName(name: string): Pick<FeedFile, "table" | "isForeign"> {
  const table = feedTables.find((prefix) => name.toLowerCase().startsWith(prefix));
  return table === undefined ? { table: "inventory", isForeign: true } : { table };
}
