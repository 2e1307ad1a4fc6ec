/** Files of the TLS certificate and its key: reads them, and again when they change or the process receives SIGHUP. */
import { X509Certificate } from "node:crypto";
import { readFileSync, watchFile } from "node:fs";
import type { Logger } from "pino";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Tls } from "../http/service/http-server.ts";

/** How often the files are checked for changes, and how long they must have been unchanged. */
const pollMs = 1000;
const settleMs = 250;

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export const readCertificate = ({ cert, key }: CertificateFiles): Tls => ({ cert: readText(cert), key: readText(key) });

/** Passes each renewed certificate to `replace`. If it throws, logs the reason; the previous certificate stays in use. */
export function watchCertificate(files: CertificateFiles, replace: (tls: Tls) => void, logger: Logger): void {
  const reload = (): void => {
    try {
      const renewed = readCertificate(files);
      replace(renewed);
      logger.info({ validTo: new X509Certificate(renewed.cert).validTo }, "certificate replaced");
    } catch (thrown) {
      logger.error({ message: messageOf(thrown) }, "certificate not usable; still serving the previous one");
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
    throw new UserError(`Cannot read ${path}: ${messageOf(thrown)}.`);
  }
}
