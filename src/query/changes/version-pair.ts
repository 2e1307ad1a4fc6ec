/** Two versions of a lake whose markets are compared. */
import { createOnce } from "../../base/concurrency.ts";
import { type Manifest, readManifest, versionsIn } from "../../lake/manifest.ts";
import { requireKept } from "../../serving/kept-versions.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";

export interface VersionPair {
  readonly before: Manifest;
  readonly after: Manifest;
  /**
   * Whether the newer version has the older one's day unchanged: a row with an equal `valid_from` is then the same row in both, and keys mean the same.
   * Otherwise all rows are compared by their content.
   */
  readonly isContinued: boolean;
}

/** The pairs of a version, by the older one. A version has as many as versions are kept. */
const pairs = new WeakMap<Manifest, Map<string, Promise<VersionPair>>>();

/** Returns a version with an older one. Refuses with `version_unavailable` if that is not kept. */
export async function pairWith(since: string, { manifest, folder }: LakeVersion): Promise<VersionPair> {
  await requireKept(folder, since, "since");
  const known = pairs.get(manifest) ?? new Map<string, Promise<VersionPair>>();
  pairs.set(manifest, known);
  return createOnce(known, since, () => readPair(since, manifest, folder));
}

async function readPair(since: string, after: Manifest, folder: string): Promise<VersionPair> {
  const before = await readManifest(folder, since);
  return { before, after, isContinued: await isContinuation(before, after, folder) };
}

/** Returns whether the versions from one to another are all kept, and none of them replayed a day that the first one has. */
async function isContinuation(before: Manifest, after: Manifest, folder: string): Promise<boolean> {
  if (after.days[before.as_of] === undefined) return false;
  const kept = new Set(await versionsIn(folder));
  for (let version = after; version.version !== before.version; ) {
    const { previous, replayed_from } = version;
    const isReplay = replayed_from !== undefined && replayed_from <= before.as_of;
    if (isReplay || previous === null || !kept.has(previous)) return false;
    version = await readManifest(folder, previous);
  }
  return true;
}
