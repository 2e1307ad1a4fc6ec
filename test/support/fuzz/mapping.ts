/** Mapping files: a mapping is refused with a line, or it compiles and runs; each row that is read is kept or rejected. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { integerIn } from "../../../src/base/json.ts";
import { UserError } from "../../../src/base/user-error.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { sql } from "../../../src/db/sql.ts";
import { defaultFeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import { feed } from "../../../src/ingest/feed/feed-schema.ts";
import { readDelivery } from "../../../src/ingest/feed/read-files.ts";
import { readMapping } from "../../../src/ingest/mapping/mapping.ts";
import { FeedParser } from "../../../src/ingest/normalize/parse.ts";
import { vinOf } from "../lakes/feeds.ts";
import { temporaryFolder } from "../lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import type { Target } from "./target.ts";

interface MappingCase {
  /** The text of the mapping file. */
  readonly mapping: string;
  /** The bytes of the CSV file, one in each character. */
  readonly csv: string;
  /** Rows of the file, if it is well formed. */
  readonly rows: number | null;
}

const day = "2026-11-19";
const message = /^[^\n]{1,3000}$/;

function refusedAs(thrown: unknown): "refused" {
  assert.ok(thrown instanceof UserError, thrown instanceof Error ? thrown.stack : String(thrown));
  assert.match(thrown.message, message);
  return "refused";
}

/** Returns the check of cases, with a database until the scope ends. */
async function checkIn(scope: Scope): Promise<Target<MappingCase>["check"]> {
  const folder = await temporaryFolder(scope);
  const database = await DuckDatabase.open({ threads: 1 });
  onScopeEnd(scope, async () => database.close());
  const mappingPath = join(folder, "mapping.json");
  const path = join(folder, "cars.csv");
  const file = { table: "inventory", format: "csv", isGzip: false, path, name: "cars.csv" } as const;
  return async ({ mapping: text, csv, rows }) => {
    await writeFile(mappingPath, text);
    await writeFile(path, Buffer.from(csv, "latin1"));
    try {
      const mapping = await readMapping(mappingPath);
      await database.using(async (session) => {
        const parser = await FeedParser.begin(session, { day, currency: "USD", isFirst: true });
        const settings = { limits: defaultFeedLimits, mapping };
        let malformed = 0;
        await readDelivery(session, { day, files: [file] }, settings, (table, read) => parser.parse(table, read), {
          async onBadRows(_, bad) {
            malformed += bad.length;
          },
        });
        const read = await parser.finish();
        const kept = await session.row(sql`SELECT count(*)::INTEGER AS n FROM parsed_inventory`);
        const rejected = await session.row(sql`
          SELECT count(DISTINCT "row")::INTEGER AS n FROM issues WHERE feed = 'inventory' AND outcome = 'rejected'`);
        assert.equal(integerIn(kept, "n") + integerIn(rejected, "n"), read, "rows kept and rejected");
        if (rows !== null) assert.equal(read + malformed, rows, "rows of the file");
      });
      return "accepted";
    } catch (thrown) {
      return refusedAs(thrown);
    }
  };
}

const awkward = fc.constantFrom(
  "'",
  '"',
  "{vin}",
  "{",
  "}",
  "{}",
  "",
  " ",
  "a'b",
  'a"b',
  "\\",
  "$1",
  "?",
  ";",
  "--",
  "Ä",
  "🚗",
  "row",
  "file",
  "\u0000",
  "|",
  "row_dealer_id",
  "__proto__",
);
const text = fc.oneof(awkward, fc.string({ unit: "grapheme", maxLength: 8 }));

/** A rule over some columns, mostly valid. */
function ruleOver(columns: readonly string[]): fc.Arbitrary<object> {
  const column = fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...columns) }, text);
  const template = fc
    .array(
      fc.oneof(
        column.map((name) => `{${name}}`),
        text,
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(""));
  const values = fc.dictionary(text, fc.option(text), { maxKeys: 3 });
  const source = fc.oneof(fc.record({ column }), fc.record({ template }), fc.record({ constant: text }));
  const more = fc.record({ values, list: fc.record({ separator: text }) }, { requiredKeys: [] });
  return fc
    .tuple(source, fc.oneof({ weight: 12, arbitrary: fc.constant({}) }, more))
    .map(([from, conversions]) => ({ from, ...conversions }));
}

const cell = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map(vinOf),
  text,
  fc.constantFrom("20000", "new", "2026-11-19", "a|b", "NULL"),
);

const quote = (value: string): string => `"${value.replaceAll('"', '""')}"`;

const wellFormed: fc.Arbitrary<MappingCase> = fc
  .uniqueArray(fc.oneof(fc.constantFrom("vin", "seller", "Price", "a b"), text), { minLength: 1, maxLength: 5 })
  .chain((columns) => {
    const fields = (names: readonly string[]): fc.Arbitrary<object> =>
      fc.dictionary(fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...names) }, text), ruleOver(columns), {
        maxKeys: 4,
      });
    const inventory = Object.keys(feed.inventory.properties).filter((field) => field !== "dealer_id");
    const dealers = Object.keys(feed.dealers.properties).filter((field) => field !== "dealer_id");
    const mapping = fc.record({
      fields: fc.tuple(fields(inventory), ruleOver(columns)).map(([some, vin]) => ({ vin, ...some })),
      dealer: fc.record({
        key: fc.constant(columns),
        fields: fc.tuple(fields(dealers), ruleOver(columns)).map(([some, name]) => ({ name, ...some })),
      }),
      file: fc.record({
        delimiter: fc.constantFrom(",", ";", "\t", '"', "|"),
        encoding: fc.constantFrom("utf-8", "latin-1", "utf-16"),
      }),
      version: fc.constant(1),
    });
    const rows = fc.array(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), { maxLength: 5 });
    return fc.tuple(mapping, rows).map(([chosen, cells]) => {
      const { delimiter, encoding } = chosen.file;
      const lines = [columns, ...cells].map((line) => `${line.map(quote).join(delimiter)}\n`).join("");
      const csv = Buffer.from(
        lines,
        encoding === "latin-1" ? "latin1" : encoding === "utf-16" ? "utf16le" : "utf8",
      ).toString("latin1");
      return { mapping: JSON.stringify(chosen), csv, rows: cells.length };
    });
  });

/** Changes a part of the mapping, or of the file, to other bytes. */
const broken: fc.Arbitrary<MappingCase> = fc
  .tuple(wellFormed, fc.nat(), fc.nat(6), fc.string({ unit: "binary-ascii", maxLength: 6 }), fc.boolean())
  .map(([{ mapping, csv }, drawn, removed, added, isMapping]) => {
    const splice = (whole: string): string => {
      const at = drawn % (whole.length + 1);
      return whole.slice(0, at) + added + whole.slice(at + removed);
    };
    return isMapping ? { mapping: splice(mapping), csv, rows: null } : { mapping, csv: splice(csv), rows: null };
  });

export const mappingTarget = async (scope: Scope): Promise<Target<MappingCase>> => ({
  name: "mapping",
  cases: fc.oneof(wellFormed, broken),
  check: await checkIn(scope),
});
