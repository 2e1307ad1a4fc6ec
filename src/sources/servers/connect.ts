/** Connects to sources, each kind by its module, which is loaded when a source needs it. */
import type { FeedServer } from "../feed-server.ts";
import { matchPath } from "../file-pattern.ts";
import { type FeedSource, secretIn } from "../sources-file.ts";

/** Connects to a source. `stallMs` is how long a connection may be idle. Throws a TransferFault if a retry may help, else a UserError. */
export async function connectTo(source: FeedSource, stallMs: number, signal: AbortSignal): Promise<FeedServer> {
  const { name, folder, https, sftp, ftp, s3, pattern } = source;
  const secret = (key: string, variable: string | undefined): string | undefined => secretIn(name, key, variable);
  if (https !== undefined) return (await import("./https.ts")).httpsServer(https, secret);
  if (pattern === undefined) throw new TypeError(`Source ${name} has no pattern.`);
  if (folder !== undefined) return (await import("./folder.ts")).folderServer(folder, pattern);
  if (sftp !== undefined) return (await import("./sftp.ts")).connectSftp({ ...sftp, pattern, stallMs, signal }, secret);
  if (ftp !== undefined) return (await import("./ftp.ts")).connectFtp({ ...ftp, pattern, stallMs, signal }, secret);
  if (s3 !== undefined) {
    // The client's versions of this minor release support Node.js 20.
    Object.assign(process.env, { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" });
    const fits = (path: string): boolean => matchPath(pattern, path) !== undefined;
    return (await import("./bucket.ts")).bucketServer({ ...s3, fits, stallMs }, secret);
  }
  throw new TypeError(`Source ${name} has no kind.`);
}
