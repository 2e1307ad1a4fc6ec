/** Options and locations that `follow` and `push` share. */
import { Option } from "commander";
import { UserError } from "../base/user-error.ts";
import { folderSource } from "../replication/folder-source.ts";
import { Follower } from "../replication/follower.ts";
import { httpSource } from "../replication/http-source.ts";
import type { S3Store } from "../replication/s3.ts";
import type { LakeSource } from "../replication/source.ts";
import { integerParser } from "./option-parsers.ts";
import { type EngineSettings, engineOptions } from "./options.ts";
import type { Progress } from "./progress.ts";

export const transfersOption = (): Option =>
  new Option("--transfers <n>", "files that are transferred at once")
    .env("CARQUET_TRANSFERS")
    .default(4)
    .argParser(integerParser(64, 1));

export const stallTimeoutOption = (): Option =>
  new Option("--stall-timeout <seconds>", "how long a transfer may bring less than 1 KiB before it is repeated")
    .env("CARQUET_STALL_TIMEOUT")
    .default(30)
    .argParser(integerParser(3600, 1));

export const s3EndpointOption = (): Option =>
  new Option("--s3-endpoint <url>", "URL of a store that is compatible with Amazon S3, for s3:// locations").env(
    "CARQUET_S3_ENDPOINT",
  );

/** The values of the options of both commands. */
export interface ReplicationSettings extends EngineSettings {
  readonly versions: number;
  readonly grace: number;
  readonly transfers: number;
  readonly stallTimeout: number;
  readonly s3Endpoint?: string;
  readonly json: boolean;
}

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
export async function openStore(location: URL, { s3Endpoint, stallTimeout }: ReplicationSettings): Promise<S3Store> {
  // The client's versions of this minor release support Node.js 20.
  Object.assign(process.env, { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" });
  const { S3Store: Store } = await import("../replication/s3.ts");
  return new Store(location, { endpoint: s3Endpoint, stallMs: stallTimeout * 1000 });
}

/** Returns the source that a location names. */
export async function openSource(location: string, settings: ReplicationSettings): Promise<LakeSource> {
  const url = remoteUrl(location);
  if (url === undefined) return folderSource(location);
  return url.protocol === "s3:" ? openStore(url, settings) : httpSource(url);
}

/** Returns the follower of a source, which reports its steps to `progress`. */
export function createFollower(
  source: LakeSource,
  lake: string,
  settings: ReplicationSettings & { readonly buildsServingFiles: boolean },
  progress: Progress,
): Follower {
  return new Follower(source, lake, {
    stallMs: settings.stallTimeout * 1000,
    transfers: settings.transfers,
    versionDays: settings.versions,
    graceMs: settings.grace * 60_000,
    engine: engineOptions(settings),
    buildsServingFiles: settings.buildsServingFiles,
    nowMs: () => Date.now(),
    onStep: progress.step,
  });
}
