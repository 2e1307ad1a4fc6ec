/**
 * `sources.yaml`: where feeds are fetched from, and when a day of them is complete. It holds no secrets: it names the environment variables that do.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Cron } from "croner";
import { IANAZone } from "luxon";
import { parse } from "yaml";
import { isNotFound } from "../base/files.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import type { BucketSettings } from "../connectors/bucket.ts";
import { type FilePattern, isFileName, parsePattern, patternOfName } from "../connectors/file-pattern.ts";
import type { FtpSettings } from "../connectors/ftp.ts";
import type { SftpSettings } from "../connectors/sftp.ts";
import { checker } from "../contract/schema.ts";
import { readDealerList } from "../ingest/feed/dealer-list.ts";
import { feedEndings, fileOf, tableOfName } from "../ingest/feed/feed-file.ts";
import { type PresetName, readMapping } from "../ingest/mapping/mapping.ts";

const sourceKinds = ["folder", "https", "sftp", "ftp", "s3"] as const;

/** Names of environment variables that hold secrets, by the key of the secret. */
type Variables<Key extends string> = { readonly [K in Key as `${K}Variable`]?: string };

interface HttpsSettings extends Variables<"url" | "password" | "token"> {
  readonly url?: string;
  readonly name?: string;
  readonly username?: string;
}

interface FileSource {
  readonly folder?: { readonly path: string };
  readonly https?: HttpsSettings;
  readonly sftp?: SftpSettings & Variables<"password" | "privateKey" | "passphrase">;
  readonly ftp?: FtpSettings & Variables<"password">;
  readonly s3?: BucketSettings & Variables<"accessKey" | "secretKey">;
  readonly files?: string;
  readonly mapping?: string;
  readonly preset?: PresetName | "carquet";
  readonly dealers?: string;
  readonly dealer?: string;
  readonly requiredFiles: number;
  readonly settleSeconds: number;
}

interface SourcesFile {
  readonly timeZone: string;
  readonly deadline: string;
  readonly schedule: string;
  readonly sources: Readonly<Record<string, FileSource>>;
}

/** A source, with the pattern of its files; for https, that of the name of its file. */
export interface FeedSource extends Omit<FileSource, "files"> {
  readonly name: string;
  readonly pattern: FilePattern;
}

export interface FeedSources extends Omit<SourcesFile, "sources"> {
  readonly sources: readonly FeedSource[];
}

const check = checker<SourcesFile>("sources");

/** Reads and validates a sources file. Throws a UserError that names the source, the key and what was expected. */
export async function readSources(path: string): Promise<FeedSources> {
  const file = check(await readYaml(path), path);
  const fail = (key: string, message: string): never => {
    throw new UserError(`${path}: ${key}: ${message}.`);
  };
  if (!IANAZone.isValidZone(file.timeZone))
    fail("timeZone", `unknown time zone ${printable(file.timeZone, 40)}: expected one such as America/New_York`);
  try {
    new Cron(file.schedule, { paused: true, timezone: file.timeZone }).stop();
  } catch (thrown) {
    fail("schedule", `${printable(messageOf(thrown))}: expected a cron expression such as */15 * * * *`);
  }
  const sources = Object.entries(file.sources).map(([name, source]) =>
    sourceOf(name, source, dirname(path), (key, message) => fail(`sources.${name}${key}`, message)),
  );
  await Promise.all(sources.map(checkMapping));
  for (const { dealers } of sources) if (dealers !== undefined) await readDealerList(dealers);
  return { ...file, sources };
}

type Fail = (key: string, message: string) => never;

function sourceOf(name: string, { files, ...source }: FileSource, folder: string, fail: Fail): FeedSource {
  const kinds = sourceKinds.filter((kind) => source[kind] !== undefined);
  const { mapping, preset, dealer, dealers, https, sftp } = source;
  if (kinds.length !== 1) fail("", `${kinds.join(" and ") || "no kind"}: expected one of ${sourceKinds.join(", ")}`);
  if (!tableOfName(name).isForeign) fail("", "begins with the name of a table: expected another name");
  if (mapping !== undefined && preset !== undefined) fail("", "mapping and preset: expected one of them");
  if (sftp !== undefined && sftp.passwordVariable === undefined && sftp.privateKeyVariable === undefined)
    fail(".sftp", "no credential: expected passwordVariable or privateKeyVariable");
  const pattern = patternOf(https, files, fail);
  if (dealer !== undefined && (pattern.hasDealers || preset === "carquet"))
    fail(".dealer", "not used: expected none where a folder of files has a *, or with the preset carquet");
  if (dealers !== undefined && preset === "carquet")
    fail(".dealers", "not used: expected none with the preset carquet, whose dealers are in its files");
  return {
    ...source,
    name,
    pattern,
    ...(mapping === undefined ? {} : { mapping: resolve(folder, mapping) }),
    ...(dealers === undefined ? {} : { dealers: resolve(folder, dealers) }),
  };
}

/** Returns the pattern of a source's files. */
function patternOf(https: HttpsSettings | undefined, files: string | undefined, fail: Fail): FilePattern {
  if (https !== undefined) return patternOfName(checkHttps(https, files, fail));
  if (files === undefined) return fail("", "must have required property 'files'");
  return parsePattern(files, (message) => fail(".files", message));
}

/** Returns the name of the file at a URL. */
function checkHttps(settings: HttpsSettings, files: string | undefined, fail: Fail): string {
  const { url, urlVariable, name, username, passwordVariable, tokenVariable } = settings;
  if (files !== undefined) fail(".files", "not used by https: expected none");
  if ((url === undefined) === (urlVariable === undefined)) fail(".https", "expected either url or urlVariable");
  if ((username === undefined) !== (passwordVariable === undefined))
    fail(".https", "expected both username and passwordVariable, or neither");
  if (username !== undefined && tokenVariable !== undefined) fail(".https", "expected username or tokenVariable");
  const file = name ?? fileNameAt(new URL(url ?? "https://secret/"), fail);
  if (fileOf(file) === undefined || !isFileName(file))
    fail(".https.name", `file "${printable(file, 40)}": expected a name that ends with ${feedEndings}`);
  if (url !== undefined && sendsInClear(new URL(url), settings)) fail(".https.url", inClear);
  return file;
}

function fileNameAt({ pathname }: URL, fail: Fail): string {
  try {
    return decodeURI(pathname.split("/").at(-1) ?? "");
  } catch {
    return fail(".https.url", "invalid percent-encoding in its path: expected such as %25 for %");
  }
}

export const inClear = "would send credentials in the clear: expected https://";

/** Returns whether credentials of a source would pass a network without encryption. */
export const sendsInClear = (
  { protocol, hostname }: URL,
  { username, tokenVariable }: Pick<HttpsSettings, "username" | "tokenVariable">,
): boolean =>
  (username ?? tokenVariable) !== undefined &&
  protocol === "http:" &&
  !/^(127(\.\d+){3}|localhost|\[::1\])$/.test(hostname);

/** Throws a UserError if the mapping of a source cannot be used in dated folders. */
async function checkMapping({ name, mapping }: FeedSource): Promise<void> {
  if (mapping === undefined || (await readMapping(mapping)).day === undefined) return;
  throw new UserError(
    `${mapping}: day: expected none: the day is that in files of sources.${name}, or of its arrival.`,
  );
}

async function readYaml(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (thrown) {
    if (isNotFound(thrown)) throw new UserError(`${path}: file of sources not found.`);
    throw new UserError(`${path}: invalid YAML: ${printable(messageOf(thrown, path))}.`);
  }
}
