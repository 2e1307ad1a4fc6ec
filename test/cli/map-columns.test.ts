/** `carquet map`: noted values and misspelt columns of single files. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { fieldsByColumn } from "../../src/ingest/proposal/match-columns.ts";
import { checkDigit } from "../demo/vin.ts";
import { carquetHere } from "../support/command-line.ts";
import { realCsvPath, skipWithoutRealCsv, vinOf } from "../support/lakes/feeds.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);

/** Maps a file with a header and rows in one thread. Returns what is printed, and a function for the cells of a column's line. */
async function mapped(name: string, head: string, rows: readonly string[]) {
  const path = join(folder, name);
  await writeFile(path, [head, ...rows, ""].join("\n"));
  const { out } = await carquetHere(["map", "--threads", "1", path]);
  const lineOf = (column: string): readonly string[] =>
    out
      .split("\n")
      .find((line) => line.startsWith(`${column}  `))
      ?.split(/ {2,}/) ?? [];
  return { out, lineOf };
}

test("a value that is noted is used, and lowers no share", async () => {
  const wrong = "1HGCM82633A000001";
  const right = wrong.slice(0, 8) + checkDigit(wrong) + wrong.slice(9);
  const noted = right.slice(0, 8) + (right[8] === "1" ? "2" : "1") + right.slice(9);
  const rows = [`${noted},20000,North`, `${right},21000,North`];
  const { out, lineOf } = await mapped("noted.csv", "VIN,Price,Dealer", rows);
  assert.ok(out.includes(`\nnoted: 1 × inventory.vin: wrong check digit; first: noted.csv, row 1: "${noted}"\n`), out);
  assert.equal(lineOf("VIN")[4], "100 %");
  assert.match(out, /^2 rows = 2 usable \+ 0 refused; dealers: 1$/m);
});

test("a misspelt column with a number matches the same number or none", async () => {
  // Known names with numbers are color 2, retail2, and address.addr1.
  const rows = ["red,blue,19000,20000", "green,black,18000,21000"].map(
    (row, index) => `${vinOf(index + 1)},North,${row}`,
  );
  const same = await mapped("same.csv", "VIN,Dealer,Color,Colour2,x,Retal2", rows);
  assert.deepEqual(same.lineOf("Retal2").slice(2, 4), ["price", "similar name"]);
  assert.deepEqual(same.lineOf("Colour2").slice(2, 4), ["interior_color", "similar name"]);
  const other = await mapped("other.csv", "VIN,Dealer,Color,Colour3,x,Retail3", rows);
  for (const column of ["Retail3", "Colour3"])
    assert.notEqual(other.lineOf(column)[3], "similar name", `${column}\n${other.out}`);
});

/** Fields of a reviewed mapping of the real file that the proposal lacks or fills from other columns. */
test("the mapping of a real file needs three corrections", { skip: skipWithoutRealCsv }, async () => {
  const path = join(folder, "real.json");
  const { code, out } = await carquetHere(["map", realCsvPath, "--output", path]);
  assert.equal(code, 0);
  assert.match(out, /^2499 rows = 2498 usable \+ 1 refused; dealers: 44$/m);
  const reviewed = await readMapping(projectPath("data/mappings/usa_cars.json"));
  const mapping = await readMapping(path);
  const columns = "price,brand,model,year,title_status,mileage,color,vin,lot,state,country,condition".split(",");
  const [expected, found] = [reviewed, mapping].map((one) => fieldsByColumn(one, columns));
  const differing = columns.filter((column) => String(expected?.get(column)) !== String(found?.get(column)));
  const constants = Object.keys(reviewed.fields).filter(
    (field) => reviewed.fields[field]?.from[0]?.constant !== undefined,
  );
  assert.deepEqual([...differing, ...constants], ["title_status", "inventory_type", "availability_status"]);
});
