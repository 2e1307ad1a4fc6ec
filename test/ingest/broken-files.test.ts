/** Malformed feed files, which are refused as a whole. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { UserError } from "../../src/base/user-error.ts";
import type { FeedLimits } from "../../src/ingest/feed/feed-file.ts";
import { ingestMutatedFeeds } from "../support/campaigns/feed-draws.ts";
import { extentOf, sampled, skipInShortRun } from "../support/extent.ts";
import { deepParquet } from "../support/lakes/deep-parquet.ts";
import { vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
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

/** CSV inventories, and the error after the file name. One malformed row is rejected alone; these have two. */
const csv: Readonly<Record<string, BrokenFile>> = {
  "rows too short": { content: joinLines(header, good, other, other), says: /, row 2\b.*column "price" is missing/ },
  "rows too long": {
    content: joinLines(header, good, `${other},1,2`, `${other},1,2`),
    says: /, row 2\b.*unexpected field after column "price"/,
  },
  "rows too short after a value of two lines": {
    content: joinLines("vin,dealer_id,trim", `${other},"a\nb"`, other, other),
    says: /, row 2\b.*column "trim" is missing/,
  },
  "rows too short after a blank line": { content: joinLines(header, good, "", other, other), says: /, row 2\b/ },
  "quotes that do not end": {
    content: joinLines(header, good, `${other},"1`, good, `${other},"1`),
    says: /, row 2: .*expected a closing quote.*; 2 of 4 rows are malformed: expected at most 1 \(badRows\.share of a mapping\)\.$/,
  },
  "text after quotes": {
    content: joinLines(header, good, `${other},"1"x`, `${other},"1"x`),
    says: /, row 2\b.*expected a closing quote/,
  },
  "a value not in UTF-8": {
    content: Buffer.from(joinLines("vin,dealer_id,trim", good, `${other},Café`), "latin1"),
    says: /, row 2\b.*encoding/,
  },
  "a value not in UTF-8, after a line that names the delimiter": {
    content: Buffer.from(joinLines("sep=,", "vin,dealer_id,trim", good, `${other},Café`), "latin1"),
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
  "a header of more columns than any feed has": {
    content: joinLines(`${header},${Array.from({ length: 998 }, (_, n) => `c${n}`)}`),
    says: /, row 0 \(header\): too many columns: expected at most 1000/,
  },
  "a header without an end": {
    content: "v".repeat(300_000),
    says: /, row 0 \(header\): row too large: expected at most 262144 bytes \(--max-record-size\)/,
  },
  "a quote in the header that does not end": {
    content: `vin,"dealer_id\n${good}\n`.repeat(10_000),
    says: /, row 0 \(header\): (row too large|invalid quotes)/,
  },
  "a header that is not in UTF-8": {
    content: Buffer.from(joinLines(`${header},Café`), "latin1"),
    says: /, row 0 \(header\): invalid byte sequence in the name of column 4/,
  },
  "values without a header": {
    content: joinLines("secret,values"),
    says: /, row 0 \(header\): missing column "vin": expected vin, dealer_id; found 2 unknown names\.$/,
  },
  "nothing but a malformed row": { content: joinLines(header, other), says: /, row 1\b.*1 of 1 rows are malformed/ },
  "quotes that do not end in a large file": {
    content: joinLines(header, good, ...Array<string>(700).fill(`${other},"1`), ...Array<string>(60_000).fill(good)),
    says: /, row 2: invalid quotes.*; 700 of 60701 rows are malformed: expected at most 607/,
  },
  "a row of 300 kB": {
    content: joinLines(header, good, `${other},${"1".repeat(300_000)}`),
    says: /, row 2: row too large: expected at most 262144 bytes \(--max-record-size\)/,
  },
  "UTF-16": {
    content: Buffer.from(`\ufeff${joinLines(header, good)}`, "utf16le"),
    says: /: content is UTF-16 text: expected CSV in UTF-8/,
  },
  "UTF-16 without a byte order mark": {
    content: Buffer.from(joinLines(header, good), "utf16le"),
    says: /: NUL byte at offset 1: expected text/,
  },
  "NUL bytes": {
    content: joinLines(header, good, `\0${good}`, `\0${good}`),
    says: /, row 2: NUL byte: expected text; 2 of 3 rows/,
  },
  "a last line of 20 MB": {
    content: joinLines(header, good) + "1".repeat(20_000_000),
    says: /: row too large: expected/,
  },
  "gzip without the ending": { content: zipped, says: /: content is gzip: expected CSV in UTF-8/ },
};

const zippedCsv: Readonly<Record<string, BrokenFile>> = {
  "gzip cut in half": {
    content: zipped.subarray(0, zipped.length / 2),
    says: /: invalid gzip file: unexpected end of file/,
  },
  "gzip without its end": { content: zipped.subarray(0, -8), says: /: invalid gzip file/ },
  "text that is no gzip": { content: joinLines(header, good), says: /: invalid gzip file: incorrect header check/ },
  "an empty file": { content: "", says: /: invalid gzip file/ },
  "ten million rows in 100 kB": {
    content: gzipSync(joinLines(header) + `${good}\n`.repeat(1_000_000)),
    says: /: compressed too highly: expected at most 200 bytes from each stored byte \(--max-compression-ratio\)/,
  },
};

const car = (n: number, more = ""): string => `{"vin":"${vinOf(n)}","dealer_id":"${dealer}"${more}}`;

const ndjson: Readonly<Record<string, BrokenFile>> = {
  "malformed lines": {
    content: joinLines(car(1), '{"vin" "1"}', '{"vin" "1"}', car(3)),
    says: /, row 2: invalid JSON: expected an object/,
  },
  "lines that are a list and a text": {
    content: joinLines(car(1), "[1, 2]", '"a"'),
    says: /, row 2: invalid JSON: expected an object; 2 of 3 rows/,
  },
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
  "arrays nested 200000 deep, in a column that is ignored": {
    content: joinLines(car(1), car(2, `,"more":${"[".repeat(100_000)}${"]".repeat(100_000)}`)),
    says: /, row 2: nested too deeply: expected at most 32 levels \(--max-nesting\)/,
  },
  "objects nested 33 deep after brackets in texts": {
    content: joinLines(
      car(1, `,"trim":"${"[".repeat(99)}\\""`),
      "",
      car(2, `,"more":${'{"a":'.repeat(32)}1${"}".repeat(32)}`),
    ),
    says: /, row 2: nested too deeply: expected at most 32 levels/,
  },
  "a row of 300 kB": {
    content: joinLines(car(1), car(2, `,"trim":"${"x".repeat(300_000)}"`)),
    says: /, row 2: row too large: expected at most 262144 bytes \(--max-record-size\)/,
  },
  "a last row of 300 kB without an end": {
    content: joinLines(car(1)) + car(2, `,"trim":"${"x".repeat(300_000)}`),
    says: /, row 2: row too large/,
  },
  "more keys than any feed has": {
    content: joinLines(...Array.from({ length: 1001 }, (_, n) => car(n, `,"c${n}":1`))),
    says: /: too many columns: expected at most 1000/,
  },
  "a key twice": { content: joinLines(car(1, ',"price":1,"price":2')), says: /: / },
  "a key twice, in another case": { content: joinLines(car(1, ',"VIN":1')), says: /: duplicate column "vin"/ },
  "a key with a NUL": { content: joinLines(car(1, ',"a\\u0000b":1')), says: /: invalid byte sequence in the name/ },
  "a block of zeros": { content: `${joinLines(car(1))}\0\0`, says: /: the file ends within row 2: invalid JSON/ },
  "one array of all rows": { content: `[${car(1)},${car(2)}]`, says: /, row 1: invalid JSON: expected an object/ },
  "no column vin": { content: joinLines(`{"dealer_id":"${dealer}"}`), says: /, .*missing column "vin"/ },
  "an empty file": { content: "", says: /: empty file: expected at least one row/ },
};

const zippedNdjson: Readonly<Record<string, BrokenFile>> = {
  "gzip cut in half": { content: gzipSync(joinLines(car(1))).subarray(0, 40), says: /: invalid gzip file/ },
};

const parquet: Readonly<Record<string, BrokenFile>> = {
  "text that is no Parquet": {
    content: "not a table at all",
    says: /: content is of an unknown format: expected Parquet/,
  },
  "an empty file": { content: "", says: /: content is empty: expected Parquet/ },
  "groups nested 100000 deep": { content: deepParquet(100_000), says: /: too many columns: expected at most 1000/ },
  "CSV in gzip": { content: zipped, says: /: content is gzip: expected Parquet/ },
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
  for (const [index, [what, { content, says }]] of Object.entries(broken).entries()) {
    const skip = index % 4 !== 0 && skipInShortRun;
    test(`${file} is refused and the lake unchanged: ${what}`, { skip }, async (t) => {
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

/** Limits that a delivery of two vehicles exceeds, and the files that exceed them. */
const limited: readonly (readonly [limit: keyof FeedLimits, max: number, files: readonly string[], says: string])[] = [
  [
    "fileBytes",
    100,
    ["csv", "csv.gz", "ndjson", "parquet"],
    ": file too large: expected at most 100 bytes (--max-file-size)",
  ],
  [
    "uncompressedBytes",
    100,
    ["csv.gz", "ndjson.gz", "parquet"],
    ": too large uncompressed: expected at most 100 bytes",
  ],
  ["rows", 1, ["csv", "csv.gz", "ndjson", "parquet"], ": too many rows: expected at most 1 (--max-rows)"],
  ["recordBytes", 1024, ["csv", "ndjson.gz", "parquet"], ", row 2: row too large: expected at most 1024 bytes"],
];

for (const [limit, max, formats, says] of limited) {
  for (const format of sampled(formats, 3)) {
    test(`inventory.${format} is refused and the lake unchanged: more than the limit of ${limit}`, async (t) => {
      const day = await writeFeedFiles(await temporaryFolder(t), "2026-11-19", {});
      const path = join(day, `inventory.${format}`);
      const trims = ["XLE", "x".repeat(1100)];
      if (format === "parquet") {
        const rows = trims.map((trim, n) => `('${vinOf(n)}', '${dealer}', '${trim}')`);
        await queryLake(lake, `COPY (FROM (VALUES ${rows}) AS t(vin, dealer_id, trim)) TO '${path}'`);
      } else {
        const csvLines = ["vin,dealer_id,trim", ...trims.map((trim, n) => `${vinOf(n)},${dealer},${trim}`)];
        const lines = format.startsWith("csv") ? csvLines : trims.map((trim, n) => car(n, `,"trim":"${trim}"`));
        await writeFile(path, format.endsWith(".gz") ? gzipSync(joinLines(...lines)) : joinLines(...lines));
      }
      const thrown = await ingestPath(lake, day, { limits: { [limit]: max } }).catch((error: unknown) => error);
      assert.ok(thrown instanceof UserError && thrown.message.startsWith(`inventory.${format}${says}`), String(thrown));
    });
  }
}

test("mutated files are refused by name, or published intact", async (t) => {
  await ingestMutatedFeeds(await temporaryFolder(t), { seed: 20261119, first: 0, draws: extentOf(3, 200) });
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
