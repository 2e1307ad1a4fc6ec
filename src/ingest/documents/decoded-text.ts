/** Text of foreign files: finds their encoding and decodes it. Node.js decodes Windows-1252 wrongly since 20.18.3, so `iconv-lite` does. */
import { isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import type { FeedFile } from "../feed/feed-file.ts";
import type { FeedLimits } from "../feed/feed-limits.ts";
import { contentOf } from "../feed/file-checks.ts";

const byteOrderMarks: readonly (readonly [mark: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16"],
  [[0xfe, 0xff], "utf-16"],
];

/** Returns the encoding that a byte order mark stands for. */
export const markedEncoding = (first: Buffer): string | undefined =>
  byteOrderMarks.find(([mark]) => mark.every((byte, index) => first[index] === byte))?.[1];

/** Returns the encoding of a file: that of its byte order mark, else UTF-8 if the whole file is valid, else Windows-1252. */
export async function encodingOf(file: FeedFile, limits: FeedLimits): Promise<string> {
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
export async function declaredEncoding(file: FeedFile, limits: FeedLimits): Promise<string | undefined> {
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
export async function* decodedText(
  file: FeedFile,
  encoding: string,
  limits: FeedLimits,
): AsyncGenerator<string, void, undefined> {
  const decoder = iconv.getDecoder(encoding);
  for await (const chunk of contentOf(file, limits)) yield decoder.write(chunk);
  yield decoder.end() ?? "";
}

/** Returns the text at the start of a file: its first chunk, or nothing if it is empty. */
export async function firstText(file: FeedFile, limits: FeedLimits): Promise<string> {
  for await (const chunk of contentOf(file, limits)) return iconv.decode(chunk, markedEncoding(chunk) ?? "utf-8");
  return "";
}
