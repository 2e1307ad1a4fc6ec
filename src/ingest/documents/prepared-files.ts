/**
 * Prepares feed files for the engine, which reads CSV in UTF-8, NDJSON and Parquet: unpacks ZIP files, finds the mapping of each file, decodes text,
 * and converts documents to NDJSON. Files that need none of it stay where they are.
 *
 * Node.js decodes Windows-1252 wrongly since 20.18.3, so `iconv-lite` does. Sizes in a ZIP file are known from its directory, so a bomb is refused
 * before anything of it is unpacked; an entry that is larger than it says fails. Names of entries are labels and never paths.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import iconv from "iconv-lite";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import {
  type BadRow,
  type CsvLayout,
  carquetLayout,
  type FeedFile,
  type FeedLimits,
  isOfAnyFormat,
  kindOf,
  layoutOf,
  tableOfName,
} from "../feed/feed-file.ts";
import { contentOf, sizeWithin } from "../feed/file-checks.ts";
import { describeFileError, fileError, isLimitFault, limitError } from "../feed/file-errors.ts";
import type { ReadSettings } from "../feed/file-formats.ts";
import { recognizedPreset } from "../mapping/mapping.ts";
import type { Mapping } from "../mapping/rules.ts";
import { type CsvStart, csvStart, textsFrom, writeCsvRows } from "./csv-rows.ts";
import { objectIn, writeJsonLines, writeRecords } from "./records.ts";

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

/** Returns the files to read instead of one, without those that are ignored. Throws a UserError if one of them is invalid. */
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
    const kind = entryName.endsWith("/") ? undefined : kindOf(name);
    if (kind === undefined || kind.format === "zip" || entryName.startsWith("__MACOSX/")) return undefined;
    count += 1;
    const { isForeign: _, ...rest } = file;
    // A folder of a dealer or a source has nothing but inventories.
    const table = file.folder === undefined ? tableOfName(name) : ({ table: "inventory", isForeign: true } as const);
    return {
      ...rest,
      ...table,
      ...kind,
      path: join(folder, `${count}`),
      name: `${file.name}/${entryName}`,
    };
  });
  if (entries.length === 0) remark(`${printable(file.name)}: ignored file: no feed file in it.`);
  return entries;
}

/** Returns the file to read instead of one that is no archive: none if it is foreign and no preset fits it. Throws a UserError if it is invalid. */
export async function preparedFile(named: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  if (named.format === "workbook") throw fileError(named, ": a workbook of a spreadsheet: expected its sheet as CSV.");
  const given = named.table === "inventory" ? (named.mapping ?? settings.mapping) : undefined;
  const text = named.format === "parquet" ? "" : await firstText(named, settings.limits);
  if (/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text))
    throw fileError(named, ": content is an HTML page: expected an inventory.");
  const file = { ...named, ...contentFormat(named, text), ...(given === undefined ? {} : { mapping: given }) };
  const isRaw = file.format === "ndjson" && given === undefined && !file.isForeign;
  if (file.format === "parquet" || isRaw)
    return given !== undefined || !file.isForeign ? [file] : ignored(file, settings);
  if (file.format !== "csv") return preparedDocument(file, settings);
  const start = csvStart(file, text);
  const mapping = given ?? (file.table === "inventory" ? recognizedPreset(start.header) : undefined);
  if (mapping === undefined && file.isForeign) return ignored(file, settings);
  if (start.hasTitle) settings.remark(`${printable(file.name)}: ignored the lines above the header.`);
  if (mapping === undefined)
    return [
      start.offset === 0 ? file : await rewrittenFile(file, settings, start, await decodingIn(file, "utf-8", settings)),
    ];
  return [await decodedFile(given === undefined ? recognized(file, mapping, settings) : file, start, settings)];
}

/** Returns the format of a text by its content, if its name does not say it. */
function contentFormat({ name, format }: FeedFile, text: string): Pick<FeedFile, "format"> {
  const [first = "", second = ""] = text.trimStart().split(/[\r\n]+/, 2);
  const isLines = objectIn(first) !== undefined && second.startsWith("{");
  if (format === "json" && isLines) return { format: "ndjson" };
  if (format !== "csv" || !isOfAnyFormat(name)) return { format };
  if (first.startsWith("PAR1")) return { format: "parquet" };
  if (/^<[?!a-z]/i.test(first)) return { format: "xml" };
  if (!/^(?:\{|\[)\s*(?:["[{]|$)/.test(first)) return { format };
  return { format: isLines ? "ndjson" : "json" };
}

function ignored({ name, format }: FeedFile, { remark }: Preparation): readonly FeedFile[] {
  const expected =
    format === "csv" || format === "parquet"
      ? "a name that begins with that of a table, or the columns"
      : "the columns";
  remark(`${printable(name)}: ignored file: expected ${expected} of a preset.`);
  return [];
}

function recognized(file: FeedFile, mapping: Mapping, { onRecognized }: Preparation): FeedFile {
  onRecognized(file, mapping);
  return { ...file, mapping };
}

/** Returns a CSV file with its layout; a copy in UTF-8, from the header on, if it has another encoding or something above the header. */
async function decodedFile(file: FeedFile, start: CsvStart, settings: Preparation): Promise<FeedFile> {
  const { limits } = settings;
  const { delimiter = start.delimiter, quote = '"', header = true, columns = [], encoding } = file.mapping?.file ?? {};
  const layout: CsvLayout = { delimiter, quote, hasHeader: header, names: columns };
  if (start.offset > 0)
    return rewrittenFile({ ...file, layout }, settings, start, await decodingIn(file, encoding, settings));
  const actual = encoding ?? (await foundEncoding(file, settings));
  if (actual === "utf-8") return { ...file, layout };
  const path = await scratchPath(file, settings);
  await pipeline(decodedText(file, actual, limits), createWriteStream(path));
  return { ...file, layout, path, isGzip: false };
}

/** Writes a CSV file again, from its header on, without malformed rows. Throws a UserError if these are too many, or it cannot be read. */
async function rewrittenFile(
  file: FeedFile,
  settings: Pick<Preparation, "limits" | "scratch">,
  { offset, delimiter }: Pick<CsvStart, "offset" | "delimiter">,
  { encoding, isUtf8 }: Decoding,
): Promise<FeedFile> {
  const { limits } = settings;
  const { quote, hasHeader, names } = layoutOf(file);
  const texts = textsFrom(decodedText(file, encoding, limits), offset);
  const path = await scratchPath(file, settings, "rewritten");
  const { rows, badRows } = await writeCsvRows(
    { file, limits, isUtf8, texts, layout: { delimiter, quote, hasHeader, names } },
    path,
  );
  requireFewBadRows(file, badRows, rows);
  return { ...file, layout: { ...carquetLayout, hasHeader, names }, path, isGzip: false, isNumbered: true, badRows };
}

/** Returns the result of reading a file; if the engine cannot, that of reading a copy without its malformed rows. Throws a UserError if neither is possible. */
export async function readRepaired<T>(
  file: FeedFile,
  settings: Pick<Preparation, "limits" | "scratch">,
  read: (file: FeedFile) => Promise<T>,
): Promise<T> {
  try {
    return await read(file);
  } catch (thrown) {
    const error = describeFileError(file, settings.limits, thrown);
    const isOfEngine = !(thrown instanceof UserError) && error instanceof UserError && !isLimitFault(thrown);
    const repaired = isOfEngine ? await repairedFile(file, settings) : undefined;
    if (repaired === undefined) throw error;
    return await read(repaired).catch((again: unknown) => {
      throw describeFileError(repaired, settings.limits, again);
    });
  }
}

/** Returns a copy of a text file without its malformed rows; undefined if that cannot help. Throws a UserError if these are too many, or are not in UTF-8. */
async function repairedFile(
  file: FeedFile,
  settings: Pick<Preparation, "limits" | "scratch">,
): Promise<FeedFile | undefined> {
  const { limits } = settings;
  if (file.isNumbered || (file.format !== "csv" && file.format !== "ndjson")) return undefined;
  const encoding = await encodingOf(file, limits);
  if (encoding !== "utf-8" && encoding !== otherEncoding) return undefined;
  const isUtf8 = encoding === "utf-8";
  const start = { offset: 0, delimiter: layoutOf(file).delimiter };
  if (file.format === "csv") return rewrittenFile(file, settings, start, { encoding: "utf-8", isUtf8 });
  const path = await scratchPath(file, settings, "rewritten");
  const document = { file, limits, isUtf8, texts: () => decodedText(file, "utf-8", limits) };
  const { rows, badRows } = await writeJsonLines(document, path);
  if (badRows.length === 0) return undefined;
  requireFewBadRows(file, badRows, rows);
  return { ...file, path, isGzip: false, isNumbered: true, badRows };
}

/** The share of a file's rows that may be malformed, unless its mapping sets another. */
const badRowsShare = 0.01;

/** Throws a UserError if more rows are malformed than a file may have: its share, and one; also if no row is good. */
function requireFewBadRows(file: FeedFile, badRows: readonly BadRow[], rows: number): void {
  const [first] = badRows;
  const { share = badRowsShare } = file.mapping?.badRows ?? {};
  const max = share === 0 ? 0 : Math.max(1, Math.floor(share * rows));
  if (first === undefined || (badRows.length <= max && badRows.length < rows)) return;
  throw fileError(
    file,
    `, row ${first.row}: ${first.reason}; ${badRows.length} of ${rows} rows are malformed: expected at most ${Math.min(max, rows - 1)} (badRows.share of a mapping).`,
  );
}

/** Writes the records of a document as NDJSON. Returns the file, with the preset that fits its columns if it has no mapping; none if it is foreign without. */
async function preparedDocument(file: FeedFile, settings: Preparation): Promise<readonly FeedFile[]> {
  const { limits } = settings;
  const { encoding, isUtf8 } = await decodingIn(file, file.mapping?.file?.encoding, settings);
  const path = await scratchPath(file, settings);
  const document = { file, limits, isUtf8, texts: () => decodedText(file, encoding, limits) };
  const { columns, badRows, rows } = await writeRecords(document, path);
  requireFewBadRows(file, badRows, rows);
  const flat = { ...file, format: "ndjson", path, isGzip: false, isNumbered: true, badRows } as const;
  const mapping = file.table === "inventory" && file.mapping === undefined ? recognizedPreset(columns) : undefined;
  if (mapping !== undefined) return [recognized(flat, mapping, settings)];
  return file.mapping === undefined && file.isForeign ? ignored(file, settings) : [flat];
}

/** Returns the path of a converted file, in a folder that files of one folder share. */
async function scratchPath(
  file: FeedFile,
  { scratch }: Pick<Preparation, "scratch">,
  kind = "converted",
): Promise<string> {
  const folder = join(scratch, kind, dirname(file.name));
  await mkdir(folder, { recursive: true });
  return join(folder, basename(file.name));
}

/** Returns the encoding that a byte order mark stands for, or that of text in UTF-16 without one, of which every other byte is zero. */
function markedEncoding(first: Buffer): string | undefined {
  const mark = first.toString("latin1", 0, 3);
  if (mark === "\u00ef\u00bb\u00bf") return "utf-8";
  const start = first.subarray(0, 1000);
  const zeros = [0, 1].map((half) => start.filter((byte, index) => byte === 0 && index % 2 === half).length);
  const isWide = Math.max(...zeros) >= 0.4 * start.length && Math.min(...zeros) <= 0.05 * start.length;
  return (isWide && start.length > 0) || /^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(mark) ? "utf-16" : undefined;
}

/**
 * Returns the encoding of a file: that of its byte order mark, else UTF-8 if the whole file is valid, else that which an XML document declares, else
 * Windows-1252. Throws a UserError if a file in UTF-8 ends within a character.
 */
async function encodingOf(file: FeedFile, limits: FeedLimits): Promise<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  let hasCharacters = false;
  for await (const chunk of contentOf(file, limits)) {
    const marked = isFirst ? markedEncoding(chunk) : undefined;
    if (marked !== undefined && marked !== "utf-8") return marked;
    isFirst = false;
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = text.subarray(0, text.length - unfinishedBytes(text));
    if (!isUtf8(whole)) return file.format === "xml" ? declaredEncoding(file, limits) : otherEncoding;
    hasCharacters ||= !isAscii(whole);
    rest = Buffer.from(text.subarray(whole.length));
  }
  if (rest.length > 0 && hasCharacters)
    throw fileError(file, ": the file ends within a character: expected whole text in UTF-8.");
  return rest.length === 0 ? "utf-8" : otherEncoding;
}

/** How a text is decoded. `isUtf8` is false if that is as UTF-8 and the text is in another encoding. */
interface Decoding {
  readonly encoding: string;
  readonly isUtf8: boolean;
}

/** Returns how a text is decoded: in a given encoding, else in its own. */
async function decodingIn(file: FeedFile, given: string | undefined, settings: Preparation): Promise<Decoding> {
  if (given === undefined) return { encoding: await foundEncoding(file, settings), isUtf8: true };
  return { encoding: given, isUtf8: given !== "utf-8" || (await encodingOf(file, settings.limits)) === given };
}

/** Returns the encoding of a file, with a remark if nothing says it; an XML document can. */
async function foundEncoding(file: FeedFile, { limits, remark }: Preparation): Promise<string> {
  const encoding = await encodingOf(file, limits);
  if (encoding === otherEncoding && file.format !== "xml")
    remark(
      `${printable(file.name)}: not in UTF-8, read as ${otherEncoding}; file.encoding of a mapping names another.`,
    );
  return encoding;
}

/** The encoding of text that is not in UTF-8 and does not say its own. */
const otherEncoding = "windows-1252";

/** Returns the encoding that an XML document declares, if it is a known one that the text, which is not in UTF-8, can have: some declare `ANSI`. */
async function declaredEncoding(file: FeedFile, limits: FeedLimits): Promise<string> {
  const [, declared = ""] = /^\s*<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(await firstText(file, limits)) ?? [];
  const isOther =
    iconv.encodingExists(declared) && !/^(?:utf|ucs|unicode|us-ascii|ascii|latin-?1$|iso-8859-1$)/i.test(declared);
  return isOther ? declared : otherEncoding;
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
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(file.path, { autoClose: false, strictFileNames: true });
    if (zip.entryCount > entriesMax) throw new Error(`${zip.entryCount} entries: expected at most ${entriesMax}`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    const bytes = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (bytes > limits.uncompressedBytes) throw limitError(file, "uncompressedBytes", limits);
    if (bytes > limits.compressionRatio * storedBytes) throw limitError(file, "compressionRatio", limits);
    const targets: Target[] = [];
    const names = new Set<string>();
    for (const entry of entries) {
      const target = await targetOf(entry.fileName);
      if (target === undefined) continue;
      if (names.size === names.add(entry.fileName).size)
        throw fileError(file, `: two entries named "${printable(entry.fileName, 40)}": expected each name once.`);
      if (entry.isEncrypted()) throw fileError(file, ": encrypted ZIP file: expected one without a password.");
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target.path));
      targets.push(target);
    }
    return targets;
  } catch (thrown) {
    if (thrown instanceof UserError || classifyFault(thrown) === "disk full") throw thrown;
    throw fileError(file, `: invalid ZIP file: ${printable(messageOf(thrown))}.`);
  } finally {
    zip?.close();
  }
}
