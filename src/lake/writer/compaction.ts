/**
 * Tables that grow by a little with each publish, kept in few files: what is new is written together with the files before it
 * that are not much larger. The number of files grows with the logarithm of the rows, and each row is rewritten as seldom.
 */
import type { LakeFile } from "../manifest.ts";

/** A file is merged with newer rows unless it has at least so many times as many. */
const ratio = 4;

/**
 * Splits a partition's files, oldest first: those that stay, and those to be written again together with new rows. Files that one
 * publish wrote are one layer.
 */
export function filesToCompact(
  files: readonly LakeFile[],
  newRows: number,
): { readonly kept: readonly LakeFile[]; readonly merged: readonly LakeFile[] } {
  const layers = [...new Set(files.map(layerOf))].map((layer) => files.filter((file) => layerOf(file) === layer));
  let [at, rows] = [layers.length, newRows];
  for (let layer = layers[at - 1]; layer !== undefined && rowsIn(layer) < ratio * rows; layer = layers[at - 1]) {
    rows += rowsIn(layer);
    at -= 1;
  }
  return { kept: layers.slice(0, at).flat(), merged: layers.slice(at).flat() };
}

/** The version that a file is named after, without the number of its part. */
const layerOf = ({ path }: LakeFile): string => path.replace(/(-\d+)?\.parquet$/, "");

const rowsIn = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);
