/** Values with commas, quotes and other separators, and texts that look alike: what is stored is found by filters, pages, suggestions, agents and exports. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { joinList, splitList } from "../../../src/contract/lists.ts";
import { mountAgents } from "../../../src/mcp/mount-agents.ts";
import { equivalentSql } from "../../../src/web/shop/equivalent-sql.ts";
import { mountSite } from "../../../src/web/site.ts";
import { connectAgent } from "../../support/agents.ts";
import { startService } from "../../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, queryLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

/** Stock numbers, which are the trims too; each car has another. */
const values = [
  "A1,B2",
  'The "Big" One',
  '"Quoted"',
  "C:\\cars\\1",
  "a|b",
  "x + y",
  "Caf\u00e9",
  "plain",
  '5"',
  "[1,2]",
];

const { lake } = await createLake(
  fileScope,
  await writeFeeds(join(await temporaryFolder(fileScope), "feeds"), "2026-11-19", {
    dealers: [{ dealer_id: dealerIdOf(1), name: "Dealer", state: "CA" }],
    inventory: values.map((value, index) => ({
      vin: vinOf(index),
      dealer_id: dealerIdOf(1),
      stock_number: value,
      trim: value,
      model: value,
      make: "Ford",
      assembly_location: value,
      price: 20_000 + index,
    })),
  }),
);
const client = await startService(fileScope, lake, {
  mountSite: (app, services) => {
    mountAgents(app, services);
    mountSite(app, services);
  },
});
const agent = await connectAgent(fileScope, client.url, client.customer.bearer);

const stored = await queryLake(lake, "SELECT vin, stock_number, trim, assembly_location FROM active ORDER BY vin");

async function vinsOf(query: Record<string, string>): Promise<readonly string[]> {
  const path = `/v1/listings?${new URLSearchParams({ ...query, fields: "vin" })}`;
  return (await client.getBody("searchListings", path)).data.map(({ vin }) => vin).sort();
}

for (const parameter of ["stock_number", "trim", "assembly_location"] as const)
  test(`every stored ${parameter} is found and excluded by its quoted text, and by an agent's array`, async () => {
    const separator = parameter === "assembly_location" ? "|" : ",";
    for (const row of stored) {
      const value = String(row[parameter]);
      const same = stored.filter((one) => one[parameter] === value).map(({ vin }) => vin);
      assert.deepEqual(await vinsOf({ [parameter]: joinList([value], separator) }), same, value);
      const { body } = await agent.call("search_listings", { filters: { [parameter]: [value] }, fields: ["vin"] });
      const found = (body.data as readonly { vin: string }[]).map(({ vin }) => vin);
      assert.deepEqual(found.sort(), same, value);
      if (parameter === "stock_number") continue;
      const excluded = { [`exclude_${parameter}`]: joinList([value], parameter === "trim" ? "," : "+") };
      assert.equal((await vinsOf(excluded)).length, stored.length - same.length, `not ${value}`);
    }
    const all = [...new Set(stored.map((row) => String(row[parameter])))];
    assert.equal((await vinsOf({ [parameter]: joinList(all, separator) })).length, stored.length);
  });

test("an export and the equivalent statement take the same text as a search", async () => {
  const query = new URLSearchParams({ stock_number: '"A1,B2",plain', format: "csv", fields: "vin" });
  const response = await fetch(`${client.url}/v1/exports?${query}`, { headers: client.customer.bearer });
  assert.equal(response.headers.get("X-Total-Count"), "2");
  query.delete("format");
  const sql = equivalentSql({ path: "/v1/listings", querystring: `${query}` }) ?? "";
  assert.equal((await queryLake(lake, sql)).length, 2);
});

test("a page has a check box for each value, whose text finds it", async (scope) => {
  const { url } = await startService(scope, lake, { isOpen: true });
  const trims = stored.map(({ trim }) => String(trim)).sort();
  const html = await (await fetch(`${url}/?trim=${encodeURIComponent(joinList(trims))}`)).text();
  const boxes = [...html.matchAll(/name="trim" value="([^"]*)" checked/g)].map(([, text = ""]) => text);
  assert.deepEqual(boxes.flatMap((text) => splitList(text.replaceAll("&quot;", '"'), ",")).sort(), trims);
});

test("a suggestion of a value with a comma is its filter", async () => {
  const { data } = await client.getBody("suggestFilters", `/v1/suggest?q=${encodeURIComponent("A1,B2")}`);
  assert.ok(data.length > 0);
  for (const { filters, count } of data) assert.equal((await vinsOf(filters)).length, count, JSON.stringify(filters));
});

test("values that look alike are one requested value", async () => {
  for (const text of ["Cafe\u0301", "CAF\u00c9", "\ufeffCaf\u00e9\u200b", "\u00a0Caf\u00ad\u00e9 ", '"Cafe\u0301"'])
    assert.deepEqual(await vinsOf({ trim: text }), [vinOf(6)], JSON.stringify(text));
  assert.deepEqual(await vinsOf({ trim: 'The\u00a0 \u3000"Big"\u2003One' }), [vinOf(1)]);
  const { status, body } = await client.get(`/v1/vins/${encodeURIComponent(`\ufeff${vinOf(3)}\u200b`)}`);
  assert.deepEqual([status, Object(body).data.vin], [200, vinOf(3)]);
});

test("lists in quotes are read as in PostgREST", () => {
  const cases: readonly (readonly [text: string, separator: string, values: readonly string[]])[] = [
    ['"A1,B2"', ",", ["A1,B2"]],
    ['a, "b,c" ,d', ",", ["a", "b,c", "d"]],
    ['"say \\"hi\\"","back\\\\slash"', ",", ['say "hi"', "back\\slash"]],
    ['5",6', ",", ['5"', "6"]],
    ['"open,end', ",", ['"open', "end"]],
    ['"a"b,c', ",", ['"a"b', "c"]],
    ['"Lyon | Rome"|Wien', "|", ["Lyon | Rome", "Wien"]],
    ['"Wien, AT" Halle "Bern, CH"', "+", ["Wien, AT", "Halle", "Bern, CH"]],
  ];
  for (const [text, separator, expected] of cases) {
    const split = splitList(text, separator).map((value) => value.trim());
    assert.deepEqual(split, expected, text);
    assert.deepEqual(splitList(joinList(split, separator), separator), expected);
  }
});
