/** The locations of published lakes, as arguments of commands name them: a folder, an `https://` or an `s3://` URL. */
import { UserError } from "../base/user-error.ts";
import type { Bucket } from "./bucket.ts";
import type { Connector } from "./connector.ts";
import { folderConnector } from "./folder.ts";
import { httpsConnector } from "./https.ts";

/** Returns a location as it can be printed: without a user name, a password, and a query. */
export const withoutSecrets = (location: string): string =>
  location.replace(/^(\w+:\/\/).*@/, "$1").replace(/[?#].*$/s, "");

/** Returns the protocol of a location, such as `https`; undefined for a folder. */
export function protocolOf(location: string): string | undefined {
  const [, protocol] = /^(\w+):\/\//.exec(location) ?? [];
  if (protocol === undefined || (/^(https?|s3)$/.test(protocol) && URL.canParse(location))) return protocol;
  throw new UserError(
    `Invalid location ${withoutSecrets(location)}: expected a folder, or a URL that begins with https://, http:// or s3://.`,
  );
}

/** Returns the connector of a location. `endpoint` is the URL of a store other than Amazon S3. */
export async function connectorAt(location: string, stallMs: number, endpoint: string | undefined): Promise<Connector> {
  const protocol = protocolOf(location);
  if (protocol === undefined) return folderConnector(location);
  return protocol === "s3" ? openBucket(location, stallMs, endpoint) : httpsConnector(new URL(location));
}

/** Opens the bucket of an `s3://` URL. */
export async function openBucket(location: string, stallMs: number, endpoint: string | undefined): Promise<Bucket> {
  return new (await import("./bucket.ts")).Bucket({ location, endpoint }, stallMs);
}
