/** Followers for tests. */
import { folderSource } from "../../../src/replication/folder-source.ts";
import { Follower, type FollowerOptions } from "../../../src/replication/follower.ts";
import { httpSource } from "../../../src/replication/http-source.ts";
import type { LakeSource } from "../../../src/replication/source.ts";

/** Returns the source of a folder or of a URL. */
export const sourceAt = (location: string): LakeSource =>
  /^https?:/.test(location) ? httpSource(new URL(location)) : folderSource(location);

/** Creates a follower of a source, or of the folder or URL of one, with short timeouts. */
export const createTestFollower = (
  source: string | LakeSource,
  lake: string,
  options: Partial<FollowerOptions> = {},
): Follower =>
  new Follower(typeof source === "string" ? sourceAt(source) : source, lake, {
    stallMs: 500,
    retryMs: 10,
    transfers: 3,
    versionDays: 14,
    graceMs: 3_600_000,
    engine: { threads: 1 },
    buildsServingFiles: true,
    nowMs: () => Date.now(),
    onStep: () => undefined,
    ...options,
  });
