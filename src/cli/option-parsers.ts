/** Parsers of option values. Each throws an InvalidArgumentError that says what was expected. */
import { InvalidArgumentError } from "commander";
import { isDay } from "../base/day.ts";

/** Parses a memory limit as the query engine takes it. With less it cannot answer, and no machine has more. */
export function memoryParser(text: string): string {
  const mebibytes = /B$/i.test(text) ? (bytesIn(text) ?? 0) / 2 ** 20 : 0;
  if (64 <= mebibytes && mebibytes <= 2 ** 24) return text;
  const [, share = "0"] = /^(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  if (1 <= Number(share) && Number(share) <= 100) return text;
  throw new InvalidArgumentError(
    "Expected a size from 64MiB to 16TiB, such as 4GiB, or a share of the memory from 1% to 100%.",
  );
}

/** Returns a parser of texts that a pattern fits. */
const textParser =
  (pattern: RegExp, expected: string) =>
  (text: string): string => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };

export const pathParser = textParser(/^(?!\w[\w+.-]*:\/\/)./s, "a path");

export const accountsParser = textParser(
  /^postgres(ql)?:\/\/.|^(?!\w[\w+.-]*:\/\/)./s,
  "a path, or a URL such as postgres://USER@HOST/DATABASE",
);

/** Parses a name or an address to listen on. */
export const hostParser = textParser(
  /^[\w.-]+$|^(?=.*:.*:)[\da-f:.]+(%\w+)?$/i,
  "a name or an address without a port, such as 127.0.0.1",
);

export const urlParser = textParser(/^https?:\/\/[^\s/?#]+(\/\S*)?$/i, "a URL that begins with https:// or http://");

export function dayParser(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError("Expected a day, YYYY-MM-DD.");
}

/** Parses the ISO 4217 code of a currency, in any case. */
export function currencyParser(text: string): string {
  const code = text.toUpperCase();
  if (Intl.supportedValuesOf("currency").includes(code)) return code;
  throw new InvalidArgumentError("Expected the ISO 4217 code of a currency, such as USD or CAD.");
}

/** Returns a parser of whole numbers in a range, both ends included. */
export function integerParser(max: number, min = 0): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && min <= number && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Returns a parser of numbers in a range, both ends included. */
export const numberParser =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && min <= number && number <= max) return number;
    throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
  };

/** Returns the default and the parser of a value that is given and shown in a unit larger than that of its name. */
export const inUnits = (unit: number, shown: number, parse: (text: string) => number) => ({
  default: shown * unit,
  shownDefault: String(shown),
  parse: (text: string): number => parse(text) * unit,
});

/** Parses the URI of a folder, and removes a slash at its end. */
export function locationParser(text: string): string {
  if (/^([a-z][a-z0-9+.-]*:\/)?\/[^\s?#]+$/i.test(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Expected the URI of a folder, such as s3://bucket/lake or file:///srv/lake.");
}

export function secondsParser(text: string): number {
  if (/^\d+(\.\d{1,3})?$/.test(text) && Number(text) <= 3600) return Number(text);
  throw new InvalidArgumentError("Expected a number of seconds from 0 to 3600, such as 10 or 0.5.");
}

/** Returns the bytes of a size such as 512MiB, 1.5 GB or 4096; undefined for another text. */
export function bytesIn(text: string): number | undefined {
  const [, number, prefix = "", binary = ""] = /^(\d{1,15}(?:\.\d{1,9})?)\s*(?:([KMGT])(i)?)?B?$/i.exec(text) ?? [];
  if (number === undefined) return undefined;
  const power = ["", "K", "M", "G", "T"].indexOf(prefix.toUpperCase());
  return Math.round(Number(number) * (binary === "" ? 1000 : 1024) ** power);
}

/** Returns a parser of sizes in a range of sizes, both ends included. */
export const sizeParser =
  (min: string, max: string, example: string) =>
  (text: string): number => {
    const bytes = bytesIn(text) ?? -1;
    if ((bytesIn(min) ?? 0) <= bytes && bytes <= (bytesIn(max) ?? 0)) return bytes;
    throw new InvalidArgumentError(`Expected a size from ${min} to ${max}, such as ${example}.`);
  };

/** Adds a text to those of earlier flags. */
export const repeatedParser = (text: string, earlier: readonly string[] = []): readonly string[] => [...earlier, text];

/** Parses origins, or `*` for any, separated by commas, and adds them to those of earlier flags. */
export function originsParser(text: string, earlier: readonly string[] = []): readonly string[] {
  const origins = text.split(",").map((item) => item.trim().toLowerCase());
  const invalid = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (invalid === undefined) return [...earlier, ...origins];
  const expected = "an origin as browsers send it, such as https://app.example or http://localhost:3000, or *";
  throw new InvalidArgumentError(`Invalid origin ${JSON.stringify(invalid)}: expected ${expected}.`);
}

/** Returns true for a scheme, a host and a port that is not the scheme's own, without a path. */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Returns a parser of names with a text, such as `make=Ford`, which adds each to those of earlier flags. Names are case-insensitive. */
export const namedParser =
  (expected: string) =>
  (text: string, earlier: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> => {
    const [, name = "", value = ""] = /^([a-z_]\w*)=(.*)$/is.exec(text) ?? [];
    if (name === "") throw new InvalidArgumentError(`Expected a name of letters, digits and _, and ${expected}.`);
    if (earlier.has(name.toLowerCase())) throw new InvalidArgumentError(`Expected ${name} once.`);
    return new Map([...earlier, [name.toLowerCase(), value]]);
  };
