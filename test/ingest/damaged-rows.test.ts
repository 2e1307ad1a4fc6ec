/** Files with malformed rows: each row is in exactly one number of the report, and what can be read is read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { UserError } from "../../src/base/user-error.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { zipOf } from "../support/fuzz/zip.ts";
import { dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { foreignReader } from "../support/lakes/foreign-files.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const dealer = dealerIdOf(1);

/** Rows as text, and whether each is well formed, as the damage says. */
const damages = [
  (fields: readonly string[]) => fields.slice(0, 2).join(),
  (fields: readonly string[]) => [...fields, "more"].join(),
  (fields: readonly string[]) => fields.with(2, "20,000").join(),
  (fields: readonly string[]) => fields.with(3, '"Escape "SE" AWD"').join(),
  (fields: readonly string[]) => fields.with(3, '"Esc"ape').join(),
] as const;

const forms = [
  ["in the Carquet format", false],
  ["by a mapping", true],
] as const;

for (const [form, isMapped] of forms)
  test(`random malformed rows are refused as rows, ${form}, up to the share of their file`, async (t) => {
    const chance = new Chance(isMapped ? 11 : 7);
    for (let run = 0; run < extentOf(4, 40); run += 1) {
      const rows = chance.integer(1, 400);
      const broken = new Set(
        Array.from({ length: chance.integer(0, Math.ceil(rows / 60)) }, () => chance.integer(1, rows)),
      );
      const lines = Array.from({ length: rows }, (_, index) => {
        const fields = [vinOf(index), dealer, "20000", "Escape"];
        return broken.has(index + 1) ? chance.pick(damages)(fields) : fields.join();
      });
      const folder = await temporaryFolder(t);
      const mapping = {
        version: 1,
        fields: { vin: "vin", price: "price", trim: "trim" },
        dealer: { key: ["dealer_id"], fields: { name: "dealer_id" } },
      };
      await writeFeedFiles(folder, "2026-03-01", {
        ...(isMapped ? { "source/mapping.json": JSON.stringify(mapping) } : {}),
        ...(isMapped ? {} : { "dealers.csv": `dealer_id,name\n${dealer},North\n` }),
        [isMapped ? "source/cars.csv" : "inventory.csv"]: `vin,dealer_id,price,trim\n${lines.join("\n")}\n`,
      });
      const lake = join(folder, "lake");
      const allowed = Math.max(1, Math.floor(rows / 100));
      const what = `${rows} rows, ${broken.size} malformed`;
      if (broken.size > allowed || broken.size === rows) {
        const says = new RegExp(`${broken.size} of ${rows} rows are malformed`);
        await assert.rejects(ingestPath(lake, folder), (thrown) => {
          assert.ok(thrown instanceof UserError, what);
          assert.match(thrown.message, says);
          return true;
        });
        continue;
      }
      const [report] = await ingestPath(lake, folder, { hasServingFiles: false });
      assert.ok(report, what);
      const { listed, elsewhere, merged, rejected, held } = report;
      assert.equal(report.rows, rows, what);
      assert.equal(listed + elsewhere + merged + rejected + held, rows, what);
      assert.equal(rejected, broken.size, what);
      const refused = await queryLake(
        lake,
        `SELECT "row"::INTEGER AS "row" FROM rejects WHERE outcome = 'rejected' ORDER BY "row"`,
      );
      assert.deepEqual(
        refused.map(({ row }) => row),
        [...broken].sort((one, other) => one - other),
        what,
      );
    }
  });

const read = await foreignReader(fileScope);
const mapped = {
  version: 1,
  required: ["vin"],
  fields: { vin: "vin", price: "price", trim: "trim" },
  dealer: { key: ["dealer_id"], fields: { name: "dealer_id" } },
};
const rowsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${vinOf(index)},${dealer},20000,"Escape, SEL"`);
const csvOf = (last: string, before = rowsOf(300)): string => ["vin,dealer_id,price,trim", ...before, last].join("\n");
const lineOf = (index: number): string => JSON.stringify({ vin: vinOf(index), dealer_id: dealer, price: 20000 });
const jsonOf = (last: string): string => [...Array.from({ length: 300 }, (_, index) => lineOf(index)), last].join("\n");
const last = `${vinOf(300)},${dealer},21000,"Edge"`;

/** Files in the Carquet format, and whether they are cut off in their row 301. */
const endings: readonly (readonly [what: string, format: "csv" | "ndjson", content: string, isCut: boolean])[] = [
  ["in a field", "csv", csvOf(last.slice(0, 30)), true],
  ["in quotes", "csv", csvOf(last.slice(0, -3)), true],
  ["in quotes of several lines", "csv", csvOf(last.replace('Edge"', "one\ntwo")), true],
  [
    "in quotes at a line end, as others have lines",
    "csv",
    csvOf(last.replace('Edge"', "one\n"), [...rowsOf(299), `${vinOf(299)},${dealer},1,"a\nb"`]),
    true,
  ],
  ["by zeros", "csv", csvOf("\0\0\0\0"), true],
  ["with a whole last row", "csv", csvOf(last), false],
  ["with a last row of too many fields", "csv", csvOf(`${last},1`), false],
  ["with a malformed row and a line end", "csv", csvOf(`${last.slice(0, 30)}\n`), false],
  ["with a whole last row and the end mark of DOS", "csv", csvOf(`${last}\n\u001a`), false],
  ["in a value", "ndjson", jsonOf(lineOf(300).slice(0, 40)), true],
  ["by zeros", "ndjson", jsonOf("\0\0"), true],
  ["with a whole last line", "ndjson", jsonOf(lineOf(300)), false],
  ["with a malformed line and a line end", "ndjson", jsonOf(`${lineOf(300).slice(0, 40)}\n`), false],
  ["with a line that has a NUL", "ndjson", jsonOf(`${lineOf(300).replace("20000", '"2\0"')}\n`), false],
];

for (const [form, isMapped] of forms)
  test(`a file that is cut off in its last row is refused, also compressed, ${form}`, async () => {
    for (const [what, format, content, isCut] of endings)
      for (const ending of isCut ? ["", ".gz", ".zip"] : [""]) {
        const name = `inventory.${format}`;
        const zipped = ending === ".zip" ? zipOf({ [name]: content }) : gzipSync(content);
        const files = { [ending === ".zip" ? "inventory.zip" : `${name}${ending}`]: ending === "" ? content : zipped };
        const found = read(files, isMapped ? mapped : undefined);
        const label = `${format}${ending} ${what}`;
        if (isCut) await assert.rejects(found, /inventory\.\S+: the file ends within row 301: /, label);
        else {
          const { inventory } = await found;
          assert.equal(inventory.length, /with a (whole|last line|.*mark)/.test(what) ? 301 : 300, label);
        }
      }
  });

test("a file in UTF-8 that ends within a character is refused", async () => {
  const text = Buffer.from(csvOf(`${vinOf(300)},${dealer},1,é`, [`${vinOf(0)},${dealer},1,Café`]));
  await assert.rejects(
    read({ "cars.csv": text.subarray(0, -1) }, mapped),
    /cars\.csv: the file ends within a character: expected whole text in UTF-8/,
  );
});
