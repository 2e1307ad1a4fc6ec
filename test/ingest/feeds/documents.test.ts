/** Foreign files in other formats and encodings: documents, archives, delimiters, and files that are hostile. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { crc32, gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { ident, join as joined, literal, sql } from "../../../src/db/sql.ts";
import { tryDay } from "../../../src/ingest/day.ts";
import { unpack } from "../../../src/ingest/documents/prepared-files.ts";
import { writeRecords } from "../../../src/ingest/documents/records.ts";
import { deliveriesAt } from "../../../src/ingest/feed/delivery.ts";
import { defaultFeedLimits } from "../../../src/ingest/feed/feed-file.ts";
import { mappingOf } from "../../../src/ingest/mapping/mapping.ts";
import { zipOf } from "../../support/fuzz/zip.ts";
import { writeFeedFiles } from "../../support/lakes/feeds.ts";
import { foreignReader, type ReadForeign } from "../../support/lakes/foreign-files.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../../support/scope.ts";

const read = await foreignReader(fileScope);
const database = await DuckDatabase.open({ threads: 1 });
onScopeEnd(fileScope, async () => database.close());

const mapping = {
  version: 1,
  required: ["vin"],
  fields: {
    vin: "vin",
    trim: "trim",
    miles: { from: "mileage.value", number: { unitColumn: "mileage.unit" } },
    photo_urls: { from: "image[*].url", list: { all: true } },
  },
  dealer: { key: ["seller"], fields: { name: "seller" } },
};

const summary = ({ inventory, dealers }: ReadForeign) => ({
  cars: inventory.map(({ row, vin, trim, miles, photo_urls }) => [row, vin, trim, miles, photo_urls]),
  dealers: dealers.map(({ name }) => name),
});

const expected = {
  cars: [
    [1, "V1", "Café “S”", "1000 km", ["a", "b"]],
    [2, "V2", null, "5", []],
  ],
  dealers: ["Nörth & Co"],
};

const xml = `<?xml version="1.0"?><!-- stock --><feed><made>2026</made><listings xmlns:g="http://g">
  <listing><g:vin>V1</g:vin><trim><![CDATA[Café “S”]]></trim><mileage unit="km"><value>1000</value></mileage>
    <image><url>a</url><tag>x</tag></image><image><url>b</url></image><seller>Nörth &amp; Co</seller></listing>
  <listing vin="V2"><mileage><value>5</value></mileage><seller>Nörth &amp; Co</seller><nothing/></listing>
</listings></feed>`;

const carsOfJson = [
  {
    vin: "V1",
    trim: "Café “S”",
    mileage: { value: 1000, unit: "km" },
    image: [{ url: "a" }, { url: "b", tag: null }],
    seller: "Nörth & Co",
  },
  { VIN: "V2", mileage: { value: 5 }, seller: "Nörth & Co", note: 'a "}" in a text\\' },
];
const json = JSON.stringify(
  { made: { by: ["x", "]}"] }, empty: [], data: { vehicles: carsOfJson }, more: [{ vin: "V9" }] },
  null,
  1,
);

const csv = (delimiter: string): string =>
  [
    "vin,trim,mileage.value,mileage unit,image[0].url,image[1].url,seller",
    "V1,Café “S”,1000,km,a,b,Nörth & Co",
    "V2,,5,,,,Nörth & Co",
    "",
  ]
    .join("\n")
    .replaceAll(",", delimiter);

const files: Readonly<Record<string, readonly [file: string, content: string | Uint8Array, layout?: object]>> = {
  "an XML document with a record path": ["cars.xml", xml, { records: "/feed/listings/listing" }],
  "an XML document in Windows-1252 that declares it": [
    "cars.xml",
    iconv.encode(xml.replace('"1.0"', '"1.0" encoding="windows-1252"'), "windows-1252"),
    { records: "feed/listings/listing" },
  ],
  "an XML document in Windows-1252 that declares an unknown encoding": [
    "cars.xml",
    iconv.encode(xml.replace('"1.0"', '"1.0" encoding="ANSI"'), "windows-1252"),
    { records: "feed/listings/listing" },
  ],
  "a JSON document with a record path": ["cars.json", json, { records: "/data/vehicles" }],
  "a JSON document that is an array": ["cars.json", JSON.stringify(carsOfJson)],
  "NDJSON with nested values": ["cars.ndjson", carsOfJson.map((car) => `${JSON.stringify(car)}\n`).join("")],
  "gzip of JSON": ["cars.json.gz", gzipSync(json), { records: "/data/vehicles" }],
  "CSV in UTF-8 with a byte order mark": ["cars.csv", `\ufeff${csv(",")}`],
  "CSV in Windows-1252": ["cars.csv", iconv.encode(csv(","), "windows-1252")],
  "tab-separated text in UTF-16": ["cars.tsv", Buffer.from(`\ufeff${csv("\t")}`, "utf16le")],
  "text with vertical bars": ["cars.txt", csv("|")],
  "gzip of text with semicolons": ["cars.csv.gz", gzipSync(csv(";"))],
  "a ZIP file": ["cars.zip", zipOf({ "photos/1.jpg": "x", "stock/cars.csv": csv(",") })],
};

for (const [what, [file, content, layout]] of Object.entries(files))
  test(`cars are read from ${what}`, async () => {
    const whole = { ...mapping, ...(layout === undefined ? {} : { file: layout }) };
    assert.deepEqual(summary(await read({ [file]: content }, whole)), expected);
  });

test("of fields of a record whose names differ only in case, the first that is not blank counts", async () => {
  const car = { VIN: "V1", vin: "", Seller: "", seller: "North" };
  for (const [name, text] of [
    ["cars.json", JSON.stringify([car])],
    ["cars.ndjson", JSON.stringify(car)],
  ] as const) {
    const { inventory, dealers } = await read({ [name]: text }, mapping);
    assert.deepEqual([inventory.map(({ vin }) => vin), dealers.map((dealer) => dealer.name)], [["V1"], ["North"]]);
  }
});

test("documents of many parts are read whole", async () => {
  const many = Array.from({ length: 3000 }, (_, n) => ({ vin: `V${n}`, seller: "é".repeat(150) }));
  const elements = many.map(({ vin, seller }) => `<c><vin>${vin}</vin><seller>${seller}</seller></c>`).join("\n");
  for (const files of [{ "cars.json": JSON.stringify(many) }, { "cars.xml": `<r>${elements}</r>` }]) {
    const { inventory, dealers } = await read(files, mapping);
    assert.deepEqual(
      [inventory.length, inventory.at(-1)?.vin, dealers.map(({ name }) => name)],
      [3000, "V2999", [many[0]?.seller]],
    );
  }
});

const bomb = gzipSync(Buffer.alloc(2 ** 22, "a"));
const entities = `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><r><c><vin>&b;</vin></c></r>`;

/** Files that are refused, and what the error says. */
const refused: Readonly<Record<string, readonly [file: string, content: string | Uint8Array, says: RegExp]>> = {
  "a ZIP bomb": [
    "cars.zip",
    zipOf({ "cars.csv": Buffer.alloc(2 ** 20) }),
    /^cars\.zip: compressed too highly: expected at most 200 bytes from each stored byte/,
  ],
  "a ZIP file whose sizes lie": [
    "cars.zip",
    zipOf({ "cars.csv": "a".repeat(5000) }, { size: 10 }),
    /^cars\.zip: invalid ZIP file: too many bytes/,
  ],
  "a name that climbs out of a ZIP file": [
    "cars.zip",
    zipOf({ "../cars.csv": "vin\n" }),
    /^cars\.zip: invalid ZIP file: invalid relative path/,
  ],
  "an absolute name in a ZIP file": [
    "cars.zip",
    zipOf({ "/etc/cars.csv": "vin\n" }),
    /^cars\.zip: invalid ZIP file: absolute path/,
  ],
  "text that is no ZIP file": ["cars.zip", "vin,seller\n", /^cars\.zip: invalid ZIP file: /],
  "a ZIP file with a name of a folder that is too long": [
    "cars.zip",
    zipOf({ [`${"x".repeat(256)}/cars.xml`]: "<r><c><vin>V1</vin></c></r>" }),
    /^cars\.zip\/x{191}\.\.\.: ENAMETOOLONG: name too long/,
  ],
  "a bomb of XML entities": ["cars.xml", entities, /^cars\.xml, row 1: invalid XML: .*undefined entity/],
  "XML that ends early": ["cars.xml", "<r><c><vin>V1</vin></c><c>", /^cars\.xml, row 2: invalid XML: .*unclosed tag/],
  "XML nested too deeply": [
    "cars.xml",
    "<a>".repeat(40),
    /^cars\.xml, row 1: nested too deeply: expected at most 32 levels/,
  ],
  "a value of XML that is too large": [
    "cars.xml",
    `<r><c><vin>V1</vin></c><c><vin>${"x".repeat(400_000)}`,
    /^cars\.xml, row 2: row too large: expected at most 262144 bytes/,
  ],
  "JSON nested too deeply": ["cars.json", "[".repeat(40), /^cars\.json, row 1: nested too deeply/],
  "JSON that ends early": ["cars.json", '[{"vin":"V1"},{"vin":', /^cars\.json, row 2: the file ends within a value/],
  "invalid JSON": ["cars.json", '[{"vin":"V1"},{"vin" 1}]', /^cars\.json, row 2: invalid JSON/],
  "a value of JSON that is too large": [
    "cars.json",
    `[{"vin":"${"x".repeat(400_000)}"}]`,
    /^cars\.json, row 1: row too large/,
  ],
  "JSON with too many columns": [
    "cars.json",
    `[${Array.from({ length: 20 }, (_, row) => `{${Array.from({ length: 60 }, (_, n) => `"${n === 0 ? "vin" : `c${row}-${n}`}":1`).join()}}`).join()}]`,
    /^cars\.json, row 17: too many columns: expected at most 1000/,
  ],
  "too many columns": [
    "cars.csv",
    `${Array.from({ length: 1001 }, (_, n) => `c${n}`).join()}\n`,
    /row 0 \(header\): too many columns/,
  ],
  "a gzip bomb": ["cars.xml.gz", bomb, /^cars\.xml\.gz: compressed too highly/],
  "a field without an end": [
    "cars.csv",
    `vin,seller\nV1,"${"x".repeat(400_000)}`,
    /^cars\.csv, row 1: (row too large|invalid quotes)/,
  ],
};

for (const [what, [file, content, says]] of Object.entries(refused))
  test(`refused, and the other feeds of the day are read: ${what}`, async () => {
    await assert.rejects(read({ [file]: content }, mapping), { name: "UserError", message: says });
    const { inventory, remarks } = await read(
      { "a.csv": "vin,seller\nV1,North\n", [file]: content, "z.csv": "vin,seller\nV2,South\n" },
      mapping,
    );
    assert.deepEqual(inventory.map(({ vin }) => vin).sort(), ["V1", "V2"]);
    const [lacking, refusal] = remarks;
    assert.equal(remarks.length, 2);
    assert.match(lacking ?? "", /^a\.csv and [12] more: no column of trim, miles, photo_urls: expected "trim", /);
    assert.match(refusal?.replace(/^refused file: /, "") ?? "", says);
  });

test("a file in a ZIP file is refused alone, whether it cannot be prepared or read", async () => {
  const car = (vin: string): string => `vin,seller\n${vin},North\n`;
  const broken = { "b.csv": "a,b\nread me\n", "b.xml": "<r><c>", "b.csv.gz": "no gzip" };
  const { inventory, remarks } = await read(
    { "cars.zip": zipOf({ "a.csv": car("V1"), ...broken, "z.csv": car("V2") }) },
    mapping,
  );
  assert.deepEqual(
    inventory.map(({ vin }) => vin),
    ["V1", "V2"],
  );
  assert.deepEqual(
    remarks.map((remark) => /^(?:refused file: )?(\S+?)(?:[:,]| and 1 more:)/.exec(remark)?.[1]),
    ["a.csv", ...Object.keys(broken)].map((name) => `cars.zip/${name}`),
  );
});

test("text that is not in UTF-8 is read with a remark, lines of JSON under any name, and half a character as none", async () => {
  const cars = iconv.encode("vin,trim,seller\nV1,Café,North\n", "windows-1252");
  const { inventory, remarks } = await read({ "cars.csv": cars }, mapping);
  assert.deepEqual(inventory[0]?.trim, "Café");
  assert.match(remarks.join("\n"), /^cars\.csv: not in UTF-8, read as windows-1252; file\.encoding of a mapping/m);
  const lines = '{"vin":"V1","trim":"\\ud83d","seller":"North"}\n{"vin":"V2","trim":"\\\\ud83d","seller":"North"}\n';
  const { inventory: ofLines } = await read({ "cars.json": lines }, mapping);
  assert.deepEqual(
    ofLines.map(({ trim }) => trim),
    ["\ufffd", "\\ud83d"],
  );
});

test("a file in the Carquet format with another name is ignored, and reported", async () => {
  const cars = "vin,dealer_id,make,price\n1FTEW1E50LFA00001,1,Ford,20000\n";
  const { inventory, remarks } = await read({ "inventory.csv": cars, "stock.csv": cars });
  assert.deepEqual([...new Set(inventory.map(({ file }) => file))], ["inventory.csv"]);
  assert.deepEqual(remarks, [
    "stock.csv: ignored file: expected a name that begins with that of a table, or the columns of a preset.",
  ]);
});

test("a day is refused if all of its feeds are, also beside files that are ignored", async () => {
  const ignored = { "notes.txt": "read me\n", "._homenet.csv": "\0\0", "photos.zip": zipOf({ "1.jpg": "x" }) };
  const says = /^UserError: (cars\.xml|stock\.zip\/cars\.xml), row 1: invalid XML/;
  await assert.rejects(read({ "cars.xml": "<r><c>", ...ignored }), says);
  await assert.rejects(read({ "stock.zip": zipOf({ "cars.xml": "<r><c>", ...ignored }) }), says);
});

test("a character of 2, 3 or 4 bytes may be split at any byte between two chunks of a file", async () => {
  const chunkBytes = 2 ** 18;
  const head = "vin,seller\nV1,";
  for (const character of ["é", "“", "🚗"])
    for (let split = 1; split < Buffer.byteLength(character); split += 1) {
      const filler = "x".repeat(chunkBytes - head.length - split);
      const seller = `${filler}${character} Nörth`;
      const content = `${head}${seller}\n`;
      assert.equal(Buffer.from(content).indexOf(Buffer.from(character)), chunkBytes - split);
      const plain = await read({ "cars.csv": content }, mapping);
      assert.deepEqual(
        plain.dealers.map(({ name }) => name),
        [seller],
        `${character} after ${split} bytes`,
      );
      const last = await read({ "cars.csv": `vin,seller\nV1,${character}` }, mapping);
      assert.equal(last.dealers[0]?.name, character);
      // A file that ends within a character is no UTF-8.
      const cut = await read({ "cars.csv": Buffer.from(`vin,seller\nV1,${character}`).subarray(0, -1) }, mapping);
      const bytes = Buffer.from(character).subarray(0, -1);
      assert.deepEqual(
        cut.dealers.map(({ name }) => name),
        [iconv.decode(bytes, "windows-1252").trim()],
        `${character} without its last byte`,
      );
    }
});

test("a JSON record up to its limit is read, and a larger one is refused, as one text and as many", async () => {
  const record = (bytes: number): string => JSON.stringify([{ vin: "V1", seller: "x".repeat(bytes) }]);
  const limits = { recordBytes: 4000 };
  const { inventory } = await read({ "cars.json": record(3000) }, mapping, limits);
  assert.equal(inventory.length, 1);
  const says = /^UserError: cars\.json, row 1: row too large: expected at most 4000 bytes \(--max-record-size\)\.$/;
  await assert.rejects(read({ "cars.json": record(5000) }, mapping, limits), says);
  // No text of it is larger than the limit: only their sum is.
  const photos = (count: number): string =>
    JSON.stringify([{ vin: "V1", seller: "x", image: Array.from({ length: count }, () => ({ url: "u".repeat(90) })) }]);
  const few = await read({ "cars.json": photos(30) }, mapping, limits);
  assert.deepEqual([few.inventory.length], [1]);
  await assert.rejects(read({ "cars.json": photos(60) }, mapping, limits), says);
});

/** Documents of one record without an end: its start, and what follows again and again. */
const endless: Readonly<Record<string, readonly [format: "json" | "ndjson" | "xml", start: string, part: string]>> = {
  "a JSON text": ["json", '[{"vin":"V1","seller":"', "x".repeat(100)],
  "a JSON record of small texts": ["json", '[{"vin":"V1","image":["y"', ',"xxxxxxxxxx"'],
  "a line of NDJSON": ["ndjson", '{"vin":"V1","image":["y"', ',"xxxxxxxxxx"'],
  "an XML text": ["xml", "<r><c><vin>V1</vin><seller>", "x".repeat(100)],
  "an XML record of small texts": ["xml", "<r><c><vin>V1</vin>", "<i>xxxxxxxxxx</i>"],
};

for (const [what, [format, start, part]] of Object.entries(endless))
  test(`a record beyond its limit is refused before it ends: ${what}`, async () => {
    const limits = { ...defaultFeedLimits, recordBytes: 2 ** 16 };
    const chunk = part.repeat(2000);
    const reads: number[] = [];
    const texts = async function* () {
      const read = reads.push(0) - 1;
      yield start;
      for (let chunks = 1; chunks <= 100; chunks += 1) {
        reads[read] = chunks;
        yield chunk;
      }
    };
    const file = { path: "", name: "cars", table: "inventory", format, isGzip: false } as const;
    const target = join(await temporaryFolder(fileScope), "records");
    await assert.rejects(
      writeRecords({ file, limits, texts }, target),
      /row 1: row too large: expected at most 65536 bytes/,
    );
    assert.ok((reads.at(-1) ?? 0) * chunk.length < 6 * limits.recordBytes, `${reads} chunks of ${chunk.length}`);
  });

test("an archive of 10,000 entries is unpacked, and one more is refused before anything is", async () => {
  const entries = (count: number): Buffer =>
    zipOf({
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, n) => [`${n}.jpg`, ""])),
      "cars.csv": csv(","),
    });
  assert.deepEqual(summary(await read({ "cars.zip": entries(10_000) }, mapping)), expected);
  await assert.rejects(
    read({ "cars.zip": entries(10_001) }, mapping),
    /^UserError: cars\.zip: invalid ZIP file: 10001 entries: expected at most 10000\.$/,
  );
  const folder = await temporaryFolder(fileScope);
  const path = join(folder, "cars.zip");
  await writeFile(path, entries(10_001));
  const asked: string[] = [];
  const file = { path, name: "cars.zip", table: "inventory", format: "zip", isGzip: false } as const;
  const target = (name: string) => {
    asked.push(name);
    return Promise.resolve({ path: join(folder, "unpacked") });
  };
  await assert.rejects(unpack(file, defaultFeedLimits, target), /10001 entries/);
  assert.deepEqual([asked, await readdir(folder)], [[], ["cars.zip"]]);
});

test("an entity in an entity is decoded once: &amp;lt; is the text &lt;, in CSV and as the text of HTML", async () => {
  const trims = ["&amp;lt;b&amp;gt;", "&amp;amp;", "&amp;#66;"];
  const content = ["vin,seller,trim", ...trims.map((trim, index) => `V${index},x,${trim}`), ""].join("\n");
  const { inventory } = await read({ "cars.csv": content }, mapping);
  assert.deepEqual(
    inventory.map(({ trim }) => trim),
    ["&lt;b&gt;", "&amp;", "&#66;"],
  );
  const html = { ...mapping, fields: { vin: "vin", trim: { from: "trim", html: true } } };
  const ofHtml = await read({ "cars.csv": content }, html);
  assert.deepEqual(
    ofHtml.inventory.map(({ trim }) => trim),
    ["&lt;b&gt;", "&amp;", "&#66;"],
  );
});

test("crc32 of the test's archives is that of ZIP", () => assert.equal(crc32("123456789"), 0xcbf43926));

test("of a Parquet file that is refused, no row is read: neither an invalid value of a dealer nor a row that is too large", async () => {
  const columns = ["vin", "trim", "seller", "city"];
  const parquet = async (...rows: readonly (readonly string[])[]): Promise<Buffer> => {
    const path = join(await temporaryFolder(fileScope), "cars.parquet");
    const values = rows.map((row) => sql`(${joined(row.map((text) => literal(text)))})`);
    const names = joined(columns.map((column) => ident(column)));
    await database.using((session) =>
      session.run(sql`COPY (FROM (VALUES ${joined(values)}) AS cars(${names})) TO ${literal(path)} (FORMAT parquet)`),
    );
    return readFile(path);
  };
  const broken = await parquet(["V2", "LX", "South", "Fresno?"]);
  for (let at = broken.indexOf("Fresno?"); at >= 0; at = broken.indexOf("Fresno?", at)) broken[at + 6] = 0xff;
  const large = await parquet(["V3", "x".repeat(5_000), "East", ""], ["V3", "x".repeat(5_000), "East", ""]);
  const named = { ...mapping, dealer: { key: ["seller"], fields: { name: "seller", city: "city" } } };
  for (const [content, says] of [
    [broken, /^refused file: cars\.parquet: /],
    [large, /^refused file: cars\.parquet, row 1: row too large: expected at most 4096 bytes/],
  ] as const) {
    const { inventory, remarks } = await read(
      { "a.csv": "vin,seller,city\nV1,North,Reno\n", "cars.parquet": content },
      named,
      { recordBytes: 4096 },
    );
    assert.deepEqual(
      inventory.map(({ vin }) => vin),
      ["V1"],
    );
    assert.match(remarks.find((remark) => remark.startsWith("refused")) ?? "", says);
  }
  const files = { "a.csv": "vin,seller,city\nV1,North,Reno\n", "cars.parquet": broken };
  const [delivery] = await deliveriesAt(
    await writeFeedFiles(await temporaryFolder(fileScope), "day", files),
    "2026-03-01",
  );
  assert.ok(delivery !== undefined);
  const settings = { limits: defaultFeedLimits, mapping: mappingOf(named, "mapping.json") };
  assert.equal((await database.using((session) => tryDay(session, delivery, settings))).rows, 1);
});

test("the point of a number in Parquet and NDJSON is decimal, that of a text may group thousands", async () => {
  const path = join(await temporaryFolder(fileScope), "cars.parquet");
  const statement = sql`SELECT 'V1' AS vin, 160.934::DOUBLE AS m, 12::DECIMAL(10,3) AS price, '1.234' AS stock, 'North' AS seller`;
  await database.using((session) => session.run(sql`COPY (${statement}) TO ${literal(path)} (FORMAT parquet)`));
  const number = { from: "m", number: { unit: "km" } };
  const fields = { vin: "vin", miles: number, price: "price", stock_number: "stock" };
  const { inventory } = await read({ "cars.parquet": await readFile(path) }, { ...mapping, fields });
  assert.deepEqual(
    inventory.map(({ miles, price, stock_number }) => [miles, price, stock_number]),
    [["160.9340 km", "12.0000", "1.234"]],
  );
  const lines = [`"price":25.995,"stock_number":1.234`, `"price":"25.995","stock_number":"1.234"`];
  const ndjson = lines.map((values, n) => `{"vin":"V${n}","dealer_id":"1",${values}}\n`).join("");
  const { inventory: ofLines } = await read({ "inventory.ndjson": ndjson });
  assert.deepEqual(
    ofLines.map(({ price, stock_number }) => [price, stock_number]),
    [
      ["25.9950", "1.234"],
      ["25.995", "1.234"],
    ],
  );
});
