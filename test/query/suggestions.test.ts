/** Operation `suggestFilters`: each suggestion counts what its filters find; names match in any spelling, and the closest come first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../src/contract/types.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

type Suggestion = AnswerOf<"suggestFilters">["data"][number];

const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake);
const { lake: unindexed } = await createLake(fileScope, undefined, { hasServingFiles: false });
const withoutIndex = await startService(fileScope, unindexed);

const suggested = async (q: string, limit = 20, from = client): Promise<readonly Suggestion[]> =>
  (await from.getBody("suggestFilters", `/v1/suggest?${new URLSearchParams({ q, limit: String(limit) })}`)).data;

const texts = async (q: string): Promise<readonly string[]> => (await suggested(q)).map(({ text }) => text);

const letters = [..."abcdefghijklmnopqrstuvwxyz"];

test("each suggestion counts the listings that a search with its filters finds", async () => {
  let suggestions = 0;
  let attributes = new Set<string>();
  for (const q of [
    ...letters,
    "toyota c",
    "san",
    "new york",
    "95118",
    "60601",
    "1FT",
    "5YJ3E",
    "2hkrw2",
    "auto",
    "tx",
    "u4360a",
  ])
    for (const { count, filters, attribute } of await suggested(q)) {
      const query = new URLSearchParams({ ...filters, limit: "1" });
      const { pagination } = await client.getBody("searchListings", `/v1/listings?${query}`);
      assert.equal(pagination.total, count, `${q}: ${query}`);
      suggestions += 1;
      attributes = attributes.add(attribute);
    }
  assert.ok(suggestions > 200, `${suggestions} suggestions`);
  const named = [
    "base_exterior_color",
    "body_type",
    "drivetrain",
    "features",
    "fuel_type",
    "inventory_type",
    "make",
    "model",
  ];
  const expected = [
    ...named,
    "powertrain_type",
    "state",
    "transmission",
    "trim",
    "city",
    "dealer_id",
    "postal_code",
    "stock_number",
  ].sort();
  assert.deepEqual([...attributes].filter((attribute) => attribute !== "vin").sort(), expected);
});

test("a VIN is suggested by its beginning", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
  const vin = data[0]?.vin ?? "";
  const [found] = (await suggested(vin.slice(0, 11).toLowerCase())).filter(({ attribute }) => attribute === "vin");
  assert.deepEqual(found?.filters, { vin_pattern: `${vin.slice(0, 11)}*` });
  assert.ok((found?.count ?? 0) >= 1);
});

test("the beginning of a VIN that is too short has a hint that names the characters it needs", async () => {
  const hintOf = async (q: string) => (await client.getBody("suggestFilters", `/v1/suggest?q=${q}`)).meta.hint;
  for (const q of ["5YJ", "1ftx"]) assert.equal(await hintOf(q), "VINs are suggested from 5 characters on.", q);
  for (const q of ["1FTEW", "94", "toy", "o1"]) assert.equal(await hintOf(q), undefined, q);
});

test("a stock number is suggested in any case, as a whole", async () => {
  const [found, ...others] = await suggested("t26-4266");
  assert.deepEqual([found?.filters, found?.count, others], [{ stock_number: "T26-4266" }, 1, []]);
  assert.deepEqual(await suggested("t26-426"), []);
});

test("a name is found by its beginning, by its words in any order and case, and the whole name comes first", async () => {
  assert.equal((await texts("toyota"))[0], "Toyota");
  assert.ok((await texts("CAMRY toy")).includes("Toyota Camry"));
  assert.ok((await texts("f150")).includes("Ford F-150"));
  assert.deepEqual(await texts("toyota f150"), []);
  assert.equal((await texts("chevy"))[0], "Chevrolet");
  assert.equal((await texts("texas"))[0], "TX");
});

test("a misspelt name is found if none begins with the text", async () => {
  assert.deepEqual(await texts("toyotta"), ["Toyota"]);
  assert.deepEqual(await texts("rav44"), ["Toyota RAV4"], "it could be a stock number, and is none");
  assert.deepEqual(await texts("qqqqqqqqqqqq"), []);
  assert.deepEqual(await texts("!"), []);
});

test("names are the same without a search index", async () => {
  for (const q of ["t", "san", "941", "toyotta"])
    assert.deepEqual(await suggested(q, 20, withoutIndex), await suggested(q));
});

test("the limit is that of the request, and is echoed", async () => {
  const { data, meta } = await client.getBody("suggestFilters", "/v1/suggest?q=s&limit=3");
  assert.deepEqual([data.length, meta.limit, meta.as_of], [3, 3, "2026-11-19"]);
  const { status, code } = await client.getError("/v1/suggest?limit=3");
  assert.deepEqual([status, code], [400, "missing_parameter"]);
});
