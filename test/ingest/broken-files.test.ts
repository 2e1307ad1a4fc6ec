import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { deliverFiles, vinOf } from "../support/lakes/feeds.ts";
import { ask, temporaryFolder } from "../support/lakes/lakes.ts";
import { refusing } from "../support/lakes/refusals.ts";
import { wholeFile } from "../support/scope.ts";

const dealer = "2f6c81d4-9b0e-4c57-8a13-e5d27f40b96a";
const header = "vin,dealer_id,price";
const good = `${vinOf(1)},${dealer},20000`;
const other = `${vinOf(2)},${dealer}`;
const lines = (...of: readonly string[]): string => of.map((line) => `${line}\n`).join("");
const zipped = gzipSync(lines(header, ...Array.from({ length: 200 }, (_, n) => `${vinOf(n)},${dealer},${20_000 + n}`)));

interface Broken {
  readonly content: string | Uint8Array;
  readonly says: RegExp;
}

/** Inventories as CSV, and what is said of each after the file's name. */
const csv: Readonly<Record<string, Broken>> = {
  "a row too short": { content: lines(header, good, other), says: /, row 2\b.*column "price" is missing/ },
  "a row too long": {
    content: lines(header, good, `${other},1,2`),
    says: /, row 2\b.*unexpected field after column "price"/,
  },
  "a row too short after a value of two lines": {
    content: lines("vin,dealer_id,trim", `${other},"a\nb"`, other),
    says: /, row 2\b.*column "trim" is missing/,
  },
  "a row too short after a blank line": { content: lines(header, good, "", other), says: /, row 2\b/ },
  "a quote that does not end": {
    content: lines(header, good, `${other},"1`, good),
    says: /, row 2\b.*expected a closing quote/,
  },
  "text after a quote": { content: lines(header, good, `${other},"1"x`), says: /, row 2\b.*expected a closing quote/ },
  "a value not in UTF-8": {
    content: Buffer.from(lines("vin,dealer_id,trim", good, `${other},Café`), "latin1"),
    says: /, row 2\b.*encoding/,
  },
  "an empty file": { content: "", says: /, row 0 \(header\): empty file: expected column names/ },
  "no column vin": { content: lines("dealer_id,price"), says: /, row 0 \(header\): missing column "vin"/ },
  "a column without a name": {
    content: lines("vin,dealer_id,,price"),
    says: /, row 0 \(header\): column 3 has no name/,
  },
  "a column twice": {
    content: lines(`${header},price`, `${good},1`),
    says: /, row 0 \(header\): duplicate column "price"/,
  },
  "a column twice, in another case": {
    content: lines(`${header},Price`, `${good},1`),
    says: /, row 0 \(header\): duplicate column "Price"/,
  },
};

const zippedCsv: Readonly<Record<string, Broken>> = {
  "gzip cut in half": {
    content: zipped.subarray(0, zipped.length / 2),
    says: /: invalid gzip file: unexpected end of file/,
  },
  "gzip without its end": { content: zipped.subarray(0, -8), says: /: invalid gzip file/ },
  "text that is no gzip": { content: lines(header, good), says: /: invalid gzip file: incorrect header check/ },
  "an empty file": { content: "", says: /: invalid gzip file/ },
};

const car = (n: number, more = ""): string => `{"vin":"${vinOf(n)}","dealer_id":"${dealer}"${more}}`;

const ndjson: Readonly<Record<string, Broken>> = {
  "a malformed line": {
    content: lines(car(1), '{"vin" "1"}', car(3)),
    says: /, row 2: invalid JSON: expected an object/,
  },
  "a last line cut short": {
    content: lines(car(1)) + car(2).slice(0, 30),
    says: /, row 2: invalid JSON: expected an object/,
  },
  "a line that is a list": { content: lines(car(1), "[1, 2]"), says: /, row 2: invalid JSON: expected an object/ },
  "a line that is a text": { content: lines(car(1), '"a"'), says: /, row 2: invalid JSON: expected an object/ },
  "an object for a price": {
    content: lines(car(1), car(2, ',"price":{"usd":1}')),
    says: /, row 2: nested value in column "price": expected integer/,
  },
  "a list for a trim": {
    content: lines(car(1, ',"trim":["XLE"]')),
    says: /, row 1: nested value in column "trim": expected string/,
  },
  "an object for a list": {
    content: lines(car(1, ',"features":{"a":1}')),
    says: /, row 1: nested value in column "features": expected array/,
  },
  "a value not in UTF-8": {
    content: Buffer.from(lines(car(1), car(2, ',"trim":"Café"')), "latin1"),
    says: /, row 2: .*(encoding|UTF-8|invalid JSON)/i,
  },
  "no column vin": { content: lines(`{"dealer_id":"${dealer}"}`), says: /, .*missing column "vin"/ },
  "an empty file": { content: "", says: /: empty file: expected at least one row/ },
};

const zippedNdjson: Readonly<Record<string, Broken>> = {
  "gzip cut in half": { content: gzipSync(lines(car(1))).subarray(0, 40), says: /: invalid gzip file/ },
};

const parquet: Readonly<Record<string, Broken>> = {
  "text that is no Parquet": { content: "not a table at all", says: /: / },
  "an empty file": { content: "", says: /: / },
};

const files = {
  "inventory.csv": csv,
  "inventory.csv.gz": zippedCsv,
  "inventory.ndjson": ndjson,
  "inventory.ndjson.gz": zippedNdjson,
  "inventory.parquet": parquet,
};

const { lake, refuses, takesTheNextDay } = await refusing(wholeFile);

for (const [file, broken] of Object.entries(files)) {
  for (const [what, { content, says }] of Object.entries(broken)) {
    test(`${file} is refused with nothing changed: ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      await deliverFiles(folder, "2026-11-19", { [file]: content });
      await refuses(new RegExp(`^${file.replaceAll(".", "\\.")}${says.source}`, says.flags), folder);
    });
  }
}

test("Parquet is refused with nothing changed: a column of a type that its field has not", async (t) => {
  const day = await deliverFiles(await temporaryFolder(t), "2026-11-19", {});
  const path = join(day, "inventory.parquet");
  await ask(lake, `COPY (SELECT '${vinOf(1)}' AS vin, '${dealer}' AS dealer_id, {usd: 1} AS price) TO '${path}'`);
  await refuses(/^inventory\.parquet, .*invalid type STRUCT.* of column "price": expected integer/, day);
});

test("Parquet is refused with nothing changed: a file cut in half", async (t) => {
  const day = await deliverFiles(await temporaryFolder(t), "2026-11-19", {});
  const path = join(day, "inventory.parquet");
  await ask(lake, `COPY (SELECT '${vinOf(1)}' AS vin, '${dealer}' AS dealer_id) TO '${path}'`);
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, whole.length / 2));
  await refuses(/^inventory\.parquet: /, day);
});

test("a broken file takes the good ones of its day with it", async (t) => {
  const folder = await temporaryFolder(t);
  const both = { "inventory.csv": lines(header, good), "inventory_2.csv": lines(header, other) };
  await deliverFiles(folder, "2026-11-19", both);
  await refuses(/^inventory_2\.csv, row 1\b/, folder);
});

test("dealers.csv is refused with nothing changed: no column name", async (t) => {
  const folder = await temporaryFolder(t);
  await deliverFiles(folder, "2026-11-19", { "dealers.csv": lines("dealer_id,city", `${dealer},Austin`) });
  await refuses(
    /^dealers\.csv, row 0 \(header\): missing column "name": expected dealer_id, name; found dealer_id, city/,
    folder,
  );
});

test("after all these refusals the next good day is published, and nothing is left over", takesTheNextDay);
