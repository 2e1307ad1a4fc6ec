/** Folders of sources in a day's folder: each has its mapping, which the folders of dealers in it share. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { zipOf } from "../../support/fuzz/zip.ts";
import { foreignReader } from "../../support/lakes/foreign-files.ts";
import { fileScope } from "../../support/scope.ts";

const read = await foreignReader(fileScope);

/** A mapping that reads the price from a column, and the dealer from another source. */
const mapping = (price: string, dealer: unknown): string =>
  JSON.stringify({
    version: 1,
    fields: { vin: "vin", price },
    dealer: { key: [[dealer]], fields: { name: [dealer] } },
  });

const cars = "vin,a,b,seller\nV1,100,200,North\n";

test("files of the same columns are read by the mapping of their folder, and name the folders of dealers", async () => {
  const { inventory, dealers } = await read({
    "alpha/mapping.json": mapping("a", "seller"),
    "alpha/one.csv": cars,
    "alpha/two.csv": cars,
    "beta/mapping.json": mapping("b", { file: "folder" }),
    "beta/4711/stock.csv": cars,
    "beta/4711/more.csv": cars,
    "beta/4712/stock.csv": cars,
    "beta/rest.csv": cars,
  });
  assert.deepEqual(inventory.map(({ file, price }) => `${file} ${price}`).sort(), [
    ...["alpha/one.csv 100", "alpha/two.csv 100", "beta/4711/more.csv 200", "beta/4711/stock.csv 200"],
    ...["beta/4712/stock.csv 200", "beta/rest.csv 200"],
  ]);
  assert.deepEqual([...new Set(dealers.map(({ name }) => name))].sort(), ["4711", "4712", "North", "beta"]);
});

test("archives of one name in two folders are read each, and their files name the folders of the archives", async () => {
  const byFolder = mapping("a", { file: "folder" });
  const xml = (vin: string): string => `<r><c><vin>${vin}</vin><a>100</a></c></r>`;
  const stock = (vin: string): Buffer =>
    zipOf({ "inv.csv": `vin,a\n${vin}1,100\n`, "in/a.xml": xml(`${vin}2`), "in/b.xml": xml(`${vin}3`) });
  const { inventory, dealers } = await read({
    "acme/mapping.json": byFolder,
    "acme/stock.zip": stock("A"),
    "bolt/mapping.json": byFolder,
    "bolt/stock.zip": stock("B"),
  });
  assert.deepEqual(inventory.map(({ file, vin }) => `${file} ${vin}`).sort(), [
    ...["acme/stock.zip/in/a.xml A2", "acme/stock.zip/in/b.xml A3", "acme/stock.zip/inv.csv A1"],
    ...["bolt/stock.zip/in/a.xml B2", "bolt/stock.zip/in/b.xml B3", "bolt/stock.zip/inv.csv B1"],
  ]);
  assert.deepEqual(new Set(dealers.map(({ name }) => name)), new Set(["acme", "bolt"]));
});

test("an archive in the folder of a dealer has inventories, also under the names of other tables", async () => {
  const options = "vin,code\nV1,A1\n";
  const { inventory, remarks } = await read({
    "alpha/mapping.json": mapping("a", "seller"),
    "alpha/4711/stock.zip": zipOf({ "inventory.csv": cars, "dealers_of_north.csv": cars.replace("V1", "V2") }),
    "4712/stock.zip": zipOf({ "options.csv": options }),
  });
  assert.deepEqual(inventory.map(({ vin }) => vin).sort(), ["V1", "V2"]);
  assert.deepEqual(remarks, [
    "4712/stock.zip/options.csv: ignored file: expected a name that begins with that of a table, or the columns of a preset.",
  ]);
});

test("an invalid mapping in a folder is refused with its path in the day, and folders end at two levels", async () => {
  await assert.rejects(
    read({ "alpha/mapping.json": '{"version": 1}', "alpha/one.csv": cars }),
    /^UserError: alpha\/mapping\.json: .*required property 'fields'/,
  );
  const files = { "alpha/mapping.json": mapping("a", "seller"), "alpha/x/y/one.csv": cars, "alpha/one.csv": cars };
  const { inventory, remarks } = await read({ ...files, "alpha/one.csv.bz2": "BZh", "alpha/4711/photo.JPG": "x" });
  assert.deepEqual(
    inventory.map(({ file }) => file),
    ["alpha/one.csv"],
  );
  assert.match(
    remarks.join(),
    /^alpha\/one\.csv\.bz2 and 1 more: ignored: expected \.csv, .*, at most 2 folders deep\.$/,
  );
});
