/** Files with malformed rows: each row is in exactly one number of the report, and what can be read is read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../src/base/user-error.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { dealerIdOf, vinOf, writeFeedFiles } from "../support/lakes/feeds.ts";
import { ingestPath, queryLake, temporaryFolder } from "../support/lakes/lakes.ts";

const dealer = dealerIdOf(1);

/** Rows as text, and whether each is well formed, as the damage says. */
const damages = [
  (fields: readonly string[]) => fields.slice(0, 2).join(),
  (fields: readonly string[]) => [...fields, "more"].join(),
  (fields: readonly string[]) => fields.with(2, "20,000").join(),
  (fields: readonly string[]) => fields.with(3, '"Escape "SE" AWD"').join(),
  (fields: readonly string[]) => fields.with(3, '"Esc"ape').join(),
] as const;

for (const [form, isMapped] of [
  ["in the Carquet format", false],
  ["by a mapping", true],
] as const)
  test(`random malformed rows are refused as rows, ${form}, up to the share of their file`, async (t) => {
    const chance = new Chance(isMapped ? 11 : 7);
    for (let run = 0; run < extentOf(6, 40); run += 1) {
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
