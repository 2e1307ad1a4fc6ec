/** `carquet map`: noted values and misspelt columns of single files. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { checkDigit } from "../demo/vin.ts";
import { carquetHere } from "../support/command-line.ts";
import { vinOf } from "../support/lakes/feeds.ts";
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
  assert.match(out, /^noted: 1 × inventory\.vin: wrong check digit; first: noted\.csv, row 1$/m);
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
