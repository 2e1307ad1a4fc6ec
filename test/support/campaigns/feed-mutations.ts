/** Mutations of feed files, such as a third party's software, network or malice causes. */
import { gzipSync } from "node:zlib";
import type { Chance } from "../chance.ts";

/** Returns changed bytes. */
type Mutation = (bytes: Buffer, chance: Chance) => Buffer;

/** Returns the bytes with those from `start` to `end` replaced. */
const replaced = (bytes: Buffer, start: number, end: number, by: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)]);

const randomBytes = (chance: Chance, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => chance.integer(0, 255)));

const position = (bytes: Buffer, chance: Chance): number => chance.integer(0, bytes.length);

/** Returns the bounds of a line, without its end. */
function lineIn(bytes: Buffer, chance: Chance): readonly [start: number, end: number] {
  const at = position(bytes, chance);
  const start = bytes.lastIndexOf(10, Math.max(0, at - 1)) + 1;
  const end = bytes.indexOf(10, start);
  return [start, end < 0 ? bytes.length : end];
}

const insert =
  (content: (chance: Chance) => Buffer | string): Mutation =>
  (bytes, chance) => {
    const at = position(bytes, chance);
    return replaced(bytes, at, at, Buffer.from(content(chance)));
  };

/** Replaces a value: the text between two commas, colons or quotes. */
const replaceValue =
  (content: (chance: Chance) => string): Mutation =>
  (bytes, chance) => {
    const values = [...bytes.toString("latin1").matchAll(/(?<=[,:])[^,:{}\n]+/g)];
    if (values.length === 0) return bytes;
    const { index, 0: value } = chance.pick(values);
    const text = content(chance);
    const isJson = bytes[0] === 123 && chance.happens(0.5);
    return replaced(bytes, index, index + value.length, Buffer.from(isJson ? JSON.stringify(text) : text));
  };

const deep = (chance: Chance): string => {
  const depth = chance.pick([20, 33, 1000, 100_000, 200_000]);
  return chance.happens(0.5) ? "[".repeat(depth) + "]".repeat(depth) : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
};

const long = (chance: Chance): string =>
  chance.pick(["x", "9", "é", "\ud83d\ude97", '""']).repeat(chance.pick([300, 70_000, 300_000, 3_000_000]));

const hostileValues = [
  ...["—", "N/A", "null", "-1e308", "1e400", "NaN", "Infinity", "9".repeat(40), "0x10", "''; --", "%s%n", "\\", '\\"'],
  ...[
    "0001-01-01",
    "infinity",
    "2026-13-45T99:99:99Z",
    "\u0000",
    "\ufeff",
    "\u202e",
    "\r",
    "\n",
    '"',
    '""',
    "|||",
    "{}",
    "[]",
  ],
  ...['"a\\u0000b"', '[{"amount_usd":1e999,"raw_label":"x"}]', '{"a":{"b":[1]}}', "true", "null"],
];

const mutations: Readonly<Record<string, Mutation>> = {
  "flipped bits": (bytes, chance) => {
    const changed = Buffer.from(bytes);
    for (let flips = chance.integer(1, 20); flips > 0 && changed.length > 0; flips -= 1) {
      const at = chance.integer(0, changed.length - 1);
      changed[at] = (changed[at] ?? 0) ^ (1 << chance.integer(0, 7));
    }
    return changed;
  },
  "cut short": (bytes, chance) => bytes.subarray(0, position(bytes, chance)),
  "without its beginning": (bytes, chance) => bytes.subarray(position(bytes, chance)),
  "a part lost": (bytes, chance) => {
    const at = position(bytes, chance);
    return replaced(bytes, at, Math.min(bytes.length, at + chance.integer(1, 2000)), Buffer.alloc(0));
  },
  "zeros at the end": (bytes, chance) => Buffer.concat([bytes, Buffer.alloc(chance.integer(1, 5000))]),
  "random bytes": insert((chance) => randomBytes(chance, chance.integer(1, 300))),
  "a line twice": (bytes, chance) => {
    const [start, end] = lineIn(bytes, chance);
    const line = Buffer.concat([bytes.subarray(start, end), Buffer.from("\n")]);
    return replaced(bytes, start, start, Buffer.concat(Array(chance.pick([1, 1, 5, 2000])).fill(line)));
  },
  "a line lost": (bytes, chance) => {
    const [start, end] = lineIn(bytes, chance);
    return replaced(bytes, start, end + 1, Buffer.alloc(0));
  },
  "a hostile value": replaceValue((chance) => chance.pick(hostileValues)),
  "a long value": replaceValue(long),
  "a deep value": replaceValue(deep),
  "a deep text": replaceValue((chance) => JSON.stringify(deep(chance))),
  "a quote": insert(() => '"'),
  "a control character": insert((chance) => String.fromCharCode(chance.integer(0, 31))),
  "as UTF-16": (bytes, chance) => Buffer.from(`${chance.pick(["\ufeff", ""])}${bytes.toString("utf8")}`, "utf16le"),
  "as Latin-1": (bytes) => Buffer.from(`${bytes.toString("utf8")}é`, "latin1"),
  "other line ends": (bytes, chance) =>
    Buffer.from(
      bytes.toString("latin1").replaceAll("\n", () => chance.pick(["\n", "\r\n", "\r"])),
      "latin1",
    ),
  "other random bytes": (_bytes, chance) => randomBytes(chance, chance.pick([0, 1, 10, 5000])),
  "many columns": (bytes, chance) => {
    const columns = Array.from({ length: chance.pick([10, 999, 5000]) }, (_, index) => `c${index}`);
    return Buffer.concat([Buffer.from(chance.pick([`${columns},`, `{"${columns.join('":1,"')}":1}\n`])), bytes]);
  },
};

const gzipMutations: Readonly<Record<string, Mutation>> = {
  ...mutations,
  "a bomb": (bytes, chance) => gzipSync(Buffer.concat([bytes, Buffer.alloc(chance.pick([1e6, 3e7]), "a,b,c\n")])),
  "two members": (bytes) => Buffer.concat([bytes, bytes]),
  "random gzip": (_bytes, chance) => gzipSync(randomBytes(chance, chance.pick([0, 1, 5000]))),
};

export interface MutatedFeed {
  readonly bytes: Buffer;
  /** Its mutations, in order. */
  readonly mutations: readonly string[];
}

/** Mutates a file one to three times; a compressed one before or after its compression. */
export function mutateFeed(content: Buffer, isGzip: boolean, chance: Chance): MutatedFeed {
  const done: string[] = [];
  const mutate = (bytes: Buffer, among: Readonly<Record<string, Mutation>>): Buffer => {
    let changed = bytes;
    for (let times = chance.pick([1, 1, 1, 2, 3]); times > 0; times -= 1) {
      const name = chance.pick(Object.keys(among));
      done.push(name);
      changed = among[name]?.(changed, chance) ?? changed;
    }
    return changed;
  };
  if (!isGzip) return { bytes: mutate(content, mutations), mutations: done };
  const bytes = chance.happens(0.5) ? gzipSync(mutate(content, mutations)) : mutate(gzipSync(content), gzipMutations);
  return { bytes, mutations: done };
}
