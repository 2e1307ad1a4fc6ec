/**
 * Verifies the serving files of a version against its Parquet files: the rows of every row file, and the counts of the search index. Reads
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
import type { ListingSource } from "../listing/source.ts";
import { LakeVersion } from "./lake-version.ts";
import { listingFiles } from "./listing-files.ts";
import { differingRows } from "./rows/verify-row-file.ts";
import { servingFormats } from "./serving-files.ts";

/** Maximum time of one comparison. */
const comparisonMs = 3_600_000;

/** Dealer ids are counted as dealers. */
const counted = [...categoryNames.filter((name) => name !== "dealer_id"), ...listNames];

/** What the index and Parquet have to agree on, for all active listings. */
const comparisons: Readonly<Record<string, (listings: ListingSource) => Promise<unknown>>> = {
  "counts of values": async (listings) => (await listings.countValues({ ...everything, attributes: counted })).values,
  "statistics of numbers": async (listings) => {
    const { total, summaries } = await listings.countValues({ ...everything, numbers: rangedNames });
    return [total, rangedNames.map((name) => summaries.get(name))];
  },
  "sorted pages": (listings) =>
    Promise.all(
      fixedSorts.map((sort) => listings.findPage({ filters: [], order: { by: "sort", sort }, limit: 100, offset: 0 })),
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

async function faultOf(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  { kind, format, source, path }: ServingFile,
): Promise<string | undefined> {
  const expected = servingFormats[kind];
  if (format !== expected) return `format ${format}: expected ${expected}; run carquet index`;
  if (kind === "index") return indexFault(lake, manifest, options);
  const built = listingFiles(manifest).find((listingFile) => listingFile.source === source);
  if (built === undefined) return undefined;
  const { inventory, file } = built;
  const rows = await differingRows({ inventory, folder: resolve(lake) }, join(lake, path), options);
  return rows === 0 ? undefined : `${rows} of ${file.rows} rows differ from ${file.path}`;
}

/** Compares the index with the current snapshot: counts of all values, statistics of all numbers, and the first page of each sort. */
async function indexFault(lake: string, manifest: Manifest, options: DatabaseOptions): Promise<string | undefined> {
  const faults: string[] = [];
  const openWith = (hasServingFiles: boolean): Promise<LakeVersion> =>
    LakeVersion.open(lake, manifest.version, {
      ...{ ...options, hasServingFiles, deadlineMs: comparisonMs },
      onFallback: (message) => faults.push(message),
    });
  const [served, parquet] = [await openWith(true), await openWith(false)];
  try {
    const [index, snapshot] = [served.activeOn(manifest.as_of), parquet.activeOn(manifest.as_of)];
    for (const [what, compared] of Object.entries(comparisons))
      if (!isDeepStrictEqual(await compared(index), await compared(snapshot)))
        return `${what} differ from the current snapshot`;
    return faults.find((fault) => fault.startsWith("search index"));
  } finally {
    served.close();
    parquet.close();
  }
}
