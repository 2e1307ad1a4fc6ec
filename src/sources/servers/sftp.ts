/** Feeds on an SFTP server whose key is pinned: nothing, no password either, is sent to a server with another key. */
import { createHash } from "node:crypto";
import ssh2, { type Client, type FileEntryWithStats, type SFTPWrapper, type Stats } from "ssh2";
import { messageOf, UserError } from "../../base/user-error.ts";
import { TransferFault } from "../../replication/source.ts";
import { type Connection, type FeedServer, findFiles, type ListFolder, type SecretOf } from "../feed-server.ts";
import type { SftpSettings } from "../sources-file.ts";

export async function connectSftp(settings: SftpSettings & Connection, secret: SecretOf): Promise<FeedServer> {
  const { path: root, pattern, signal } = settings;
  const client = new ssh2.Client();
  signal.addEventListener("abort", () => client.destroy(), { once: true });
  const sftp = await connected(client, settings, secret).catch((thrown: unknown) => {
    throw faultOf(thrown);
  });
  const listFolder: ListFolder = async (folder, fits) => {
    const path = joined(root, folder);
    const entries = await called<readonly FileEntryWithStats[]>((done) => sftp.readdir(path, done), path);
    const listed = entries.map(async ({ filename: name, attrs }) => {
      const isLink = attrs.isSymbolicLink() && fits(name);
      const stats = isLink ? await targetOf(sftp, joined(path, name)) : attrs;
      if (stats === undefined) return [];
      return [{ name, isFolder: stats.isDirectory(), bytes: stats.size, modifiedMs: 1000 * stats.mtime }];
    });
    return (await Promise.all(listed)).flat();
  };
  return {
    list: () => findFiles(pattern, listFolder),
    open: async (file) => {
      // Without a listener, an end of the connection while the file is closed would end the process.
      const content = sftp.createReadStream(joined(root, file.path)).on("error", () => undefined);
      return { ...file, content };
    },
  };
}

/** Returns what is known of a link's target; undefined if it is missing, or may not be read. */
const targetOf = (sftp: SFTPWrapper, path: string): Promise<Stats | undefined> =>
  called<Stats>((done) => sftp.stat(path, done), path).catch((thrown: unknown) => {
    if (thrown instanceof UserError) return undefined;
    throw thrown;
  });

const joined = (folder: string, name: string): string =>
  name === "" ? folder : `${folder.replace(/\/$/, "")}/${name}`;

/** Connects and opens the SFTP channel. Rejects with a UserError if the server has another key than those that are pinned. */
function connected(client: Client, settings: SftpSettings & Connection, secret: SecretOf): Promise<SFTPWrapper> {
  const { host, port, username, hostKeys, stallMs: readyTimeout } = settings;
  const password = secret("sftp.passwordVariable", settings.passwordVariable);
  // Where variables have one line, the lines of a key are separated by \n.
  const privateKey = secret("sftp.privateKeyVariable", settings.privateKeyVariable)?.replaceAll("\\n", "\n");
  const passphrase = secret("sftp.passphraseVariable", settings.passphraseVariable);
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
      ...(privateKey === undefined ? {} : { privateKey }),
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
