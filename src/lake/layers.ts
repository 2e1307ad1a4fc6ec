/**
 * Tables that grow by a little with each publish, kept in few files: what is new is written together with the files before it
 * that are not much larger. The number of files grows with the logarithm of the rows, and each row is rewritten as seldom.
 */
import type { LakeFile } from "./manifest.ts";

/** A file is merged with newer rows unless it has at least so many times as many. */
const ratio = 4;

/** Splits a partition's files, oldest first: those that stay, and those to be written again together with new rows. */
export function layersFor(
  files: readonly LakeFile[],
  newRows: number,
): { readonly kept: readonly LakeFile[]; readonly merged: readonly LakeFile[] } {
  let [at, rows] = [files.length, newRows];
  for (let file = files[at - 1]; file !== undefined && file.rows < ratio * rows; file = files[at - 1]) {
    rows += file.rows;
    at -= 1;
  }
  return { kept: files.slice(0, at), merged: files.slice(at) };
}
