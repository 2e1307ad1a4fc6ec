/** Locations and followers of `follow` and `push`. */
import { UserError } from "../base/user-error.ts";
import type { DatabaseOptions } from "../db/duckdb.ts";
import { folderSource } from "../replication/folder-source.ts";
import { Follower } from "../replication/follower.ts";
import { httpSource } from "../replication/http-source.ts";
import type { S3Store } from "../replication/s3.ts";
import type { LakeSource } from "../replication/source.ts";
import type { Progress } from "./progress.ts";
import type { SharedValues } from "./settings.ts";

/** The values that both commands need; `push` sets no values of an engine. */
type ReplicationValues = SharedValues<"versionDays" | "graceMs" | "transfers" | "stallMs" | "s3Endpoint"> &
  DatabaseOptions;

/** Returns a location as it can be printed: without a user name, a password, and a query. */
export const withoutSecrets = (location: string): string =>
  location.replace(/^(\w+:\/\/).*@/, "$1").replace(/[?#].*$/s, "");

/** Returns a location as a URL; undefined if it is a folder. */
export function remoteUrl(location: string): URL | undefined {
  const [, scheme] = /^(\w+):\/\//.exec(location) ?? [];
  if (scheme === undefined) return undefined;
  if (/^(https?|s3)$/.test(scheme) && URL.canParse(location)) return new URL(location);
  throw new UserError(
    `Invalid location ${withoutSecrets(location)}: expected a folder, or a URL that begins with https://, http:// or s3://.`,
  );
}

/** Opens the bucket of an `s3://` URL. */
export async function openStore(location: URL, { s3Endpoint: endpoint, stallMs }: ReplicationValues): Promise<S3Store> {
  // The client's versions of this minor release support Node.js 20.
  Object.assign(process.env, { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" });
  const { S3Store: Store } = await import("../replication/s3.ts");
  return new Store(location, { endpoint, stallMs });
}

/** Returns the source that a location names. */
export async function openSource(location: string, settings: ReplicationValues): Promise<LakeSource> {
  const url = remoteUrl(location);
  if (url === undefined) return folderSource(location);
  return url.protocol === "s3:" ? openStore(url, settings) : httpSource(url);
}

/** Returns the follower of a source, which reports its steps to `progress`. */
export function createFollower(
  source: LakeSource,
  lake: string,
  settings: ReplicationValues & { readonly buildsServingFiles: boolean },
  progress: Progress,
): Follower {
  return new Follower(source, lake, {
    ...settings,
    engine: settings,
    nowMs: () => Date.now(),
    onStep: progress.step,
  });
}
