/**
 * Prepares feed files for the engine, which reads CSV in UTF-8, NDJSON and Parquet: unpacks ZIP files, finds the mapping of each file, decodes text,
 * and converts documents to NDJSON. Files that need none of it stay where they are.
 *
 * Node.js decodes Windows-1252 wrongly since 20.18.3, so `iconv-lite` does. Sizes in a ZIP file are known from its directory, so a bomb is refused
 * before anything of it is unpacked; an entry that is larger than it says fails. Names of entries are labels and never paths.
 */
import { isUtf8 } from "node:buffer";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse/sync";
import iconv from "iconv-lite";
import { type Entry, open, type ZipFile } from "yauzl";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import {
  type CsvLayout,
  carquetLayout,
  type FeedFile,
  type FeedLimits,
  fileOf,
  tableOfName,
} from "../feed/feed-file.ts";
import { contentOf, sizeWithin } from "../feed/file-checks.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import type { ReadSettings } from "../feed/file-formats.ts";
import { recognizedPreset } from "../mapping/mapping.ts";
import type { Mapping } from "../mapping/rules.ts";
import { jsonRecords, writeRecords, xmlRecords } from "./records.ts";

/** How files of a delivery are prepared. */
interface Preparation extends ReadSettings {
  /** Folder of converted files, which the caller removes. */
  readonly scratch: string;
  readonly remark: (text: string) => void;
  readonly onRecognized: (file: FeedFile, mapping: Mapping) => void;
}

/** Calls `work` with a new folder for converted files, which is then removed. */
export async function withScratch<T>(
  { scratch = tmpdir() }: ReadSettings,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(join(scratch, "feeds-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the files to read in place of one, without those that are ignored. Throws a UserError if one of them is invalid. */
export async function preparedFiles(file: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  const prepared: FeedFile[] = [];
  for (const one of await unpackedFiles(file, settings)) prepared.push(...(await preparedFile(one, settings)));
  return prepared;
}

/** Returns the feed files in an archive; any other file alone. Throws a UserError if the archive is invalid. */
export async function unpackedFiles(file: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  if (file.format !== "zip") return [file];
  const { scratch, limits, remark } = settings;
  const folder = await mkdtemp(join(scratch, "unpacked-"));
  let count = 0;
  const entries = await unpack(file, limits, async (entryName) => {
    const name = basename(entryName);
    const kind = fileOf(name);
    if (kind === undefined || kind.format === "zip" || entryName.startsWith("__MACOSX/")) return undefined;
    count += 1;
    const { isForeign: _, ...rest } = file;
    return {
      ...rest,
      ...tableOfName(name),
      ...kind,
      path: join(folder, `${count}`),
      name: `${file.name}/${entryName}`,
    };
  });
  if (entries.length === 0) remark(`${printable(file.name)}: ignored file: no feed file in it.`);
  return entries;
}

/** Returns the file to read in place of one that is no archive: none if it is foreign and no preset fits it. Throws a UserError if it is invalid. */
export async function preparedFile(file: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  const { remark } = settings;
  const mapping = file.mapping ?? settings.mapping;
  const isDocument = file.format === "json" || file.format === "xml";
  if (mapping !== undefined && file.table === "inventory")
    return [await (file.format === "csv" ? decodedFile : flatFile)({ ...file, mapping }, settings)];
  if (file.table === "inventory" && file.format === "csv") {
    const found = await recognizedText(file, settings);
    if (found !== undefined) return [await decodedFile(recognized(file, found, settings), settings)];
  } else if (isDocument) return recognizedDocument(file, settings);
  if (!file.isForeign) return [file];
  remark(
    `${printable(file.name)}: ignored file: expected a name that begins with that of a table, or the columns of a preset.`,
  );
  return [];
}

function recognized(file: FeedFile, mapping: Mapping, { onRecognized }: Preparation): FeedFile {
  onRecognized(file, mapping);
  return { ...file, mapping };
}

/** Returns the preset that fits the header of a CSV file. */
async function recognizedText(file: FeedFile, { limits }: Preparation): Promise<Mapping | undefined> {
  const [line = ""] = (await firstText(file, limits)).slice(0, limits.recordBytes).split(/\r\n|\r|\n/, 1);
  return recognizedPreset(columnsIn(line, delimiterOf(line)));
}

function columnsIn(line: string, delimiter: string): readonly string[] {
  try {
    const [columns = []] = parse(line, { bom: true, delimiter, to: 1 });
    return columns;
  } catch {
    return [];
  }
}

const delimiters = [",", "\t", "|", ";"] as const;

/** Returns the delimiter that occurs most often in a line, outside of quotes. */
function delimiterOf(line: string): string {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const counts = delimiters.map((delimiter) => bare.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? carquetLayout.delimiter;
}

/** Returns a CSV file with its layout; a copy in UTF-8 if it has another encoding. */
async function decodedFile(file: FeedFile, settings: Preparation): Promise<FeedFile> {
  const { limits } = settings;
  const { delimiter, quote = '"', header = true, columns = [], encoding } = file.mapping?.file ?? {};
  const [line = ""] = delimiter === undefined ? (await firstText(file, limits)).split(/[\r\n]/, 1) : [];
  const layout: CsvLayout = { delimiter: delimiter ?? delimiterOf(line), quote, hasHeader: header, names: columns };
  const actual = encoding ?? (await encodingOf(file, limits));
  if (actual === "utf-8") return { ...file, layout };
  const path = await scratchPath(file, settings);
  await pipeline(decodedText(file, actual, limits), createWriteStream(path));
  return { ...file, layout, path, isGzip: false };
}

/** Returns a document or NDJSON file as flat NDJSON; a Parquet file unchanged. */
const flatFile = async (file: FeedFile, settings: Preparation): Promise<FeedFile> =>
  file.format === "parquet" ? file : (await converted(file, settings)).file;

/** Converts a document, and returns it with the preset that fits its columns. */
async function recognizedDocument(file: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  const { file: flat, columns } = await converted(file, settings);
  const mapping = file.table === "inventory" ? recognizedPreset(columns) : undefined;
  if (mapping !== undefined) return [recognized(flat, mapping, settings)];
  if (!file.isForeign) return [flat];
  settings.remark(`${printable(file.name)}: ignored file: expected the columns of a preset.`);
  return [];
}

/** Writes the records of a document as flat NDJSON. Returns the new file and its columns. */
async function converted(
  file: FeedFile,
  settings: Preparation,
): Promise<{ readonly file: FeedFile; readonly columns: readonly string[] }> {
  const { limits } = settings;
  const { records, encoding } = file.mapping?.file ?? {};
  const declared = file.format === "xml" ? await declaredEncoding(file, limits) : undefined;
  const texts = decodedText(file, encoding ?? declared ?? (await encodingOf(file, limits)), limits);
  const read = file.format === "xml" ? xmlRecords : jsonRecords;
  const path = await scratchPath(file, settings);
  const columns = await writeRecords(file, read(file, texts, limits, records), path, limits);
  return { file: { ...file, format: "ndjson", path, isGzip: false }, columns };
}

/** Returns the path of a converted file, in a folder that files of one folder share. */
async function scratchPath(file: FeedFile, { scratch }: Preparation): Promise<string> {
  const folder = join(scratch, "converted", dirname(file.name));
  await mkdir(folder, { recursive: true });
  return join(folder, basename(file.name));
}

const byteOrderMarks: readonly (readonly [mark: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16"],
  [[0xfe, 0xff], "utf-16"],
];

/** Returns the encoding that a byte order mark stands for. */
const markedEncoding = (first: Buffer): string | undefined =>
  byteOrderMarks.find(([mark]) => mark.every((byte, index) => first[index] === byte))?.[1];

/** Returns the encoding of a file: that of its byte order mark, else UTF-8 if the whole file is valid, else Windows-1252. */
async function encodingOf(file: FeedFile, limits: FeedLimits): Promise<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const chunk of contentOf(file, limits)) {
    const marked = isFirst ? markedEncoding(chunk) : undefined;
    if (marked !== undefined && marked !== "utf-8") return marked;
    isFirst = false;
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = text.length - unfinishedBytes(text);
    if (!isUtf8(text.subarray(0, end))) return "windows-1252";
    rest = Buffer.from(text.subarray(end));
  }
  return rest.length === 0 ? "utf-8" : "windows-1252";
}

/** Returns the encoding that an XML document declares, if it is a known one: some declare `ANSI`. */
async function declaredEncoding(file: FeedFile, limits: FeedLimits): Promise<string | undefined> {
  const [, declared = ""] = /^<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(await firstText(file, limits)) ?? [];
  return iconv.encodingExists(declared) ? declared : undefined;
}

/** Returns how many bytes at the end begin a character of UTF-8 that they do not end. */
function unfinishedBytes(text: Buffer): number {
  for (let back = 1; back <= Math.min(3, text.length); back += 1) {
    const byte = text[text.length - back] ?? 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Yields the text of a file, decoded; bytes that are invalid in the encoding become U+FFFD. */
async function* decodedText(
  file: FeedFile,
  encoding: string,
  limits: FeedLimits,
): AsyncGenerator<string, void, undefined> {
  const decoder = iconv.getDecoder(encoding);
  for await (const chunk of contentOf(file, limits)) yield decoder.write(chunk);
  yield decoder.end() ?? "";
}

/** Returns the text at the start of a file: its first chunk, or nothing if it is empty. */
async function firstText(file: FeedFile, limits: FeedLimits): Promise<string> {
  for await (const chunk of contentOf(file, limits)) return iconv.decode(chunk, markedEncoding(chunk) ?? "utf-8");
  return "";
}

/** Files of an archive, photos included. */
const entriesMax = 10_000;

/**
 * Unpacks the entries that `targetOf` returns a path for, one after the other, and yields the results of `targetOf`. Throws a UserError if the archive
 * is damaged, encrypted, exceeds a limit, or has a name that leads out of it.
 */
export async function unpack<Target extends { readonly path: string }>(
  file: FeedFile,
  limits: FeedLimits,
  targetOf: (entryName: string) => Promise<Target | undefined>,
): Promise<readonly Target[]> {
  const storedBytes = await sizeWithin(file, limits);
  const fail = (thrown: unknown): unknown =>
    thrown instanceof UserError || classifyFault(thrown) === "disk full"
      ? thrown
      : fileError(file, `: invalid ZIP file: ${printable(messageOf(thrown))}.`);
  let zip: ZipFile | undefined;
  try {
    zip = await opened(file.path);
    const entries = await entriesOf(zip);
    const bytes = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (bytes > limits.uncompressedBytes) throw limitError(file, "uncompressedBytes", limits);
    if (bytes > limits.compressionRatio * storedBytes) throw limitError(file, "compressionRatio", limits);
    const targets: Target[] = [];
    for (const entry of entries) {
      const target = await targetOf(entry.fileName);
      if (target === undefined) continue;
      if (entry.isEncrypted()) throw fileError(file, ": encrypted ZIP file: expected one without a password.");
      await write(zip, entry, target.path);
      targets.push(target);
    }
    return targets;
  } catch (thrown) {
    throw fail(thrown);
  } finally {
    zip?.close();
  }
}

const opened = (path: string): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, zip) =>
      error === null ? resolve(zip) : reject(error),
    );
  });

const entriesOf = (zip: ZipFile): Promise<readonly Entry[]> =>
  new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    if (zip.entryCount > entriesMax) reject(new Error(`${zip.entryCount} entries: expected at most ${entriesMax}`));
    zip
      .on("error", reject)
      .on("end", () => resolve(entries))
      .on("entry", (entry) => {
        entries.push(entry);
        zip.readEntry();
      });
    zip.readEntry();
  });

const write = (zip: ZipFile, entry: Entry, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error === null) pipeline(stream, createWriteStream(path)).then(resolve, reject);
      else reject(error);
    });
  });
