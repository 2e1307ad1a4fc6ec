/**
 * Prepares feed files for the engine, which reads CSV in UTF-8, NDJSON and Parquet: unpacks ZIP files, finds the mapping of each file, decodes text,
 * and converts documents to NDJSON. Files that need none of it stay where they are.
 */
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse/sync";
import { printable } from "../../base/user-error.ts";
import { type CsvLayout, carquetLayout, type FeedFile } from "../feed/feed-file.ts";
import type { ReadSettings } from "../feed/file-formats.ts";
import { fileOf, tableOfName } from "../feed/file-names.ts";
import { recognizedPreset } from "../mapping/presets.ts";
import type { Mapping } from "../mapping/rules.ts";
import { declaredEncoding, decodedText, encodingOf, firstText } from "./decoded-text.ts";
import { writeRecords } from "./flat-records.ts";
import { jsonRecords } from "./json-records.ts";
import { xmlRecords } from "./xml-records.ts";
import { unpack } from "./zip-files.ts";

/** How files of a delivery are prepared. */
export interface Preparation extends ReadSettings {
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
