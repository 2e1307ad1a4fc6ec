/** Connects to sources of feeds, each kind by its module, which is loaded when a source needs it. Secrets are in environment variables. */
import { UserError } from "../base/user-error.ts";
import type { Connector } from "../connectors/connector.ts";
import { type FeedSource, inClear, sendsInClear } from "./sources-file.ts";

/** Returns the secret of a key, from the environment variable that the file names. */
type SecretOf = (key: string, variable: string | undefined) => string | undefined;

/**
 * Connects to a source. `stallMs` is how long a connection may be idle; the signal ends it. Throws a TransferFault if a retry may help, else a
 * UserError.
 */
export async function connectTo(source: FeedSource, stallMs: number, signal: AbortSignal): Promise<Connector> {
  const { folder, https, sftp, ftp, s3 } = source;
  const secretOf: SecretOf = (key, variable) => {
    if (variable === undefined) return undefined;
    const value = process.env[variable];
    if (value !== undefined && value !== "") return value;
    throw new UserError(
      `sources.${source.name}.${key}: the environment variable ${variable} is not set: expected the secret.`,
    );
  };
  if (folder !== undefined) return (await import("../connectors/folder.ts")).folderConnector(folder.path);
  if (https !== undefined) return connectHttps(https, secretOf);
  if (sftp !== undefined) {
    const credentials = {
      password: secretOf("sftp.passwordVariable", sftp.passwordVariable),
      privateKey: secretOf("sftp.privateKeyVariable", sftp.privateKeyVariable),
      passphrase: secretOf("sftp.passphraseVariable", sftp.passphraseVariable),
    };
    return (await import("../connectors/sftp.ts")).connectSftp(sftp, credentials, stallMs, signal);
  }
  if (ftp !== undefined) {
    const password = secretOf("ftp.passwordVariable", ftp.passwordVariable);
    return (await import("../connectors/ftp.ts")).connectFtp(ftp, password, stallMs, signal);
  }
  if (s3 === undefined) throw new TypeError(`Source ${source.name} has no kind.`);
  const accessKeyId = secretOf("s3.accessKeyVariable", s3.accessKeyVariable);
  const secretAccessKey = secretOf("s3.secretKeyVariable", s3.secretKeyVariable);
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return new (await import("../connectors/bucket.ts")).Bucket(s3, stallMs, credentials);
}

async function connectHttps(settings: NonNullable<FeedSource["https"]>, secretOf: SecretOf): Promise<Connector> {
  const { basic, httpsFileConnector } = await import("../connectors/https.ts");
  const { urlVariable, username = "" } = settings;
  const url = settings.url ?? secretOf("https.urlVariable", urlVariable) ?? "";
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UserError(`invalid URL in ${urlVariable ?? "https.url"}: expected one that begins with https://.`);
  if (sendsInClear(new URL(url), settings)) throw new UserError(`the URL in ${urlVariable ?? "https.url"} ${inClear}.`);
  const token = secretOf("https.tokenVariable", settings.tokenVariable);
  const password = secretOf("https.passwordVariable", settings.passwordVariable);
  const authorization = token !== undefined ? `Bearer ${token}` : password && basic(username, password);
  return httpsFileConnector(new URL(url), urlVariable !== undefined, authorization);
}
