/**
 * Checks a feed file before the engine reads it: its kind, its size and, in one pass over its bytes, what the engine would misread,
 * or accept at any cost, such as NDJSON so deeply nested that the engine's parser overflows the stack.
 */
import { open, stat } from "node:fs/promises";
import { messageOf, UserError } from "../../base/user-error.ts";
import { chunksOf, type FeedFile, type FeedFormat, type FeedLimits, feedColumnsMax, layoutOf } from "./feed-file.ts";
import { describeSystemError, fileError, limitError } from "./file-errors.ts";
import { countSchemaElements } from "./parquet-footer.ts";

/** The footer of a Parquet feed: a hundred row groups of all fields take up less than 1 MB. */
const footerBytesMax = 64 * 2 ** 20;

export interface CheckedContent {
  /** Size of the content, uncompressed unless it is Parquet. */
  readonly bytes: number;
  /** Whether a small CSV file has an odd number of quotes: the engine loses a last row whose quote does not end if it reads the file before others. */
  readonly hasOddQuotes: boolean;
  /** Whether its texts can have entities of HTML. */
  readonly hasEntities: boolean;
}

/** The largest file that is read together with others. */
export const batchBytesMax = 2 ** 20;

/**
 * Checks a file and returns the size of its content. Throws a UserError if it is not a regular file, exceeds a
 * limit, or is not of the format that its name says.
 */
export async function checkFeedFile(file: FeedFile, limits: FeedLimits): Promise<CheckedContent> {
  if (file.format !== "parquet") return checkText(file, limits);
  const bytes = await sizeWithin(file, limits);
  await checkParquet(file, bytes);
  return { bytes, hasOddQuotes: false, hasEntities: true };
}

/** Returns the size of a file. Throws a UserError if it is not a regular file, or larger than the limit. */
export async function sizeWithin(file: FeedFile, limits: FeedLimits): Promise<number> {
  const bytes = await sizeOf(file);
  if (bytes > limits.fileBytes) throw limitError(file, "fileBytes", limits);
  return bytes;
}

/** Yields the content of a file, uncompressed. Throws a UserError if the file cannot be read or exceeds a limit. */
export async function* contentOf(file: FeedFile, limits: FeedLimits): AsyncGenerator<Buffer, void, undefined> {
  const storedBytes = await sizeWithin(file, limits);
  const uncompressedMax = file.isGzip ? limits.uncompressedBytes : Number.POSITIVE_INFINITY;
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(file)) {
      bytes += chunk.length;
      if (bytes > uncompressedMax) throw limitError(file, "uncompressedBytes", limits);
      if (bytes > limits.compressionRatio * storedBytes) throw limitError(file, "compressionRatio", limits);
      yield chunk;
    }
  } catch (thrown) {
    if (thrown instanceof UserError) throw thrown;
    throw fileError(
      file,
      isZlibError(thrown) ? `: invalid gzip file: ${messageOf(thrown)}.` : `: ${describeSystemError(thrown)}.`,
    );
  }
}

const isZlibError = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("Z_");

/** Returns the size of a regular file. Throws a UserError for anything else: reading a FIFO or a device may never end. */
async function sizeOf(file: FeedFile): Promise<number> {
  const found = await stat(file.path).catch((thrown: unknown) => {
    throw fileError(file, `: ${describeSystemError(thrown)}.`);
  });
  if (found.isFile()) return found.size;
  throw fileError(file, `: ${found.isDirectory() ? "a folder" : "a FIFO, socket or device"}: expected a regular file.`);
}

/** Checks both ends of a Parquet file. */
async function checkParquet(file: FeedFile, bytes: number): Promise<void> {
  checkFirstBytes(file, await readPart(file, 0, 4));
  const end = await readPart(file, Math.max(0, bytes - 8), 8);
  const footerBytes = end.length < 8 ? 0 : end.readUInt32LE(0);
  if (!end.subarray(4).equals(parquetMagic) || footerBytes > bytes - 12)
    throw fileError(file, ": no footer: expected a Parquet file with its end.");
  if (footerBytes > footerBytesMax)
    throw fileError(file, `: footer of ${footerBytes} bytes: expected at most ${footerBytesMax}.`);
  const footer = await readPart(file, bytes - 8 - footerBytes, footerBytes);
  if (schemaElementsIn(file, footer) > 4 * feedColumnsMax)
    throw fileError(file, `: too many columns: expected at most ${feedColumnsMax}.`);
}

function schemaElementsIn(file: FeedFile, footer: Buffer): number {
  try {
    return countSchemaElements(footer);
  } catch {
    throw fileError(file, ": invalid footer: expected that of a Parquet file.");
  }
}

/** Reads a part of a file; fewer bytes if the file ends before. */
async function readPart(file: FeedFile, position: number, length: number): Promise<Buffer> {
  try {
    const handle = await open(file.path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    throw fileError(file, `: ${describeSystemError(thrown)}.`);
  }
}

const parquetMagic = Buffer.from("PAR1");

/** Formats by their first bytes. */
const signatures: readonly (readonly [bytes: readonly number[], name: string, format?: FeedFormat])[] = [
  [[...parquetMagic], "Parquet", "parquet"],
  [[0x1f, 0x8b], "gzip"],
  [[0x50, 0x4b, 0x03, 0x04], "ZIP"],
  [[0x28, 0xb5, 0x2f, 0xfd], "Zstandard"],
  [[0xff, 0xfe], "UTF-16 text"],
  [[0xfe, 0xff], "UTF-16 text"],
];

/** Throws a UserError if the first bytes are those of another format. */
function checkFirstBytes(file: FeedFile, first: Buffer): void {
  const [, name, format] = signatures.find(([bytes]) => bytes.every((byte, index) => first[index] === byte)) ?? [];
  if (file.format === format || (name === undefined && file.format !== "parquet")) return;
  const expected = file.format === "parquet" ? "Parquet" : `${file.format.toUpperCase()} in UTF-8`;
  throw fileError(
    file,
    `: content is ${name ?? (first.length === 0 ? "empty" : "of an unknown format")}: expected ${expected}.`,
  );
}

/** The longest line at the end of a CSV file: the engine drops a longer one. */
const lastLineBytesMax = 2 ** 24;

/**
 * Reads a text file to its end, and returns its size. The engine accepts a gzip file that was cut short, and NUL bytes. Throws an error that is no
 * UserError for one that the engine would misread, but not if it is written again.
 */
async function checkText(file: FeedFile, limits: FeedLimits): Promise<CheckedContent> {
  const isCsv = file.format === "csv";
  const { quote, delimiter } = isCsv ? layoutOf(file) : { quote: "", delimiter: "" };
  // Fields that begin as a text in the form of a spreadsheet's formula: `="12"`.
  const formula = new RegExp(`(?:^|[${`${delimiter}${quote}`.replaceAll(/[\\\]^-]/g, "\\$&")}\r\n])=[${quote}]`);
  let quotes = 0;
  const json = file.format === "ndjson" ? new JsonLineCheck(file, limits) : undefined;
  let offset = 0;
  let lineStart = 0;
  let fault: string | undefined;
  let hasAmpersand = false;
  let hasSemicolon = false;
  for await (const chunk of contentOf(file, limits)) {
    if (offset === 0) checkFirstBytes(file, chunk);
    const nul = chunk.indexOf(0);
    if (nul >= 0) fault ??= `NUL byte at offset ${offset + nul}: expected text.`;
    if (quote !== "" && chunk.includes(`=${quote}`) && formula.test(chunk.toString()))
      fault ??= "formulas: expected values.";
    json?.add(chunk);
    hasAmpersand ||= chunk.includes("&");
    hasSemicolon ||= chunk.includes(";");
    if (quote !== "" && offset < batchBytesMax) quotes += chunk.toString().split(quote).length - 1;
    const end = Math.max(chunk.lastIndexOf(lineFeed), chunk.lastIndexOf(carriageReturn));
    if (end >= 0) lineStart = offset + end + 1;
    offset += chunk.length;
  }
  if (isCsv && offset - lineStart > lastLineBytesMax) throw limitError(file, "recordBytes", limits);
  if (fault !== undefined && !file.isNumbered) throw new Error(fault);
  const hasOddQuotes = offset <= batchBytesMax && quotes % 2 === 1;
  return { bytes: offset, hasOddQuotes, hasEntities: hasAmpersand && hasSemicolon };
}

const lineFeed = 10;
const carriageReturn = 13;
const doubleQuote = 34;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Checks the size of each line of NDJSON, and its depth of arrays and objects outside of strings. */
class JsonLineCheck {
  private row = 1;
  private bytes = 0;
  private depth = 0;
  private isBlank = true;
  private isInString = false;
  private isEscaped = false;

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
  ) {}

  /** Checks a chunk. Throws a UserError if a line exceeds a limit. */
  add(chunk: Buffer): void {
    const { nesting, recordBytes } = this.limits;
    let { row, bytes, depth, isBlank, isInString, isEscaped } = this;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (byte === lineFeed) {
        if (!isBlank) row += 1;
        bytes = 0;
        depth = 0;
        isBlank = true;
        isInString = false;
        isEscaped = false;
        continue;
      }
      bytes += 1;
      if (byte > 32) isBlank = false;
      if (isEscaped) isEscaped = false;
      else if (byte === doubleQuote) isInString = !isInString;
      else if (isInString) isEscaped = byte === backslash;
      else if (byte === openBracket || byte === openBrace) depth += 1;
      else if (byte === closeBracket || byte === closeBrace) depth -= 1;
      if (bytes > recordBytes) throw limitError(this.file, "recordBytes", this.limits, row);
      if (depth > nesting) throw limitError(this.file, "nesting", this.limits, row);
    }
    Object.assign(this, { row, bytes, depth, isBlank, isInString, isEscaped });
  }
}
