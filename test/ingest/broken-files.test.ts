/** Malformed feed files, which are refused as a whole. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { createRefusingLake } from "../support/lakes/refusing-lake.ts";
import { fileScope } from "../support/scope.ts";

const dealer = "2f6c81d4-9b0e-4c57-8a13-e5d27f40b96a";
const header = "vin,dealer_id,price";
const good = `${vinOf(1)},${dealer},20000`;
const other = `${vinOf(2)},${dealer}`;
const joinLines = (...of: readonly string[]): string => of.map((line) => `${line}\n`).join("");
const zipped = gzipSync(
  joinLines(header, ...Array.from({ length: 200 }, (_, n) => `${vinOf(n)},${dealer},${20_000 + n}`)),
);

interface BrokenFile {
  readonly content: string | Uint8Array;
  readonly says: RegExp;
}

/** CSV inventories, and the error after the file name. */
const csv: Readonly<Record<string, BrokenFile>> = {
  "a row too short": { content: joinLines(header, good, other), says: /, row 2\b.*column "price" is missing/ },
  "a row too long": {
    content: joinLines(header, good, `${other},1,2`),
    says: /, row 2\b.*unexpected field after column "price"/,
  },
  "a row too short after a value of two lines": {
    content: joinLines("vin,dealer_id,trim", `${other},"a\nb"`, other),
    says: /, row 2\b.*column "trim" is missing/,
  },
  "a row too short after a blank line": { content: joinLines(header, good, "", other), says: /, row 2\b/ },
  "a quote that does not end": {
    content: joinLines(header, good, `${other},"1`, good),
    says: /, row 2\b.*expected a closing quote/,
  },
  "text after a quote": {
    content: joinLines(header, good, `${other},"1"x`),
    says: /, row 2\b.*expected a closing quote/,
  },
  "a value not in UTF-8": {
    content: Buffer.from(joinLines("vin,dealer_id,trim", good, `${other},Café`), "latin1"),
    says: /, row 2\b.*encoding/,
  },
  "an empty file": { content: "", says: /, row 0 \(header\): empty file: expected column names/ },
  "no column vin": { content: joinLines("dealer_id,price"), says: /, row 0 \(header\): missing column "vin"/ },
  "a column without a name": {
    content: joinLines("vin,dealer_id,,price"),
    says: /, row 0 \(header\): column 3 has no name/,
  },
  "a column twice": {
    content: joinLines(`${header},price`, `${good},1`),
    says: /, row 0 \(header\): duplicate column "price"/,
  },
  "a column twice, in another case": {
    content: joinLines(`${header},Price`, `${good},1`),
    says: /, row 0 \(header\): duplicate column "Price"/,
  },
};

const zippedCsv: Readonly<Record<string, BrokenFile>> = {
  "gzip cut in half": {
    content: zipped.subarray(0, zipped.length / 2),
    says: /: invalid gzip file: unexpected end of file/,
  },
  "gzip without its end": { content: zipped.subarray(0, -8), says: /: invalid gzip file/ },
  "text that is no gzip": { content: joinLines(header, good), says: /: invalid gzip file: incorrect header check/ },
  "an empty file": { content: "", says: /: invalid gzip file/ },
};

const car = (n: number, more = ""): string => `{"vin":"${vinOf(n)}","dealer_id":"${dealer}"${more}}`;

const ndjson: Readonly<Record<string, BrokenFile>> = {
  "a malformed line": {
    content: joinLines(car(1), '{"vin" "1"}', car(3)),
    says: /, row 2: invalid JSON: expected an object/,
  },
  "a last line cut short": {
    content: joinLines(car(1)) + car(2).slice(0, 30),
    says: /, row 2: invalid JSON: expected an object/,
  },
  "a line that is a list": { content: joinLines(car(1), "[1, 2]"), says: /, row 2: invalid JSON: expected an object/ },
  "a line that is a text": { content: joinLines(car(1), '"a"'), says: /, row 2: invalid JSON: expected an object/ },
  "an object for a price": {
    content: joinLines(car(1), car(2, ',"price":{"usd":1}')),
    says: /, row 2: nested value in column "price": expected integer/,
  },
  "a list for a trim": {
    content: joinLines(car(1, ',"trim":["XLE"]')),
    says: /, row 1: nested value in column "trim": expected string/,
  },
  "an object for a list": {
    content: joinLines(car(1, ',"features":{"a":1}')),
    says: /, row 1: nested value in column "features": expected array/,
  },
  "a value not in UTF-8": {
    content: Buffer.from(joinLines(car(1), car(2, ',"trim":"Café"')), "latin1"),
    says: /, row 2: .*(encoding|UTF-8|invalid JSON)/i,
  },
  "no column vin": { content: joinLines(`{"dealer_id":"${dealer}"}`), says: /, .*missing column "vin"/ },
  "an empty file": { content: "", says: /: empty file: expected at least one row/ },
};

const zippedNdjson: Readonly<Record<string, BrokenFile>> = {
  "gzip cut in half": { content: gzipSync(joinLines(car(1))).subarray(0, 40), says: /: invalid gzip file/ },
};

const parquet: Readonly<Record<string, BrokenFile>> = {
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

const { lake, refuses, takesTheNextDay } = await createRefusingLake(fileScope);

for (const [file, broken] of Object.entries(files)) {
  for (const [what, { content, says }] of Object.entries(broken)) {
    test(`${file} is refused and the lake unchanged: ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      await writeFeedFiles(folder, "2026-11-19", { [file]: content });
      await refuses(new RegExp(`^${file.replaceAll(".", "\\.")}${says.source}`, says.flags), folder);
    });
  }
}

test("Parquet is refused and the lake unchanged: a column of the wrong type", async (t) => {
  const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", {});
  const path = join(day, "inventory.parquet");
  await queryLake(lake, `COPY (SELECT '${vinOf(1)}' AS vin, '${dealer}' AS dealer_id, {usd: 1} AS price) TO '${path}'`);
  await refuses(/^inventory\.parquet, .*invalid type STRUCT.* of column "price": expected integer/, day);
});

test("Parquet is refused and the lake unchanged: a truncated file", async (t) => {
  const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", {});
  const path = join(day, "inventory.parquet");
  await queryLake(lake, `COPY (SELECT '${vinOf(1)}' AS vin, '${dealer}' AS dealer_id) TO '${path}'`);
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, whole.length / 2));
  await refuses(/^inventory\.parquet: /, day);
});

test("a broken file rejects the whole day", async (t) => {
  const folder = await temporaryFolder(t);
  const both = { "inventory.csv": joinLines(header, good), "inventory_2.csv": joinLines(header, other) };
  await writeFeedFiles(folder, "2026-11-19", both);
  await refuses(/^inventory_2\.csv, row 1\b/, folder);
});

test("dealers.csv is refused and the lake unchanged: no column name", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFeedFiles(folder, "2026-11-19", { "dealers.csv": joinLines("dealer_id,city", `${dealer},Austin`) });
  await refuses(
    /^dealers\.csv, row 0 \(header\): missing column "name": expected dealer_id, name; found dealer_id, city/,
    folder,
  );
});

test("after these refusals the next valid day is published, and nothing is left over", takesTheNextDay);
