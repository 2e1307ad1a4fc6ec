/** `carquet map`: what it proposes, prints, refuses and writes, and that its trial refuses what ingest refuses. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { carquetHere } from "../support/command-line.ts";
import { sampled } from "../support/extent.ts";
import { vinOf } from "../support/lakes/feeds.ts";
import { ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const folder = await temporaryFolder(fileScope);
const pathOf = (name: string): string => join(folder, name);

async function written(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(pathOf(name), content);
  return pathOf(name);
}

/** Runs the command in one thread, which needs less processor time for small files. */
const map = (...args: readonly string[]) => carquetHere(["map", "--threads", "1", ...args]);

/** Returns the cells of the line of a column in the printed table. */
const lineOf = (out: string, column: string): readonly string[] =>
  out
    .split("\n")
    .find((line) => line.startsWith(`${column}  `))
    ?.split(/ {2,}/) ?? [];

const header = "Seller,Vin Nr,Stk #,Yr,Brand,Selling Price,Odometer (km),Drive,Notes,Body";
const cars = [
  `North,${vinOf(1)},A1,2021,Ford,"$21,500",10000,4x4,clean,SUV`,
  `North,${vinOf(2)},A2,2020,Fjord,call,20000,2WD,,SUV`,
  `North,SHORT,A3,2020,Ford,0,30000,AWD,,Sedan`,
  `,${vinOf(4)},A4,1800,Honda,19000,x,AWD,,Sedan`,
  `South,${vinOf(5)},A5,2019,Honda,18000,90000,sideways,,Tricycle`,
];
const csv = (head: string, rows: readonly string[]): string => [head, ...rows, ""].join("\n");

const file = await written("cars.csv", csv(header, cars));
await written("cars.json", "{}");
const proposed = await map(file, "--output", pathOf("cars.json"), "--force");

test("each column is matched, suggested or unmapped, with values before and after", () => {
  const { out, err, code } = proposed;
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /cars\.csv: 10 columns; no preset has these\./);
  assert.deepEqual(
    ["Seller", "Vin Nr", "Stk #", "Yr", "Brand", "Selling Price", "Odometer (km)", "Drive", "Notes", "Body"].map(
      (column) => lineOf(out, column).slice(1, 3),
    ),
    [
      ["matched", "dealer, dealer.name"],
      ["suggested", "vin"],
      ["matched", "stock_number"],
      ["matched", "year"],
      ["matched", "make"],
      ["matched", "price"],
      ["matched", "miles"],
      ["matched", "drivetrain"],
      ["unmapped", "unknown name"],
      ["matched", "body_type"],
    ],
  );
  assert.equal(lineOf(out, "Selling Price").slice(3).join("  "), "name  100 %  $21,500 → 21500; 0");
  assert.match(lineOf(out, "Odometer (km)").at(-1) ?? "", /^10000 → 6214; 20000 → 12427$/);
  assert.match(lineOf(out, "Drive").at(-1) ?? "", /^4x4 → 4WD; /);
});

test("the trial reports the rows and values that ingest refuses with the written mapping", async () => {
  const mapping = await readMapping(pathOf("cars.json"));
  const [report] = await ingestPath(pathOf("lake"), file, { mapping, hasServingFiles: false, day: "2026-03-01" });
  const expected = (report?.reasons ?? []).map(
    ({ outcome, field, reason, count, first }) => `${outcome}: ${count} × ${field}: ${reason}; first: ${first}`,
  );
  const printed = proposed.out.split("\n");
  assert.deepEqual(
    printed.filter((line) => line.includes(" × ")),
    expected,
  );
  assert.ok(
    expected.some((line) => /^rejected: 1 × inventory\.dealer_id: missing; first: cars\.csv, row 4$/.test(line)),
    String(expected),
  );
  assert.equal(report?.rejected, 2);
  assert.ok(printed.includes("5 rows = 3 usable + 2 refused; dealers: 2"));
});

test("values outside the vocabularies are printed with their rows", () => {
  const [, table = ""] = proposed.out.split("Values outside the vocabularies (3 of 3):\n");
  assert.deepEqual(
    table
      .split("\n")
      .slice(2, 5)
      .map((line) => line.split(/ {2,}/)),
    [
      ["body_type", "Tricycle", "1"],
      ["drivetrain", "sideways", "1"],
      ["make", "Fjord", "1"],
    ],
  );
});

test("a mapping file is replaced only by --force", async () => {
  assert.match(proposed.out, /^Written to \S+cars\.json\.$/m);
  const { code, err } = await map(file, "--output", pathOf("cars.json"));
  assert.deepEqual([code, err], [1, `carquet: ${pathOf("cars.json")}: exists: expected another file, or --force.\n`]);
});

test("a check prints columns that are gone and not used, and fails if rows would be refused", async () => {
  const second = await written(
    "march.csv",
    csv(header.replace("Selling Price", "Ask").replace("Notes", "Vin Nr 2"), cars.slice(0, 4)),
  );
  const { out, err, code } = await map("--mapping", pathOf("cars.json"), "--check", second);
  assert.deepEqual([code, err], [1, `carquet: ${second}: 2 of 4 rows would be refused.\n`]);
  assert.match(out, /^gone: "Selling Price" of price, which has no other column$/m);
  assert.deepEqual(
    ["Ask", "Vin Nr 2", "Yr"].map((column) => lineOf(out, column).slice(1, 4)),
    [
      ["unmapped", "not in the mapping", "$21,500; 0"],
      ["unmapped", "not in the mapping", "clean"],
      ["matched", "year", "mapping"],
    ],
  );
  const without = await written("may.csv", csv(header.replace("Vin Nr", "Nr"), cars));
  const failed = await map("--mapping", pathOf("cars.json"), "--check", without);
  assert.equal(failed.code, 1);
  assert.match(
    failed.err,
    /^carquet: may\.csv, row 0 \(header\): missing column "Vin Nr": expected by the mapping of vin; found Seller, Nr, /,
  );
});

test("the mapping of a recognized file starts from its preset, and adds the columns that it lacks; it passes a check", async () => {
  const columns =
    "Provider ID|VIN|Stock Number|Year|Make|Trim Level|Asking Price|Photo Url List|Package Code|Vehicle Detail Link|Cylinders";
  const path = await written(
    "stock.txt",
    csv(columns, [`77|${vinOf(7)}|B1|2022|Ford|XLT|20000|||https://dealer.example/1|V6`]),
  );
  const { out, code } = await map(path, "--output", pathOf("stock.json"), "--check", path);
  assert.equal(code, 0);
  assert.match(out, /recognized as provider-pipe, from which the mapping starts\./);
  assert.deepEqual(
    [lineOf(out, "Trim Level").slice(1, 4), lineOf(out, "Cylinders").slice(1)],
    [
      ["matched", "trim", "preset provider-pipe"],
      ["matched", "cylinders", "name", "100 %", "V6 → 6"],
    ],
  );
  const { name: _, fields, dealer, file: layout } = await readMapping(pathOf("stock.json"));
  assert.deepEqual(
    [fields.vdp_url?.from, dealer.namespace, layout?.delimiter],
    [[{ column: "Vehicle Detail Link" }], "provider", "|"],
  );
});

/** Returns the mapping that a file with these columns gets, and what is printed. */
async function mapped(columns: Readonly<Record<string, readonly string[]>>, ...args: readonly string[]) {
  const names = Object.keys(columns);
  const rows = [0, 1, 2].map((row) =>
    names.map((name) => `"${columns[name]?.[row] ?? columns[name]?.[0] ?? ""}"`).join(),
  );
  const path = await written("one.csv", csv(names.join(), rows));
  const { out, err, code } = await map(path, "--output", pathOf("one.json"), "--force", ...args);
  assert.deepEqual([code, err], [0, ""]);
  return { out, mapping: await readMapping(pathOf("one.json")) };
}

const vins = { VIN: [1, 2, 3].map(vinOf) };

test("one letter decides no code: only both letters suggest one, and a name decides it", async () => {
  for (const [columns, suggested, written] of sampled(
    [
      [{ Dept: ["N"] }, [], []],
      [{ Dept: ["U"] }, [], []],
      [{ Rank: ["A"] }, [], []],
      [{ Rank: ["A", "C", "A"] }, [], []],
      [{ Tank: ["G", "E", "G"] }, [], []],
      [{ "Vehicle Type": ["V"] }, [], []],
      [{ Dept: ["N", "U", "N"] }, ["inventory_type"], []],
      [{ Rank: ["A", "M", "A"] }, ["transmission"], []],
      [{ "New/Used": ["N"] }, [], ["inventory_type"]],
      [{ Transmission: ["A"] }, [], ["transmission"]],
    ] as const,
    5,
  )) {
    const { mapping } = await mapped({ ...vins, ...columns });
    const { suggestions = {}, fields } = mapping;
    const { vin: _, ...others } = fields;
    assert.deepEqual([Object.keys(suggestions), Object.keys(others)], [suggested, written], JSON.stringify(columns));
  }
});

test("what only values suggest is written as a suggestion, and used if it is accepted", async () => {
  const columns = { ...vins, Jahr: ["2020", "2021", "2022"], Bauform: ["SUV", "Sedan", "Coupe"] };
  const { out, mapping } = await mapped(columns);
  assert.deepEqual(Object.keys(mapping.fields), ["vin"]);
  assert.deepEqual(mapping.suggestions, { year: "Jahr", body_type: "Bauform" });
  assert.deepEqual(lineOf(out, "Jahr").slice(1), ["suggested", "year", "values", "100 %", "2020; 2021"]);
  assert.match(
    out,
    /^only values suggest, so not used: year \("Jahr"\), body_type \("Bauform"\); --accept-suggestions uses them$/m,
  );
  const accepted = await mapped(columns, "--accept-suggestions");
  assert.deepEqual(Object.keys(accepted.mapping.fields), ["vin", "year", "body_type"]);
  assert.equal(accepted.mapping.suggestions, undefined);
});

test("a link that repeats, a history report or a video is no detail page, and the column with the most addresses is the photos", async () => {
  const each = (text: string) => [1, 2, 3].map((row) => text.replaceAll("#", String(row)));
  const { mapping } = await mapped({
    ...vins,
    Link: ["https://dealer.example"],
    Seite: ["https://dealer.example/cars"],
    Bericht: each("https://www.carfax.com/vhr/#"),
    Film: each("https://www.youtube.com/watch?v=#"),
    Clip: each("https://x.example/#.mp4"),
    "Main Image URL": each("https://x.example/#/1.jpg"),
    "All Image URLs": each("https://x.example/#/1.jpg,https://x.example/#/2.jpg,https://x.example/#/3.jpg"),
  });
  assert.deepEqual(Object.keys(mapping.fields), ["vin", "photo_urls"]);
  assert.deepEqual(mapping.fields.photo_urls?.from, [{ column: "All Image URLs" }]);
  assert.deepEqual(mapping.suggestions, { vhr_url: "Bericht" });
  const listed = {
    ...vins,
    "Main Image URL": each("https://x.example/#/1.jpg"),
    Galerie: each("https://x.example/#/1.jpg|https://x.example/#/2.jpg"),
  };
  const plain = await mapped(listed);
  assert.deepEqual(plain.mapping.fields.photo_urls?.from, [{ column: "Main Image URL" }]);
  assert.deepEqual(Object.keys(plain.mapping.suggestions ?? {}), ["photo_urls"]);
  const accepted = await mapped(listed, "--accept-suggestions");
  assert.deepEqual(accepted.mapping.fields.photo_urls?.from, [{ column: "Galerie" }]);
});

test("a column of prices in another currency is not used, and the currency is named", async () => {
  const { out, mapping } = await mapped({ ...vins, Price: ["15.990 €", "12.490,00 EUR", "9 900 €"], MSRP: ["20,000"] });
  assert.deepEqual(lineOf(out, "Price").slice(1, 3), ["unmapped", "0 % fit price: in EUR: expected USD"]);
  const open = lineOf((await mapped({ ...vins, Price: ["20000,00", "18500,50"] })).out, "Price");
  assert.match(open[2] ?? "", /^0 % fit price: point or comma could be decimal/);
  assert.deepEqual(Object.keys(mapping.fields), ["vin", "msrp"]);
});

test("a file of sold cars is warned of, and one whose date of sale is empty is not", async () => {
  const warning = /expected cars for sale, not sold ones/;
  const price = { ...vins, Price: ["15990"] };
  for (const sold of sampled(
    [
      { ...vins, "Sale Date": ["2026-01-01"], "Sale Price": ["15990"] },
      { ...vins, SoldDate: [""], "Sold Price": ["15990"] },
      { ...price, "Sold Date": ["2026-01-01"] },
      { ...price, date_of_sale: ["2026-01-01"], "Customer Name": ["A"] },
    ],
    3,
  ))
    assert.match((await mapped(sold)).out, warning, JSON.stringify(sold));
  const status = { ...price, "Vehicle Status": ["In Stock", "SOLD", "Out of stock"] };
  assert.match((await mapped(status)).out, /^"Vehicle Status" has "Out of stock" \(2 rows\): expected cars for sale/m);
  for (const gone of sampled([{ "Is Sold": ["N", "Y"] }, { Deleted: ["0", "1"] }, { Published: ["1", "0"] }], 1))
    assert.match((await mapped({ ...price, ...gone })).out, warning, JSON.stringify(gone));
  for (const stock of sampled(
    [
      price,
      { ...price, Comments: ["Sold as is"], Active: ["1"], Sold: ["No"] },
      { ...price, "Sold Date": [""] },
      { ...price, "Sale Price": ["14990"] },
    ],
    3,
  ))
    assert.doesNotMatch((await mapped(stock)).out, warning, JSON.stringify(stock));
});

test("values with names, and those of dealers around vehicles, fill the fields of their names", async () => {
  const car = (row: number) =>
    `<vehicle><fields><field name="vin" value="${vinOf(row)}"/><field name="price">20000</field><field name="make">Ford</field></fields>
     <photos><photo><url>https://x.example/1.jpg</url><id>1</id></photo><photo><url>https://x.example/2.jpg</url></photo></photos></vehicle>`;
  const dealer = (row: number, name: string) =>
    `<dealer><vehicles>${car(row)}</vehicles><id>${row}</id><name>${name}</name><address><street>1 Main</street><city>Fresno</city>
     <state>CA</state><zip>93721</zip></address></dealer>`;
  const path = await written(
    "dealers.xml",
    `<export><dealers>${dealer(1, "North")}${dealer(2, "South")}</dealers></export>`,
  );
  const { out } = await map(path);
  const fields = (column: string) => lineOf(out, column)[2];
  assert.deepEqual(
    ["fields.vin", "fields.price", "fields.make", "photos.photo[*].url", "dealer.id", "dealer.name"].map(fields),
    ["vin", "price", "make", "photo_urls", "dealer, dealer.name", "dealer.name"],
  );
  assert.deepEqual(
    ["street", "city", "state", "zip"].map((name) => fields(`dealer.address.${name}`)),
    ["dealer.line1", "dealer.city", "dealer.state", "dealer.postal_code"],
  );
  assert.match(out, /^2 rows = 2 usable \+ 0 refused; dealers: 2$/m);
});

test("fields without a column are named, and set for all rows", async () => {
  const columns = { ...vins, Ask: ["20000", "21000", "22000"], "Inventory Type": ["", "New", ""] };
  const { out } = await mapped(columns);
  assert.match(
    out,
    /^no column for: price, miles, year, .*dealer\.name, dealer\.city, dealer\.state, dealer\.postal_code; --set /m,
  );
  assert.match(out, /^few rows have: inventory_type \(33 %\); --set fills one in the others$/m);
  const sets = [
    "inventory_type=used",
    "price={Ask}",
    "dealer.name=North Motors",
    "dealer.state=CA",
    "features=ABS|Sunroof",
  ];
  const { mapping } = await mapped(columns, ...sets.flatMap((set) => ["--set", set]));
  const [report] = await ingestPath(pathOf("set-lake"), pathOf("one.csv"), {
    mapping,
    hasServingFiles: false,
    day: "2026-03-01",
  });
  assert.deepEqual([report?.listed, report?.unknown], [3, 0]);
  assert.deepEqual(mapping.fields.inventory_type?.from, [{ column: "Inventory Type" }, { constant: "used" }]);
  assert.deepEqual(mapping.dealer, {
    key: [{ from: [{ constant: "North Motors" }] }],
    fields: { name: { from: [{ constant: "North Motors" }] }, state: { from: [{ constant: "CA" }] } },
  });
});

test("an unknown field or column, and a value that ingest would refuse, is refused by name", async () => {
  for (const [set, says] of sampled(
    [
      [
        "inventory_typ=used",
        /Unknown field "inventory_typ": expected one of dealer, vin, .* Did you mean inventory_type\?$/,
      ],
      ["price={Aks}", /Unknown column "Aks": expected one of Seller, Vin Nr, /],
      ["inventory_type=old", /Invalid value "old" for inventory_type: not one of new, used, certified\.$/],
      ["price=cheap", /Invalid value "cheap" for price: not a whole number\.$/],
      ["dealer.state=Kalifornia", /Invalid value "Kalifornia" for dealer\.state: not in the vocabulary/],
      ["dealer.postal_code=93", /Invalid value "93" for dealer\.postal_code: /],
      ["miles.unit=leagues", /Invalid value "leagues" for miles\.unit: expected km or mi\.$/],
      ["vin=1", /Invalid value "1" for vin: expected vin=\{Column\}\.$/],
      ["price", /Invalid value "" for price: expected price=\{Column\} or price=value\.$/],
    ] as const,
    5,
  )) {
    const { code, err } = await map(file, "--set", set);
    assert.equal(code, 1);
    assert.match(err.trimEnd(), says);
  }
});

test("the unit of a mileage is asked for where the file is metric or Canadian", async () => {
  const miles = { ...vins, Odometer: ["75000", "65000", "55000"] };
  const unitOf = ({ fields }: Awaited<ReturnType<typeof readMapping>>) => fields.miles?.number?.unit;
  for (const hint of sampled(
    [
      { "City Fuel Economy": ["8.7L/100km"] },
      { Province: ["ON", "QC", "Alberta"] },
      { State: ["ON"] },
      { "Zip Code": ["M5V2T6"] },
      { Location: ["M5V 2T6"] },
      { "Total Price": ["CAD 20750"] },
      { Country: ["CA"] },
      { "L/100km": ["9"] },
    ],
    8,
  )) {
    const { out, mapping } = await mapped({ ...miles, ...hint });
    assert.equal(mapping.fields.miles, undefined, JSON.stringify(hint));
    assert.match(
      out,
      /^miles is not used: "Odometer" has no unit, and ".*" \(.*\) let expect kilometers; --set miles\.unit=km or /m,
    );
    assert.deepEqual(lineOf(out, "Odometer").slice(1, 4), ["suggested", "miles", "unknown unit"]);
  }
  for (const unit of ["km", "mi"])
    assert.equal(unitOf((await mapped({ ...miles, Province: ["ON"] }, "--set", `miles.unit=${unit}`)).mapping), unit);
  assert.equal(unitOf((await mapped({ ...miles, Province: ["ON"] }, "--accept-suggestions")).mapping), "km");
  for (const plain of sampled(
    [
      { State: ["CA"] },
      { Notes: ["new tires"] },
      { Province: ["ON"], Odometer: ["75000 km", "1 km", "2 km"] },
      { Province: ["ON"], Odometer: [], Miles: ["5"] },
    ],
    4,
  ))
    assert.ok((await mapped({ ...miles, ...plain })).mapping.fields.miles !== undefined, JSON.stringify(plain));
  const both = await mapped({ ...vins, Province: ["ON"], Kilometres: ["100"], Odometer: ["200"] });
  assert.deepEqual(both.mapping.fields.miles, {
    from: [{ column: "Kilometres" }],
    number: { unit: "km" },
  });
});

test("one seller in two states is two dealers", async () => {
  const seller = { ...vins, Seller: ["North"], State: ["CA", "NV", "CA"] };
  for (const [columns, dealers] of sampled(
    [
      [seller, 2],
      [{ ...seller, City: ["Reno"] }, 2],
      [{ ...seller, "Postal Code": ["93721", "89501", "93721"] }, 2],
      [{ ...seller, "Postal Code": ["93721", "", ""] }, 3],
      [{ ...seller, State: ["CA"], City: ["Fresno", "Reno", "Bend"] }, 3],
      [{ ...seller, State: ["CA"] }, 1],
    ] as const,
    3,
  ))
    assert.match((await mapped(columns)).out, new RegExp(`dealers: ${dealers}$`, "m"), JSON.stringify(columns));
});

test("the records of a document are named by a path", async () => {
  const cars = [1, 2].map((row) => ({ VIN: vinOf(row), Price: "20000" }));
  const path = await written("feed.json", JSON.stringify({ old: [{ VIN: vinOf(9) }], data: { cars } }));
  const { out, code } = await map(path, "--records", "/data/cars", "--output", pathOf("feed-map.json"));
  assert.equal(code, 0);
  assert.match(out, /^2 rows = 2 usable \+ 0 refused/m);
  assert.equal((await readMapping(pathOf("feed-map.json"))).file?.records, "/data/cars");
  const { err } = await map(file, "--records", "/x");
  assert.match(err, /cars\.csv: has no path of records: expected --records only with XML or JSON\.$/m);
});

test("a file whose dealer is its folder says what to do where it lies in none", async () => {
  const names =
    "Stock,Year,Make,Model,Style,Cylinder,Transmission,Engine,Drive Train,Fuel Type,VIN,Mileage,Color,Color 2,Features,Internet Price,Retail Price,Sales Comments,New/Used,Body Style,Certified,MPG City,MPG Hwy,MPG Combined,Doors,PhotoURLs";
  const row = names.split(",").map((name) => ({ VIN: vinOf(1), Year: "2022", Make: "Ford" })[name] ?? "");
  const path = await written("DealerWebsites-1.csv", csv(names, [row.join()]));
  const { out } = await map(path);
  assert.match(out, /recognized as frazer-dealerwebsites/);
  assert.match(out, /^1 rows = 0 usable \+ 1 refused/m);
  assert.match(
    out,
    /^DealerWebsites-1\.csv: in no dealer's folder, by which its mapping identifies dealers: expected <day>\/<dealer>\/DealerWebsites-1\.csv, or .* --set dealer\.name=/m,
  );
  const others =
    "Vehicle Vin,Vehicle Make,Vehicle Trim Level,Vehicle Drive Type,Stock Number,Retail,Mileage,Option List,Certified Pre Owned,Location Code";
  const second = await map(await written("stock.csv", csv(others, [`${vinOf(1)},Ford,SE,FWD,A1,20000,10,ABS,No,0`])));
  assert.match(second.out, /recognized as frazer-dealercarsearch[\s\S]* = 0 usable \+ 1 refused; dealers: 0$/m);
  const named = await map(path, "--set", "dealer.name=North", "--set", "stock_number={Style}");
  assert.match(named.out, /^1 rows = 1 usable \+ 0 refused; dealers: 1$/m);
  assert.doesNotMatch(named.out, /in no dealer's folder/);
});

const invalid: Readonly<Record<string, readonly [content: string | Uint8Array, says: RegExp]>> = {
  "empty.csv": ["", /empty\.csv, row 0 \(header\): empty file: expected column names\.$/],
  "binary.csv": [
    Uint8Array.from({ length: 300 }, (_, index) => (index * 7) % 256),
    /binary\.csv, row 0 \(header\): invalid byte sequence in the name of column 1: expected text/,
  ],
  "wide.csv": [
    `${"c,".repeat(1_000_000)}c\n`,
    /wide\.csv, row 0 \(header\): row too large: expected at most 262144 bytes/,
  ],
  "columns.csv": [
    `${Array.from({ length: 1001 }, (_, index) => `c${index}`).join()}\n`,
    /too many columns: expected at most 1000\.$/,
  ],
  "unknown.csv": [
    "a,b\n1,2\n",
    /unknown\.csv, row 0 \(header\): no column of VINs: expected one named VIN, .*; found 2 unknown names\.$/,
  ],
  "header.csv": ["VIN,Price\n", /header\.csv: no rows with values: expected at least one\.$/],
  "feed.csv": [
    `vin,dealer_id\n${vinOf(1)},00000000-0000-4000-8000-000000000001\n`,
    /feed\.csv: in the Carquet format: expected a file that needs a mapping\.$/,
  ],
  "cars.xlsx": ["PK", /cars\.xlsx: a workbook of a spreadsheet: expected its sheet as CSV\.$/],
};

describe("a file that cannot be mapped is refused in one line", () => {
  for (const [name, [content, says]] of Object.entries(invalid))
    test(name, async () => {
      const { code, out, err } = await map(await written(name, content));
      assert.deepEqual([code, out, err.split("\n").length], [1, "", 2]);
      assert.match(err.trimEnd(), says);
    });

  test("other arguments", async () => {
    for (const [expected, args, says] of [
      [2, [], /expected a file to map, or --mapping and --check\./],
      [2, [file, "--mapping", "a.json", "--check", "b.csv"], /expected a file to map, or --mapping and --check\./],
      [
        2,
        ["--mapping", "a.json", "--check", file, "--output", "b.json"],
        /expected --output only with a file to map\./,
      ],
      [1, [pathOf("nowhere.csv")], /nowhere\.csv: no such file or folder\./],
      [1, [folder], /a folder of \d+ files: expected one file\./],
    ] as const) {
      const { code, err } = await map(...args);
      assert.equal(code, expected);
      assert.match(err, says);
    }
  });
});
