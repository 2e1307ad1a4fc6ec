/** What a lake takes on disk, per active listing and year. */
import type { Results } from "./results.ts";

/** The lake format of runs that do not state it. */
const unstatedFormat = 2;

/** Returns the lake format of a run. */
export const lakeFormatOf = ({ dataset }: Pick<Results, "dataset">): number =>
  dataset.storage?.format ?? unstatedFormat;

/** Returns a sentence about the bytes per active listing and year; undefined for runs that do not state them. */
export function storageNote({ dataset: { storage } }: Pick<Results, "dataset">): string | undefined {
  if (storage === undefined) return undefined;
  const { days, active, tables, serving } = storage;
  const bytesOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + (tables[name] ?? 0), 0);
  const perYear = (bytes: number): string => Math.round((bytes / active) * (365 / days)).toLocaleString("en");
  const all = bytesOf(Object.keys(tables));
  const history = bytesOf(["listings", "snapshots"]);
  return [
    `Bytes per active listing and year, over ${days} days of ${Math.round(active).toLocaleString("en")} listings:`,
    `${perYear(history)} in listings and snapshots (${perYear(bytesOf(["snapshots"]))} in ended intervals alone, which grow with the days),`,
    `${perYear(all)} in all tables, ${perYear(all + serving)} with serving files.`,
  ].join(" ");
}
