/** Checks of what a service cannot start without, and of free space. `carquet check` prints them, with more; `serve` and `run` refuse to start. */
import { existsSync } from "node:fs";
import { access, constants, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import { messageOf, UserError } from "../base/user-error.ts";
import { isPostgresUrl } from "../db/postgres.ts";
import { publicOriginOf, requireOwnNetwork } from "../http/service/service-state.ts";
import { requireLakeFolder } from "../lake/published-lake.ts";
import { type CertificateFiles, certificateFilesOf, readCertificate } from "./certificate-files.ts";
import { logFormat, logLevel } from "./log.ts";
import type { ServiceValues } from "./service-settings.ts";

/** Settings of a service; of one that fetches, also those of `carquet run`. */
export type CheckedSettings = ServiceValues & { readonly queue?: string; readonly metricsFolder?: string };

/** A check: its name, and what it finds. It throws a UserError that says what is wrong. */
export type Check = readonly [name: string, find: () => string | Promise<string>];

const freeBytesMin = 100 * 2 ** 20;

/** The checks of what a service cannot start without. None needs the network, and none writes. */
export const startChecks = (settings: CheckedSettings): readonly Check[] => [
  ["settings", () => checkValues(settings)],
  ["lake folder", () => requireLakeFolder(settings.lake).then(() => settings.lake)],
  ...foldersOf(settings).map(([flag, path, file]): Check => [`folder of ${flag}`, () => checkFolder(flag, path, file)]),
  ["tls", () => checkTls(certificateFilesOf(settings))],
];

/** Throws a UserError for the first setting with which a service cannot start. */
export async function requireStartable(settings: CheckedSettings): Promise<void> {
  for (const [, find] of startChecks(settings)) await find();
}

/** The checks of free space. A full disk does not keep a service from starting: it recovers when there is space again. */
export const spaceChecks = (settings: CheckedSettings): readonly Check[] =>
  foldersOf(settings).map(([flag, path]): Check => [`space for ${flag}`, () => checkSpace(path)]);

/** The folders that a service writes to, by the flag that sets each, and the file in it that the flag names. */
const foldersOf = (settings: CheckedSettings): readonly (readonly [flag: string, path: string, file?: string])[] => {
  const { accounts, auth, spool = tmpdir(), queue, metricsFolder } = settings;
  return [
    ...(auth === "off" || isPostgresUrl(accounts)
      ? []
      : [["--accounts", dirname(resolve(accounts)), accounts] as const]),
    ["--spool", resolve(spool)],
    ...(queue === undefined ? [] : [["--queue", resolve(queue)] as const]),
    ...(metricsFolder === undefined ? [] : [["--metrics-folder", resolve(metricsFolder)] as const]),
  ];
};

function checkValues(settings: CheckedSettings): string {
  const { publicUrl, auth } = settings;
  if (auth === "off") requireOwnNetwork(settings);
  return `log: ${logFormat()}, ${logLevel()}; public URL: ${publicUrl === undefined ? "none" : publicOriginOf(publicUrl)}; keys: ${auth}`;
}

/** Checks that files can be created in a folder, or in the nearest one above that exists, and that a file that exists can be written; metrics are written to one that exists only. */
async function checkFolder(flag: string, path: string, file?: string): Promise<string> {
  const folder = flag === "--metrics-folder" ? path : existing(path);
  try {
    if (!(await stat(folder)).isDirectory()) throw new UserError(`${folder} is not a folder`);
    await access(folder, constants.W_OK | constants.X_OK);
    if (file !== undefined && existsSync(file)) await access(file, constants.R_OK | constants.W_OK);
    return path;
  } catch (thrown) {
    throw new UserError(
      `Invalid ${flag}: ${messageOf(thrown)}: expected ${file === undefined ? "a folder" : "a file in a folder"} that can be written.`,
    );
  }
}

const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)));

const checkTls = (files: CertificateFiles | undefined): string =>
  files === undefined ? "plain HTTP" : `valid until ${readCertificate(files).validTo}`;

async function checkSpace(path: string): Promise<string> {
  const { bavail, bsize } = await statfs(existing(path));
  const free = `${Math.floor((bavail * bsize) / 2 ** 20)} MiB free at ${path}`;
  if (bavail * bsize < freeBytesMin) throw new UserError(`${free}: expected ${freeBytesMin / 2 ** 20} MiB or more.`);
  return free;
}
