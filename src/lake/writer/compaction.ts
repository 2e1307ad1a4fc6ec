/**
 * Tiered compaction: selects the small files of an append-only table that are rewritten together with new rows. The number of files, and
 * the number of times a row is rewritten, grow with the logarithm of the rows.
 */
import type { LakeFile } from "../manifest.ts";

/** A tier is compacted while it has fewer than this many times the rows of everything newer. */
const tierRatio = 4;

/**
 * Splits the files of a partition, oldest first, into those to keep and those to merge with the new rows. The files of one publish
 * form one tier.
 */
export function filesToCompact(
  files: readonly LakeFile[],
  newRows: number,
): { readonly kept: readonly LakeFile[]; readonly merged: readonly LakeFile[] } {
  const tiers = tiersOf(files);
  let [keptTiers, rows] = [tiers.length, newRows];
  for (
    let tier = tiers[keptTiers - 1];
    tier !== undefined && rowsIn(tier) < tierRatio * rows;
    tier = tiers[keptTiers - 1]
  ) {
    rows += rowsIn(tier);
    keptTiers -= 1;
  }
  return { kept: tiers.slice(0, keptTiers).flat(), merged: tiers.slice(keptTiers).flat() };
}

/** Groups files by the publish that wrote them, oldest first. */
export const tiersOf = (files: readonly LakeFile[]): readonly (readonly LakeFile[])[] =>
  [...new Set(files.map(tierOf))].map((tier) => files.filter((file) => tierOf(file) === tier));

/** Returns a file's path without its part number: the files of one publish share it. */
const tierOf = ({ path }: LakeFile): string => path.replace(/(-\d+)?\.parquet$/, "");

const rowsIn = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);
