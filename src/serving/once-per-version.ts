/** What is derived from a whole version, for all requests. */
import { createOnce } from "../base/concurrency.ts";
import { serviceJob } from "../db/job.ts";
import type { Manifest } from "../lake/manifest.ts";
import type { LakeVersion } from "./lake-version.ts";

/** Returns a function that computes something of a version once, on behalf of all requests, and again after a failure. */
export function oncePerVersion<T>(compute: (version: LakeVersion) => Promise<T>): (version: LakeVersion) => Promise<T> {
  const computed = new WeakMap<Manifest, Promise<T>>();
  return (version) => createOnce(computed, version.manifest, () => compute(version.withJob(serviceJob())));
}
