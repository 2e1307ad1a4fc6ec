/** The requests of the bench suite in the syntax of Solr and of the API, and the processor time of a process. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { encodeForm, facetParameters, searchParameters } from "../../bench/peers/solr/requests.ts";
import { facetQuery } from "../../bench/queries/facets.ts";
import { type BenchFilter, equals } from "../../bench/queries/filter.ts";
import type { BenchQuery, FacetSpec, SearchSpec } from "../../bench/queries/query.ts";
import { searchQuery } from "../../bench/queries/search.ts";
import { processorMsOf } from "../../bench/servers/process.ts";

const zip = { code: "60601", latitude: 41.88, longitude: -87.62 };
const uncached = { isCached: false, highCardinalityFields: ["version"] };

function specOf<Kind extends BenchQuery["spec"]["kind"]>({ spec }: BenchQuery, kind: Kind) {
  assert.equal(spec.kind, kind);
  return spec as Extract<BenchQuery["spec"], { readonly kind: Kind }>;
}

for (const { filter, parameter, query } of [
  { filter: equals("make", "Ford"), parameter: "make=Ford", query: "{!term f=make_key cache=false}ford" },
  { filter: equals("state", "IL"), parameter: "state=IL", query: "{!term f=state cache=false}IL" },
  {
    filter: { kind: "maxPrice", price: 20_000 },
    parameter: "max_price=20000",
    query: "{!lucene cache=false}price:[* TO 20000]",
  },
  {
    filter: { kind: "features", tokens: ["sunroof", "bluetooth"] },
    parameter: "features=sunroof,bluetooth",
    query: '{!lucene cache=false}+features:"sunroof" +features:"bluetooth"',
  },
  {
    filter: { kind: "vinMask", mask: "1FT?W1E*" },
    parameter: "vin_pattern=1FT%3FW1E*",
    query: "{!lucene cache=false}vin:1FT?W1E*",
  },
  {
    filter: { kind: "near", zip, miles: 50 },
    parameter: "postal_code=60601&radius=50",
    query: "{!geofilt sfield=place pt=41.88,-87.62 d=80.4672 cache=false}",
  },
] satisfies { readonly filter: BenchFilter; readonly parameter: string; readonly query: string }[]) {
  test(`the filter ${filter.kind} is ${parameter} in the API, and bypasses Solr's caches`, () => {
    const question = searchQuery({ filters: [filter] });
    assert.equal(question.path, `/v1/listings?${parameter}`);
    assert.equal(searchParameters(specOf<"search">(question, "search") satisfies SearchSpec, uncached).q, query);
  });
}

test("in cached mode no filter bypasses the caches", () => {
  const question = searchQuery({
    filters: [equals("make", "Ford"), equals("state", "IL"), { kind: "maxPrice", price: 1 }],
  });
  const { q, fq } = searchParameters(specOf(question, "search"), { isCached: true });
  assert.deepEqual([q, fq], ["{!term f=make_key}ford", ["{!term f=state}IL", "{!lucene}price:[* TO 1]"]]);
});

test("categories are counted with bitsets, except multi-valued fields; small numbers are counted as words", () => {
  const question = facetQuery({ facets: ["year", "version"] });
  const form = new URLSearchParams(
    encodeForm(facetParameters(specOf(question, "facets") satisfies FacetSpec, uncached)),
  );
  assert.deepEqual(form.getAll("facet.field"), ["year_word", "version"]);
  assert.equal(form.get("facet.method"), "enum");
  assert.equal(form.get("f.version.facet.method"), "fc");
});

const isLinux = existsSync("/proc/self/stat");

test("processor time includes a process and its children", { skip: !isLinux && "needs Linux's /proc" }, async () => {
  const busy = "while (process.cpuUsage().user < 400_000);";
  const parent = `const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(`${busy} setInterval(() => {}, 1000); console.log("done")`)}], { stdio: ["ignore", "inherit", "inherit"] }); process.once("SIGTERM", () => { child.kill(); process.exit(); }); setInterval(() => {}, 1000);`;
  const process = spawn(globalThis.process.execPath, ["-e", parent], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(process.stdout, "data");
    const took = processorMsOf(process.pid ?? 0);
    assert.ok(took >= 400, `${took} ms of a process whose child was busy for 400 ms`);
  } finally {
    process.kill("SIGTERM");
    await once(process, "close");
  }
});

test("the processor time of a process that does not exist is unknown", () => {
  assert.ok(Number.isNaN(processorMsOf(2 ** 30)));
});
