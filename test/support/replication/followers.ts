/** Followers for tests. */
import type { Connector } from "../../../src/connectors/connector.ts";
import { folderConnector } from "../../../src/connectors/folder.ts";
import { httpsConnector } from "../../../src/connectors/https.ts";
import { Follower, type FollowerOptions } from "../../../src/replication/follower.ts";

/** Returns the connector of a folder or of a URL. */
export const sourceAt = (location: string): Connector =>
  /^https?:/.test(location) ? httpsConnector(new URL(location)) : folderConnector(location);

/** Creates a follower of a source, or of the folder or URL of one, with short timeouts. */
export const createTestFollower = (
  source: string | Connector,
  lake: string,
  options: Partial<FollowerOptions> = {},
): Follower =>
  new Follower(typeof source === "string" ? sourceAt(source) : source, lake, {
    stallMs: 2_000,
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
