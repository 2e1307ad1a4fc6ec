/** Values as others write them: read by the rule of their form, or unknown with the reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { normalizeText } from "../../src/base/text.ts";
import { checkDigit } from "../demo/vin.ts";
import { valuesReader } from "../support/lakes/read-values.ts";
import { fileScope } from "../support/scope.ts";

const read = await valuesReader(fileScope);

const open = "point or comma could be decimal: expected other values that show it, or number.decimal in the mapping";

/** Texts of a column that are read alone, and what each becomes: a value, or the reason why it has none. */
type Case = readonly [text: string, expected: number | string];

async function checkAlone(field: string, cases: readonly Case[], options: Parameters<typeof read>[2] = {}) {
  const values = await read(
    field,
    cases.map(([text]) => text),
    { ...options, isAlone: true },
  );
  const found = values.map(({ value, reason }, index) => [cases[index]?.[0], value ?? reason]);
  assert.deepEqual(found, cases);
}

test("prices are read with signs, separators, currency, thousands and remarks, or refused by name", () =>
  checkAlone("price", [
    ["20000", 20000],
    ["20,000", 20000],
    ["$20,750", 20750],
    ["$ 20,750.49", 20750],
    ["US$10,499.00", 10499],
    ["10499 USD", 10499],
    ["USD 10 499", 10499],
    ["25\u00a0995", 25995],
    ["25\u202f995 $", 25995],
    ["25'995", 25995],
    ["1,234,567.50", 1234568],
    ["1.234.567", 1234567],
    ["12.490,00", 12490],
    ["25 995,00 $", 25995],
    ["$20,750*", 20750],
    ["$20,750 + tax", 20750],
    ["20750 +T&L", 20750],
    ["$20.7k", 20700],
    ["52k", 52000],
    ["20000.5", 20001],
    ["20000.-", 20000],
    ["20000-", "not a whole number"],
    ["20000,00", open],
    ["18500,5", open],
    ["15.990", open],
    ["15.990 €", "in EUR: expected USD"],
    ["12.490,00 EUR", "in EUR: expected USD"],
    ["£20,750", "in GBP: expected USD"],
    ["CAD 20750", "in CAD: expected USD"],
    ["C$20,750", "in CAD: expected USD"],
    ["20 750 zł", "in PLN: expected USD"],
    ["20750 SEK", "in SEK: expected USD"],
    ["20,75", open],
    ["2,0750", open],
    ["1,23,456", "not a whole number"],
    ["20,750 - 21,000", "not a whole number"],
    ["call", "not a whole number"],
    ["20750 quatloos", "unknown unit"],
  ]));

test("a price in the lake's currency is one in any of its signs, and the dollar is not that of another", async () => {
  await checkAlone(
    "price",
    [
      ["15.990,00 €", 15990],
      ["EUR 15 990", 15990],
      ["$15,990", "in $: expected EUR"],
    ],
    { currency: "EUR" },
  );
  await checkAlone(
    "price",
    [
      ["C$20,750", 20750],
      ["$20,750", 20750],
      ["20,750 USD", "in USD: expected CAD"],
    ],
    { currency: "CAD" },
  );
});

test("distances are read in their unit, in which three digits after the only sign are thousands", () =>
  checkAlone("miles", [
    ["52,777 miles", 52777],
    ["12345,6 km", 7671],
    ["12.345 km", 7671],
    ["12 345 Kilometers", 7671],
    ["12,345 mi.", 12345],
    ["120k mi", 120000],
    ["12345,6", open],
    ["12 furlongs", "unknown unit"],
    ["50 (K)", "unknown unit"],
    ["160.9340 km", 100],
  ]));

test("cylinders are counted, not liters", () =>
  checkAlone("cylinders", [
    ["4 cyl", 4],
    ["6", 6],
    ["2.0L", "not a whole number"],
    ["3 liter", "not a whole number"],
  ]));

test("the other values of a file show which sign is decimal", async () => {
  const values = await read("price", ["20000,00", "15.990", "18.500,00", "20,750"]);
  assert.deepEqual(
    values.map(({ value }) => value),
    [20000, 15990, 18500, 20750],
  );
  const mixed = await read("price", ["20000,00", "18.500,00", "18,500.00"]);
  assert.deepEqual(
    mixed.map(({ value }) => value),
    [null, 18500, 18500],
  );
  const alone = await read("price", ["20000,00", "20,750", "call"]);
  assert.deepEqual(
    alone.map(({ value, reason }) => value ?? reason),
    [open, 20750, "not a whole number"],
  );
});

test("a mapping says which sign is decimal, and the unit of values without one", async () => {
  const decimalComma = { rule: { number: { decimal: "," } } };
  await checkAlone(
    "price",
    [
      ["20000,00", 20000],
      ["15.990", 15990],
      ["15,990", 16],
      ["15.990 €", "in EUR: expected USD"],
    ],
    decimalComma,
  );
  await checkAlone("price", [["15.990", 16]], { rule: { number: { decimal: "." } } });
  await checkAlone(
    "miles",
    [
      ["1000", 621],
      ["1000 mi", 1000],
    ],
    { rule: { number: { unit: "km" } } },
  );
});

test("model years of two digits are of the last hundred years that can be on sale, and noted", async () => {
  const texts = ["22", "'99", "28", "29", "2022", "2022.0", "222", "twenty"];
  const years = await read("year", texts, { day: "2026-11-19" });
  const note = "read with its century";
  assert.deepEqual(
    years.map(({ value, reason }) => [value, reason]),
    [
      [2022, note],
      [1999, note],
      [2028, note],
      [1929, note],
      [2022, null],
      [2022, null],
      [null, "below 1900"],
      [null, "not a whole number"],
    ],
  );
});

test("texts that look alike are one text: composed, without invisible characters, with single spaces", async () => {
  const looks = [
    "Café",
    "Cafe\u0301",
    "Ca\u00adfé",
    "Café\u200b",
    "\ufeffCafé",
    " Café\u00a0",
    "Caf&eacute;",
    "Caf&#233;",
    "Caf&#xE9;",
  ];
  assert.deepEqual(new Set((await read("trim", looks)).map(({ value }) => value)), new Set(["Café"]));
  const spaced = ["No Break", "No\u00a0Break", "No \t Break", "No\u2003Break", "No&nbsp;Break"];
  assert.deepEqual(new Set((await read("trim", spaced)).map(({ value }) => value)), new Set(["No Break"]));
});

test("texts of feeds and of requests have one form, with any characters in them", async () => {
  const odd = [
    0x80, 0x85, 0x9f, 0xad, 0x34f, 0x115f, 0x180e, 0x200b, 0x2003, 0x2800, 0x3164, 0xfe0f, 0xffa0, 0x1f697, 0xe0101,
  ];
  const texts = odd.map((code) => `Caf\u0065\u0301${String.fromCodePoint(code)} ${String.fromCodePoint(code)}x`);
  assert.deepEqual(
    (await read("trim", texts)).map(({ value }) => value),
    texts.map(normalizeText),
  );
});

test("entities are decoded once, and what is none is left", async () => {
  const texts = ["Bose&reg;", "Rain&#45;Sensing", "&amp;lt;b", "Q&A; more", "R&D", "X&#150;Y", "AT&amp;T"];
  const values = await read("trim", texts);
  assert.deepEqual(
    values.map(({ value }) => value),
    ["Bose®", "Rain-Sensing", "&lt;b", "Q&A; more", "R&D", "X–Y", "AT&T"],
  );
});

test("entities are decoded before a list is split", async () => {
  const [one] = await read("features", ["Bose&reg; Audio;Rain&#45;Sensing Wipers;A &amp; B"], {
    rule: { list: { separator: ";" } },
  });
  assert.deepEqual(one?.value, ["Bose® Audio", "Rain-Sensing Wipers", "A & B"]);
});

test("several URLs in one text are refused, and one that contains another is not", async () => {
  const several = "not an HTTP URL";
  await checkAlone("vdp_url", [
    ["https://a.example/1, https://a.example/2", several],
    ["https://a.example/1;HTTPS://a.example/2", several],
    ["https://a.example/1 http://a.example/2", several],
    ["https://a.example/w_3,h_2/https://b.example/1", "https://a.example/w_3,h_2/https://b.example/1"],
    ["https://a.example/?next=http://b.example", "https://a.example/?next=http://b.example"],
  ]);
});

test("blanks in URLs are encoded", async () => {
  const [one] = await read("vdp_url", ["https://north.example/used cars/1.html"]);
  assert.equal(one?.value, "https://north.example/used%20cars/1.html");
  const [photos] = await read("photo_urls", ["https://x.example/a b.jpg|https://x.example/c.jpg"]);
  assert.deepEqual(photos?.value, ["https://x.example/a%20b.jpg", "https://x.example/c.jpg"]);
});

test("a VIN is read without invisible characters; its check digit is noted only where the rule holds, and fillers are", async () => {
  const european = "WVWZZZ1KZAW123456";
  const american = "1HGCM82603A000001";
  const right = american.slice(0, 8) + checkDigit(american) + american.slice(9);
  const wrong = `${right.slice(0, 8)}${right[8] === "1" ? "2" : "1"}${right.slice(9)}`;
  const texts = [
    right,
    `${right}\u200b`,
    `\ufeff${right}`,
    wrong,
    european,
    "00000000000000000",
    "11111111111111111",
    "11111111111111112",
  ];
  const filler = "one character repeated";
  const values = await read("vin", texts);
  assert.deepEqual(
    values.slice(0, 6).map(({ value, reason }) => [value, reason]),
    [
      [right, null],
      [right, null],
      [right, null],
      [wrong, "wrong check digit"],
      [european, null],
      ["00000000000000000", filler],
    ],
  );
  assert.deepEqual(values[6], { value: "11111111111111111", reason: filler });
});

test("control characters are not kept in texts, wherever they are", async () => {
  const controls = [..."\u0000\u0001\u0008\u001f\u007f"].map((character) => `XL${character}T Plus`);
  const spaces = [..."\t\u000b\u000c"].map((character) => `XLT${character}Plus`);
  const values = await read("trim", [...controls.slice(1), ...spaces, "XLT Plus", "XLT  Plus", "XLT Plus "]);
  for (const { value } of values) assert.equal(value, "XLT Plus");
  const options = await read("options_packages", ["5\u00010A|53\u007fR"]);
  assert.deepEqual(options[0]?.value, ["50A", "53R"]);
  assert.equal(normalizeText(controls[0] ?? ""), "XLT Plus");
});

test("a photo that is several times in a list is there once", async () => {
  const [one = "", two = ""] = [1, 2].map((n) => `https://x.example/${n}.jpg`);
  const [photos] = await read("photo_urls", [`${one}|${two}| ${one}|${two}`]);
  assert.deepEqual(photos, { value: [one, two], reason: null });
});
