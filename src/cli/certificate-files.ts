/** Files of the TLS certificate and its key: reads them, and again when they change or the process receives SIGHUP. */
import { X509Certificate } from "node:crypto";
import { readFileSync, watchFile } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { messageOf, UsageError, UserError } from "../base/user-error.ts";
import type { Tls } from "../http/service/http-server.ts";
import type { ServiceValues } from "./service-settings.ts";

/** How often the files are checked for changes, and how long they must have been unchanged. */
const pollMs = 1000;
const settleMs = 250;

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Returns the files of the certificate and its private key. Throws a UsageError if only one is set. */
export function certificateFilesOf({ tlsCert, tlsKey }: ServiceValues): CertificateFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError("Incomplete TLS options: expected both --tls-cert and --tls-key.");
  return { cert: tlsCert, key: tlsKey };
}

/** Reads a certificate and its key. Throws a UserError if they do not fit each other, or the certificate has expired. */
export function readCertificate(files: CertificateFiles): Tls & { readonly validTo: string } {
  const tls = { cert: readText(files.cert), key: readText(files.key) };
  try {
    createSecureContext(tls);
    const { validTo } = new X509Certificate(tls.cert);
    if (Date.parse(validTo) < Date.now()) throw new Error(`the certificate has expired on ${validTo}`);
    return { ...tls, validTo };
  } catch (thrown) {
    throw new UserError(
      `Invalid TLS pair ${files.cert} and ${files.key}: ${messageOf(thrown)}: expected a certificate (PEM) and its private key.`,
    );
  }
}

/** Passes each renewed certificate to `replace`. If it throws, logs the reason; the previous certificate stays in use. */
export function watchCertificate(files: CertificateFiles, replace: (tls: Tls) => void, logger: Logger): void {
  const reload = (): void => {
    try {
      const { validTo, ...renewed } = readCertificate(files);
      replace(renewed);
      logger.info({ validTo }, "certificate replaced");
    } catch (thrown) {
      logger.error({ error: messageOf(thrown) }, "certificate not usable; still serving the previous one");
    }
  };
  let timer: NodeJS.Timeout | undefined;
  // The two files are rarely replaced at the same moment.
  const reloadWhenSettled = (): void => {
    clearTimeout(timer);
    timer = setTimeout(reload, settleMs).unref();
  };
  const polling = { interval: pollMs, persistent: false };
  for (const path of [files.cert, files.key]) watchFile(path, polling, reloadWhenSettled);
  process.on("SIGHUP", reload);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    throw new UserError(`Cannot read ${path}: ${messageOf(thrown)}: expected a file (PEM).`);
  }
}
