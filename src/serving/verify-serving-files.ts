/**
 * Verifies the serving files of a version against its Parquet files: the rows of every row file, and what each search index counts. Reads
 * only; sizes and SHA-256 are checked by `lake/maintenance/verify.ts`.
 */
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../base/user-error.ts";
import type { DatabaseOptions } from "../db/duckdb.ts";
import { lacksServingFiles } from "../lake/maintenance/verify.ts";
import type { Manifest, ServingFile } from "../lake/manifest.ts";
import { categoryNames, listNames, rangedNames } from "../listing/schema.ts";
import { fixedSorts } from "../listing/sorts.ts";
import type { IndexedRows } from "./index/indexed-rows.ts";
import { LakeVersion, type Listings } from "./lake-version.ts";
import { listingTableOf } from "./listing-files.ts";
import { differingRows } from "./rows/verify-row-file.ts";
import { neededFiles, servingFormats } from "./serving-files.ts";

/** Maximum time of one comparison. */
const comparisonMs = 3_600_000;

/** Dealer ids are counted as dealers. */
const counted = [...categoryNames.filter((name) => name !== "dealer_id"), ...listNames];

/** What the index and Parquet have to agree on, for all active listings. */
const comparisons: Readonly<Record<string, (listings: Listings) => Promise<unknown>>> = {
  "counts of values": async (listings) => (await listings.countValues({ ...everything, attributes: counted })).values,
  "statistics of numbers": async (listings) => {
    const { total, summaries } = await listings.countValues({ ...everything, numbers: rangedNames });
    return [total, rangedNames.map((name) => summaries.get(name))];
  },
  "sorted pages": (listings) =>
    Promise.all(
      fixedSorts.map(async (sort) => {
        const request = { filters: [], order: { by: "sort", sort }, limit: 100, offset: 0 } as const;
        const { total, places } = await listings.findPage(request);
        return [total, (await listings.read(places, ["id"])).map(([id]) => id)];
      }),
    ),
};

const everything = {
  ...{ filters: [], attributes: [], numbers: [], sort: "-count" as const },
  ...{ limit: 2 ** 31 - 1, rangesOf: () => [] },
} as const;

/**
 * Returns the faults of a version's serving files as messages; empty if there are none, or if the lake lacks their folder. Expects intact
 * Parquet files. Calls `onFile` before each file.
 */
export async function verifyServingFiles(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  onFile: (path: string, index: number, count: number) => void,
): Promise<readonly string[]> {
  const faults: string[] = [];
  if (lacksServingFiles(lake, manifest)) return faults;
  for (const [index, file] of manifest.serving.entries()) {
    onFile(file.path, index + 1, manifest.serving.length);
    const fault = await faultOf(lake, manifest, options, file).catch((thrown: unknown) => messageOf(thrown));
    if (fault !== undefined) faults.push(`${file.path}: ${fault.split("\n")[0]}`);
  }
  return faults;
}

/** What to compare of an index: listings of some of its days, and sold ones, each under its name. */
function compared({ days, as_of }: Manifest, { first, last, today, past, sold }: IndexedRows) {
  const held = Object.keys(days).filter((day) => first <= day && day <= last);
  const chosen = past.length === 0 ? [] : [held[0], held[held.length >> 1], held.at(-1)];
  const named = new Set([...(today === undefined ? [] : [as_of]), ...chosen].filter((day) => day !== undefined));
  return new Map<string, (version: LakeVersion) => Listings>([
    ...[...named].map((day) => [`on ${day}`, (version: LakeVersion) => version.activeOn(day)] as const),
    ...(sold.length === 0 ? [] : [["of sold listings", (version: LakeVersion) => version.soldIn(sold)] as const]),
  ]);
}

async function faultOf(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  { kind, format, source, path }: ServingFile,
): Promise<string | undefined> {
  const expected = servingFormats[kind];
  if (format !== expected) return `format ${format}: expected ${expected}; run carquet index`;
  const needed = neededFiles(manifest).find((one) => one.kind === kind && one.source === source);
  if (needed === undefined) return undefined;
  if (needed.kind === "index") return indexFault(lake, manifest, needed.of, options);
  const { file } = needed.of;
  const rowSource = { table: listingTableOf(needed.of), file, folder: resolve(lake) };
  const rows = await differingRows(rowSource, join(lake, path), options);
  return rows === 0 ? undefined : `${rows} of ${file.rows} rows differ from ${file.path}`;
}

/** Compares an index with the Parquet files, on some days of its month: counts of all values, statistics of all numbers, and the first page of each sort. */
async function indexFault(
  lake: string,
  manifest: Manifest,
  rows: IndexedRows,
  options: DatabaseOptions,
): Promise<string | undefined> {
  const faults: string[] = [];
  const openWith = (hasServingFiles: boolean): Promise<LakeVersion> =>
    LakeVersion.open(lake, manifest.version, {
      ...{ ...options, hasServingFiles, deadlineMs: comparisonMs },
      onFallback: (message) => faults.push(message),
    });
  const [served, parquet] = [await openWith(true), await openWith(false)];
  try {
    for (const [which, listingsIn] of compared(manifest, rows)) {
      const [index, files] = [listingsIn(served), listingsIn(parquet)];
      for (const [what, read] of Object.entries(comparisons))
        if (!isDeepStrictEqual(await read(index), await read(files)))
          return `${what} differ from the Parquet files ${which}`;
    }
    return faults.find((fault) => fault.startsWith("search index"));
  } finally {
    served.close();
    parquet.close();
  }
}
