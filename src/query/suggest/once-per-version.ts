/** What is derived from a whole version, for all requests. */
import { serviceJob } from "../../db/job.ts";
import type { Manifest } from "../../lake/manifest.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";

/** Returns a function that computes something of a version once, on behalf of all requests, and again after a failure. */
export function oncePerVersion<T>(compute: (version: LakeVersion) => Promise<T>): (version: LakeVersion) => Promise<T> {
  const known = new WeakMap<Manifest, Promise<T>>();
  return (version) => {
    const { manifest } = version;
    const kept = known.get(manifest);
    if (kept !== undefined) return kept;
    const computed = compute(version.withJob(serviceJob()));
    known.set(manifest, computed);
    computed.catch(() => known.delete(manifest));
    return computed;
  };
}
