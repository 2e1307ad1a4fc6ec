/** Hostile requests: hostile values for each parameter, and the largest requests that the document allows; the campaign `hostile` is longer. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { MeteredId } from "../../src/accounts/policy/prices.ts";
import { operation, type Parameter, type Schema } from "../../src/contract/document.ts";
import { requestDeadlineMs } from "../../src/operations/caller.ts";
import { sendHostileRequests } from "../support/campaigns/hostile-answers.ts";
import { hostileRequests, searchOperations } from "../support/campaigns/hostile-requests.ts";
import { Chance } from "../support/chance.ts";
import { startServing } from "../support/command-line.ts";
import { extentOf } from "../support/extent.ts";
import { sampleService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { client } = await sampleService();
const valuesEach = extentOf(12, 20);

for (const searched of searchOperations) {
  test(`every parameter of ${searched} answers or refuses hostile values, and never fails`, async () => {
    const requests = hostileRequests(new Chance(20261119), searched, valuesEach);
    const { answered, refused } = await sendHostileRequests(client, requests);
    assert.equal(answered + refused, requests.length);
    assert.ok(answered > 0.05 * requests.length && refused > 0.3 * requests.length, `${answered}, ${refused}`);
  });
}

test("lists of 100 values are answered, longer ones are refused, and a path of NULs is not found", async () => {
  for (const parameter of ["features", "exclude_features", "make", "exclude_assembly_location"]) {
    const separator = parameter === "exclude_assembly_location" ? "%2B" : ",";
    for (const [length, expected] of [
      [100, 200],
      [101, 400],
      [1500, 400],
    ]) {
      const values = Array.from({ length: length ?? 0 }, (_, n) => `v${n}`).join(separator);
      const { status } = await client.get(`/v1/listings?limit=1&${parameter}=${values}`);
      assert.equal(status, expected, `${parameter}: ${length} values`);
    }
  }
  assert.equal((await client.get(`/v1/dealers/${"%00".repeat(2000)}`)).status, 404);
});

test("a hostile name is an unknown parameter", async () => {
  for (const name of [
    "__proto__",
    "constructor",
    "toString",
    "make%00",
    "%27",
    "%2527",
    "ma%6be%20",
    "MAKE",
    "make[]",
    "make.x",
  ]) {
    const { status, code } = await client.getError(`/v1/listings?${name}=1`);
    assert.deepEqual([status, code], [400, "unknown_query_parameter"], name);
  }
});

const { lake } = await createLake(fileScope);
const service = await startServing(fileScope, ["serve", "--port", "0", "--lake", lake, "--response-cache", "0"]);

/** Characters of a query string that leave room for the other headers. */
const queryCharacters = 15_000;
const dealer = "2f6c81d4-9b0e-4c57-8a13-e5d27f40b96a";
const letters = "ABCDEFGHJKLMNPRSTUVWXYZ";

/** Returns the distinct value with a number; a text of `characters` characters. */
function valueAt(
  { enum: words, type, format, pattern, minimum = 0 }: Schema,
  index: number,
  characters: number,
): string {
  const pair = `${letters[Math.floor(index / letters.length)] ?? "A"}${letters[index % letters.length] ?? "A"}`;
  if (words !== undefined) return words[index % words.length] ?? "";
  if (type === "integer") return String(minimum + index);
  if (format === "uuid") return `0b8f6c1e-5d0a-5c3e-9a57-${String(index).padStart(12, "0")}`;
  if (pattern === undefined) return String(index).padEnd(characters, "x");
  return pattern.includes("?") ? `???????????????${pair}` : pair;
}

/** Returns a list parameter with as many values as the document and a number of characters allow, each as long as then fits. */
function longestList({ name, schema }: Parameter, characters: number): string {
  const { items = {}, maxItems = 0 } = schema;
  const max = Math.min(maxItems, items.enum?.length ?? maxItems, (items.maximum ?? 100) - (items.minimum ?? 0));
  const separator = encodeURIComponent(schema["x-separator"] ?? "").padStart(1, ",");
  const count = Math.max(1, Math.min(max, Math.floor((characters - name.length) / (3 + separator.length))));
  const each = Math.min(items.maxLength ?? 0, Math.floor((characters - name.length) / count) - separator.length);
  let list = `${name}=${valueAt(items, 0, each)}`;
  for (let index = 1; index < count && list.length + each < characters; index += 1)
    list += `${separator}${valueAt(items, index, each)}`;
  return list;
}

const scalars: readonly string[] = [
  "limit=100",
  "offset=2147483647",
  "facet_value_limit=100",
  "postal_code=10001",
  "radius=500",
].concat(["min_price=0", "max_price=10000000", `q=${"a ".repeat(99).trim().replaceAll(" ", "+")}`]);

/** Returns the largest requests of an operation in one inventory view: all lists together, all exclusions, and each list alone. */
function largestRequests(id: MeteredId, path: string, view: string): readonly string[] {
  const { parameters } = operation(id);
  const has = (pair: string): boolean => parameters.some(({ name }) => pair.startsWith(`${name}=`));
  const facets = parameters.filter(({ name }) => name === "facets").map((parameter) => longestList(parameter, 2000));
  const others = [...scalars, view].filter(has).concat(facets);
  const lists = parameters.filter(
    ({ name, schema }) => schema.items !== undefined && !["bbox", "interval", "facets", "value_rating"].includes(name),
  );
  const exclusions = lists.filter(({ name }) => name.startsWith("exclude_"));
  const characters = queryCharacters - others.join("&").length;
  return [
    lists,
    exclusions,
    ...extentOf(
      [],
      lists.map((list) => [list]),
    ),
  ]
    .filter((some) => some.length > 0)
    .map((some) => some.map((list) => longestList(list, Math.floor(characters / some.length))))
    .map((pairs) => `${path}?${[...others, ...pairs].join("&")}`);
}

const operations: readonly (readonly [id: MeteredId, path: string])[] = [
  ["searchListings", "/v1/listings"],
  ["searchListingsByPage", "/v1/listings/search"],
  ["searchDealerListings", `/v1/dealers/${dealer}/listings`],
  ["getFacets", "/v1/facets"],
  ["searchDealers", "/v1/dealers"],
];
const views = ["inventory_status=active", "inventory_status=sold", "snapshot_date=2026-11-18"];

/** The most that the largest requests may add to the memory of the process. */
const memoryMibMax = 256;

/** Returns a figure of the service's memory in MiB. */
function memoryMib(figure: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${service.pid}/status`, "utf8");
  return Number(new RegExp(`^${figure}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1024;
}

const skip = process.platform === "linux" ? false : "reads /proc";

for (const [id, path] of operations) {
  test(`the largest requests of ${id} are answered within the deadline, in bounded memory`, { skip }, async () => {
    const beforeMib = memoryMib("VmRSS");
    for (const request of views.flatMap((view) => largestRequests(id, path, view))) {
      const startedAtMs = performance.now();
      const response = await fetch(`${service.url}${request}`, { headers: service.customer.bearer });
      const body = await response.text();
      assert.equal(response.status, 200, `${request.slice(0, 200)}: ${body.slice(0, 400)}`);
      assert.ok(performance.now() - startedAtMs < requestDeadlineMs, request.slice(0, 200));
    }
    const addedMib = memoryMib("VmHWM") - beforeMib;
    assert.ok(addedMib < memoryMibMax, `${Math.round(addedMib)} MiB more`);
  });
}
