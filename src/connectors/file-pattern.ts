/** Patterns of paths: `*` is any text within a name, `?` a character, and `%Y`, `%m`, `%d` the parts of a day. */
import { isDay } from "../base/day.ts";

export interface FilePattern {
  /** An expression for each part of a path; a text where the part is literal. */
  readonly parts: readonly (string | RegExp)[];
  /** Whether a folder has a wildcard: its name stands for a dealer. */
  readonly hasDealers: boolean;
  /** Whether the names of files have their day. */
  readonly hasDay: boolean;
}

/** What a path says about its file. */
export interface FileMatch {
  readonly name: string;
  readonly day: string | undefined;
  readonly dealer: string | undefined;
}

const dayParts: Readonly<Record<string, string>> = { "%Y": "(?<Y>\\d{4})", "%m": "(?<m>\\d{2})", "%d": "(?<d>\\d{2})" };

/** Parses a pattern. Calls `fail` if it is invalid. */
export function parsePattern(text: string, fail: (message: string) => never): FilePattern {
  const segments = text.split("/");
  if (segments.some((segment) => /^\.{0,2}$/.test(segment)))
    fail("expected names of folders and a file, without . and ..");
  const dates = [...text.matchAll(/%./g)].map(([part]) => part);
  if (dates.length > 0 && dates.toSorted().join("") !== "%Y%d%m") fail("a day: expected each of %Y, %m and %d once");
  const folders = segments.slice(0, -1);
  if (folders.join("/").includes("%")) fail("a day in a folder: expected one in the name of the file");
  const wild = folders.filter((segment) => /[*?]/.test(segment));
  if (wild.length > 1)
    fail("wildcards in several folders: expected at most one such folder, which stands for a dealer");
  const parts = segments.map((segment) => (/[*?%]/.test(segment) ? expressionOf(segment) : segment));
  return { parts, hasDealers: wild.length === 1, hasDay: dates.length > 0 };
}

function expressionOf(segment: string): RegExp {
  const source = segment.replaceAll(/%[Ymd]|[*?]|[\\^$.+()[\]{}|]/g, (part) => {
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : (dayParts[part] ?? `\\${part}`);
  });
  return new RegExp(`^${source}$`, "u");
}

/** Returns the pattern of a single file. */
export const patternOfName = (name: string): FilePattern => ({ parts: [name], hasDealers: false, hasDay: false });

/** Returns whether a name fits a part of a pattern. */
export const fitsPart = (part: string | RegExp | undefined, name: string): boolean =>
  typeof part === "string" ? part === name : part?.test(name) === true;

/** Returns whether a path fits a pattern. Its day can be invalid. */
export function fitsPattern({ parts }: FilePattern, path: string): boolean {
  const names = path.split("/");
  return names.length === parts.length && parts.every((part, index) => fitsPart(part, names[index] ?? ""));
}

/** Returns what a path says; undefined if it does not fit, or has no valid day where one is expected. */
export function matchPath(pattern: FilePattern, path: string): FileMatch | undefined {
  if (!fitsPattern(pattern, path)) return undefined;
  const { parts } = pattern;
  const names = path.split("/");
  const name = names.at(-1) ?? "";
  const last = parts.at(-1);
  const { Y, m, d } = (last instanceof RegExp ? last.exec(name)?.groups : undefined) ?? {};
  const day = Y === undefined ? undefined : `${Y}-${m}-${d}`;
  if (day !== undefined && !isDay(day)) return undefined;
  return { name, day, dealer: names.slice(0, -1).find((_, index) => typeof parts[index] !== "string") };
}

/** Returns whether a name is that of a file in a folder, and not a path, and leaves room for endings: file systems take 255 bytes. */
export const isFileName = (name: string): boolean =>
  Buffer.byteLength(name) <= 200 && !/^\.{0,2}$|[/\\\p{Cc}]/u.test(name);
