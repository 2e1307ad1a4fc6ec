/** Followers for tests. */
import { folderSource } from "../../../src/replication/folder-source.ts";
import { Follower, type FollowerOptions } from "../../../src/replication/follower.ts";
import { httpSource } from "../../../src/replication/http-source.ts";

/** Creates a follower of a folder or of a URL, with short timeouts. */
export const createTestFollower = (source: string, lake: string, options: Partial<FollowerOptions> = {}): Follower =>
  new Follower(/^https?:/.test(source) ? httpSource(new URL(source)) : folderSource(source), lake, {
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
