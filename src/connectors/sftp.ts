/** Files on an SFTP server whose key is pinned: nothing, no password either, is sent to a server with another key. */
import { createHash } from "node:crypto";
import ssh2, { type Client, type FileEntryWithStats, type SFTPWrapper, type Stats } from "ssh2";
import { messageOf, UserError } from "../base/user-error.ts";
import { type Connector, findFiles, type ListFolder, serverPath, TransferFault } from "./connector.ts";

export interface SftpSettings {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** Fingerprints of the server's keys. */
  readonly hostKeys: readonly string[];
  readonly path: string;
}

export interface SftpCredentials {
  readonly password: string | undefined;
  readonly privateKey: string | undefined;
  readonly passphrase: string | undefined;
}

/** Connects to a server within `stallMs`; the signal ends the connection. */
export async function connectSftp(
  settings: SftpSettings,
  credentials: SftpCredentials,
  stallMs: number,
  signal: AbortSignal,
): Promise<Connector> {
  const { host, path: root } = settings;
  const client = new ssh2.Client();
  signal.addEventListener("abort", () => client.destroy(), { once: true });
  const sftp = await connected(client, settings, credentials, stallMs).catch((thrown: unknown) => {
    throw faultOf(thrown);
  });
  const listFolder: ListFolder = async (folder, fits) => {
    const path = serverPath(root, folder);
    const entries = await called<readonly FileEntryWithStats[]>((done) => sftp.readdir(path, done), path);
    const listed = entries.map(async ({ filename: name, attrs }) => {
      const isLink = attrs.isSymbolicLink() && fits(name);
      const stats = isLink ? await targetOf(sftp, serverPath(path, name)) : attrs;
      if (stats === undefined) return [];
      return [{ name, isFolder: stats.isDirectory(), bytes: stats.size, modifiedMs: 1000 * stats.mtime }];
    });
    return (await Promise.all(listed)).flat();
  };
  return {
    locationOf: (path) => `sftp://${host}/${serverPath(root, path).replace(/^\//, "")}`,
    list: (pattern) => findFiles(pattern, listFolder),
    read: async (path) => {
      // Without a listener, an end of the connection while the file is closed would end the process.
      const content = sftp.createReadStream(serverPath(root, path)).on("error", () => undefined);
      // One that may not be read fails here, and not as one that was cut off.
      await called<unknown>((done) => content.once("open", () => done(undefined, path)).once("error", done), path);
      return { offset: 0, bytes: undefined, tag: undefined, content };
    },
  };
}

/** Returns what is known of a link's target; undefined if it is missing, or may not be read. */
const targetOf = (sftp: SFTPWrapper, path: string): Promise<Stats | undefined> =>
  called<Stats>((done) => sftp.stat(path, done), path).catch((thrown: unknown) => {
    if (thrown instanceof UserError) return undefined;
    throw thrown;
  });

/** Connects and opens the SFTP channel. Rejects with a UserError if the server has another key than those that are pinned. */
function connected(
  client: Client,
  { host, port, username, hostKeys }: SftpSettings,
  { password, privateKey, passphrase }: SftpCredentials,
  readyTimeout: number,
): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    const hostVerifier = (key: Buffer): boolean => {
      const seen = `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=$/, "")}`;
      if (hostKeys.includes(seen)) return true;
      reject(new UserError(`host key of ${host} is ${seen}: expected ${hostKeys.join(" or ")} (hostKeys).`));
      return false;
    };
    client
      .on("error", reject)
      .on("close", () => reject(new TransferFault(`${host}: the connection was closed`)))
      .on("ready", () => client.sftp((error, sftp) => (error === undefined ? resolve(sftp) : reject(error))));
    const credentials = {
      ...(password === undefined ? {} : { password }),
      // Where variables have one line, the lines of a key are separated by \n.
      ...(privateKey === undefined ? {} : { privateKey: privateKey.replaceAll("\\n", "\n") }),
      ...(passphrase === undefined ? {} : { passphrase }),
    };
    client.connect({ host, port, username, ...credentials, readyTimeout, keepaliveInterval: 10_000, hostVerifier });
    client.setNoDelay();
  });
}

/** Returns the result of a request; a missing file or folder, or one that may not be read, is a UserError. */
const called = <T>(request: (done: (error: Error | undefined, result: T) => void) => void, path: string): Promise<T> =>
  new Promise((resolve, reject) => {
    request((error, result) => {
      if (error === undefined || error === null) resolve(result);
      else if ("code" in error && (error.code === 2 || error.code === 3))
        reject(new UserError(`${path}: ${error.message}.`));
      else reject(faultOf(error));
    });
  });

/** Returns the error of a failed request: a UserError if the credentials are refused or unusable, which a retry does not change. */
function faultOf(thrown: unknown): Error {
  if (thrown instanceof UserError || thrown instanceof TransferFault) return thrown;
  const text = messageOf(thrown);
  const isRefused = thrown instanceof Error && "level" in thrown && thrown.level === "client-authentication";
  return isRefused || /privateKey|passphrase/i.test(text) ? new UserError(`${text}.`) : new TransferFault(text);
}
