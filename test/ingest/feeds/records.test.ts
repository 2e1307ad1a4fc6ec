/** Records of documents: found by their structure, with the values that they share, and in any order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import iconv from "iconv-lite";
import { vinOf } from "../../support/lakes/feeds.ts";
import { foreignReader } from "../../support/lakes/foreign-files.ts";
import { fileScope } from "../../support/scope.ts";

const read = await foreignReader(fileScope);

const mapping = {
  version: 1,
  required: ["vin"],
  fields: { vin: "vin", trim: "trim", price: "price", miles: { from: "miles", number: { unitColumn: "miles.unit" } } },
  dealer: { key: [["dealer.id", "dealer.key", "dealer.name"]], fields: { name: "dealer.name", city: "dealer.city" } },
};

/** Returns the VIN, dealer and price of each row, and the dealers' names and cities. */
async function carsIn(file: string, content: string | Uint8Array, mapped: object = mapping) {
  const { inventory, dealers } = await read({ [file]: content }, mapped);
  const nameOf = new Map(dealers.map(({ dealer_id, name, city }) => [dealer_id, `${name}, ${city}`]));
  return inventory.map(({ vin, dealer_id, price }) => [vin, nameOf.get(dealer_id ?? ""), price]);
}

const one = vinOf(1);
const two = vinOf(2);
const three = vinOf(3);
const north = "North, Fresno";
const south = "South, Reno";
const car = (vin: string, price: number): string => `<vehicle><vin>${vin}</vin><price>${price}</price></vehicle>`;

/** Documents of a dealer with two cars, and one with a single car. */
const expectedCars = [
  [one, north, "10"],
  [two, north, "20"],
  [three, south, "30"],
];

const documents: Readonly<Record<string, readonly [file: string, content: string]>> = {
  "values before the vehicles": [
    "cars.xml",
    `<feed><dealers><dealer><id>1</id><name>North</name><city>Fresno</city><vehicles>${car(one, 10)}${car(two, 20)}</vehicles></dealer>
     <dealer><id>2</id><name>South</name><city>Reno</city><vehicles>${car(three, 30)}</vehicles></dealer></dealers></feed>`,
  ],
  "values after the vehicles": [
    "cars.xml",
    `<dealers><dealer><vehicles>${car(one, 10)}${car(two, 20)}</vehicles><id>1</id><name>North</name><city>Fresno</city></dealer>
     <dealer><name>South</name><vehicles>${car(three, 30)}</vehicles><id>2</id><city>Reno</city></dealer></dealers>`,
  ],
  "values of a list in JSON, before and after": [
    "cars.json",
    JSON.stringify({
      dealers: [
        {
          vehicles: [
            { vin: one, price: 10 },
            { vin: two, price: 20 },
          ],
          id: 1,
          name: "North",
          city: "Fresno",
        },
        { id: 2, name: "South", vehicles: [{ vin: three, price: 30 }], city: "Reno" },
      ],
    }),
  ],
  "values of an object in JSON, after the lists": [
    "cars.json",
    JSON.stringify([
      {
        stock: [
          { vin: one, price: 10 },
          { vin: two, price: 20 },
        ],
        dealer: { id: 1, name: "North", city: "Fresno" },
      },
      { stock: [{ vin: three, price: 30 }], dealer: { id: 2, name: "South", city: "Reno" } },
    ]),
  ],
  "objects by the keys of dealers": [
    "cars.json",
    JSON.stringify({
      dealers: {
        n1: {
          vehicles: [
            { vin: one, price: 10 },
            { vin: two, price: 20 },
          ],
          name: "North",
          city: "Fresno",
        },
        s2: { name: "South", city: "Reno", vehicles: [{ vin: three, price: 30 }] },
      },
    }),
  ],
  "lines of NDJSON": [
    "cars.ndjson",
    [
      {
        vehicles: [
          { vin: one, price: 10 },
          { vin: two, price: 20 },
        ],
        dealer: { id: 1, name: "North", city: "Fresno" },
      },
      { dealer: { id: 2, name: "South", city: "Reno" }, vehicles: [{ vin: three, price: 30 }] },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  ],
};

for (const [what, [file, content]] of Object.entries(documents))
  test(`a dealer's values are those of its vehicles: ${what}`, async () =>
    assert.deepEqual(await carsIn(file, content), expectedCars));

test("the vehicles of dealers that have one each are the records", async () => {
  const dealers = [
    ["North", "Fresno", car(one, 10)],
    ["South", "Reno", car(two, 20)],
  ] as const;
  const expected = [
    [one, north, "10"],
    [two, south, "20"],
  ];
  for (const [before, after] of [
    ["", ""],
    ["<inventory>", "</inventory>"],
    ["<vehicles>", "</vehicles>"],
  ]) {
    const elements = dealers.map(
      ([name, city, vehicle]) => `<dealer><name>${name}</name>${before}${vehicle}${after}<city>${city}</city></dealer>`,
    );
    assert.deepEqual(await carsIn("cars.xml", `<dealers>${elements.join("")}</dealers>`), expected, before);
  }
  const objects = [
    { name: "North", city: "Fresno", car: { vin: one, price: 10 } },
    { car: { vin: two, price: 20 }, name: "South", city: "Reno" },
  ];
  assert.deepEqual(await carsIn("cars.json", JSON.stringify({ dealers: objects })), expected);
});

test("a listing whose vehicle is a part of it is the record", async () => {
  const listing = (vin: string, price: number) =>
    `<listing><vehicle><vin>${vin}</vin></vehicle><price>${price}</price><dealer><name>North</name><city>Fresno</city></dealer></listing>`;
  const nested = { ...mapping, fields: { ...mapping.fields, vin: "vehicle.vin" } };
  assert.deepEqual(await carsIn("cars.xml", `<listings>${listing(one, 10)}${listing(two, 20)}</listings>`, nested), [
    [one, north, "10"],
    [two, north, "20"],
  ]);
});

test("values with their names are columns of these names", async () => {
  const units = { vin: one, price: "10", miles: "5" };
  const asAttributes = Object.entries(units).map(([name, value]) => `<field name="${name}" value="${value}"/>`);
  const asText = Object.entries(units).map(
    ([name, value]) => `<attribute name="${name}" type="text">${value}</attribute>`,
  );
  const asElements = Object.entries(units).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  const dealer = "<dealer><name>North</name><city>Fresno</city></dealer>";
  const other = `<car>${dealer}<vin>${two}</vin><price>20</price></car>`;
  for (const fields of [asAttributes, asText, asElements])
    assert.deepEqual(await carsIn("cars.xml", `<cars><car>${dealer}${fields.join("")}</car>${other}</cars>`), [
      [one, north, "10"],
      [two, north, "20"],
    ]);
  const json = [
    {
      dealer: { name: "North", city: "Fresno" },
      attributes: Object.entries(units).map(([name, value]) => ({ name, value })),
    },
  ];
  assert.deepEqual(await carsIn("cars.json", JSON.stringify(json)), [[one, north, "10"]]);
});

test("a value with its name keeps its unit and its items, and other elements of such names are left", async () => {
  const { inventory } = await read(
    {
      "cars.xml": `<cars><car><field name="vin">${one}</field><field name="miles" unit="km" value="1000"/>
        <field name="photo"><value>a</value><value>b</value></field><property id="7"><trim>XLT</trim></property><field name="price"/></car></cars>`,
    },
    {
      ...mapping,
      fields: { vin: "vin", miles: mapping.fields.miles, trim: "property.trim", photo_urls: { from: "photo[*]" } },
      dealer: { key: [[{ constant: "North" }]], fields: { name: [{ constant: "North" }] } },
    },
  );
  assert.deepEqual(
    inventory.map(({ vin, miles, trim, photo_urls }) => [vin, miles, trim, photo_urls]),
    [[one, "1000 km", "XLT", ["a", "b"]]],
  );
});

const texts = {
  "cars.json": JSON.stringify([{ vin: one, trim: "Café", dealer: { name: "North" } }]),
  "cars.ndjson": `${JSON.stringify({ vin: one, trim: "Café", dealer: { name: "North" } })}\n`,
  "cars.xml": `<cars><car><vin>${one}</vin><trim>Café</trim><dealer><name>North</name></dealer></car></cars>`,
  "cars.csv": `vin,trim,dealer.name\n${one},Café,North\n`,
};

for (const [file, text] of Object.entries(texts))
  test(`text that is not in UTF-8 is read as Windows-1252: ${file}`, async () => {
    for (const content of [text, iconv.encode(text, "windows-1252"), iconv.encode(text, "utf-16")]) {
      const { inventory } = await read({ [file]: content }, mapping);
      assert.deepEqual(
        inventory.map(({ trim }) => trim),
        ["Café"],
      );
    }
  });

test("an XML document that is in another encoding than it declares is read all the same", async () => {
  for (const [declared, actual] of [
    ["UTF-8", "windows-1252"],
    ["utf-16", "utf-8"],
    ["ISO-8859-1", "utf-8"],
    ["ISO-8859-1", "windows-1252"],
    ["iso-8859-15", "iso-8859-15"],
  ] as const) {
    const content = iconv.encode(
      `<?xml version="1.0" encoding="${declared}"?>${texts["cars.xml"].replace("Café", "Café €")}`,
      actual,
    );
    const { inventory } = await read({ "cars.xml": content }, mapping);
    assert.deepEqual(
      inventory.map(({ trim }) => trim),
      ["Café €"],
      declared,
    );
  }
});

test("the point of a number of JSON is decimal, and whole numbers keep all digits", async () => {
  const key = "24680135791357913";
  const json = (vin: string, miles: string): string =>
    `{"vin":"${vin}","miles":${miles},"miles.unit":"km","trim":"a 12345678901234567 \\" b","dealer":{"id":${key}}}`;
  const cars = [json(one, "160.934"), json(two, '"160.934"'), json(three, "0.1234567890123456789")];
  const read2 = { ...mapping, dealer: { ...mapping.dealer, fields: { name: "dealer.id" } } };
  for (const [file, content] of [
    ["cars.json", `[${cars.join()}]`],
    ["cars.ndjson", cars.map((car) => `${car}\n`).join("")],
  ] as const) {
    const { inventory, dealers } = await read({ [file]: content }, read2);
    assert.deepEqual(
      inventory.map(({ miles, trim }) => [miles, trim]),
      ["160.9340 km", "160.934 km", "0.12345678901234568 km"].map((miles) => [miles, 'a 12345678901234567 " b']),
      file,
    );
    assert.deepEqual(
      dealers.map(({ name }) => name),
      [key],
      file,
    );
  }
});

for (const [file, text] of Object.entries(texts))
  test(`text that is not in the encoding that its mapping names is refused by row: ${file}`, async () => {
    const content = iconv.encode(text, "windows-1252");
    await assert.rejects(read({ [file]: content }, { ...mapping, file: { encoding: "utf-8" } }), {
      message: new RegExp(`^${file.replace(".", "\\.")}, row 1\\b.*invalid byte sequence.*UTF-8`),
    });
    const { inventory } = await read(
      { [file]: text.replace("Café", "Caf\ufffd") },
      { ...mapping, file: { encoding: "utf-8" } },
    );
    assert.deepEqual(
      inventory.map(({ trim }) => trim),
      ["Caf\ufffd"],
    );
  });
