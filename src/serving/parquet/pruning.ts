/**
 * Prunes Parquet files of listings by the range of makes that the manifest lists: files are sorted by make first, and a large day has
 * several. A pruned file is neither read nor hashed.
 */
import type { LakeFile } from "../../lake/manifest.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Dimensions } from "../dimensions.ts";

/** Returns the files without those that cannot contain a listing of a requested make. */
export function filesMatching(
  files: readonly LakeFile[],
  filters: readonly Filter[],
  dimensions: Dimensions,
): readonly LakeFile[] {
  const makes = filters.flatMap((filter) =>
    filter.kind === "anyOf" && filter.attribute === "make"
      ? [filter.values.flatMap((value) => dimensions.spellingsOf("make", String(value)))]
      : [],
  );
  return files.filter((file) => makes.every((spellings) => spellings.some((make) => isInRange(make, file))));
}

/** Compares bytes, as Parquet statistics do. A file without a range may contain any make. */
function isInRange(make: string, { min, max }: LakeFile): boolean {
  if (min === null || max === null) return true;
  const bytes = Buffer.from(make);
  return bytes.compare(Buffer.from(min)) >= 0 && bytes.compare(Buffer.from(max)) <= 0;
}
