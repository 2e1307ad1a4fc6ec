import assert from "node:assert/strict";
import { test } from "node:test";
import { type Sql, sql } from "../../src/base/sql.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operation } from "../../src/contract/document.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { Market } from "../../src/lake/market.ts";
import { facetsOf, planFacets } from "../../src/query/facets.ts";
import { planSearch, readPage, topOf } from "../../src/query/search.ts";
import { countMatches } from "../../src/query/where.ts";
import { encoded } from "../support/examples.ts";
import { lakeOf } from "../support/lakes.ts";
import { atEndOf, wholeFile } from "../support/scope.ts";

const { lake } = await lakeOf(wholeFile);
const market = await Market.open(lake, (await currentManifest(lake))?.version ?? "", { hasCopies: false });
atEndOf(wholeFile, () => market.close());

/** Parameters that are only asked for together with others. */
const together: Readonly<Record<string, string>> = {
  latitude: "latitude=37.5483&longitude=-121.9886",
  longitude: "latitude=37.5483&longitude=-121.9886",
  radius: "postal_code=94538&radius=50",
};

/** A query for each parameter of an operation, and for each value of the vocabularies that choose what is done. */
function queriesOf(id: "searchListings" | "getFacets"): readonly string[] {
  return operation(id).parameters.flatMap((parameter) => {
    const { name, schema } = parameter;
    const choices = ["sort", "include", "inventory_status", "facets", "metric"].includes(name);
    const values = choices ? (schema.items?.enum ?? schema.enum ?? []) : [];
    return choices ? values.map((value) => `${name}=${value}`) : [together[name] ?? `${name}=${encoded(parameter)}`];
  });
}

/** The engine's plan of a query; fails when the engine cannot make one. */
async function explained(query: Sql): Promise<void> {
  const rows = await market.rows(sql`EXPLAIN ${query}`);
  assert.ok(rows.length > 0);
}

test("the engine has a plan for every parameter of the listing search", async () => {
  const decode = decoderOf("searchListings");
  const queries = queriesOf("searchListings").map((query) =>
    query === "sort=distance" ? `${query}&postal_code=94538` : query,
  );
  assert.ok(queries.length > 80, `${queries.length} queries`);
  for (const query of queries) {
    const plan = planSearch(decode(query.replace("2026-10-01", "2026-11-18"), {}).query, market);
    assert.ok((await topOf(plan, market)).total >= 0);
    const page = [0, 5].filter((place) => place < plan.mode.listings.count);
    assert.equal((await readPage(plan, page, market)).length, page.length);
  }
});

test("the engine has a plan for every parameter of the facets", async () => {
  const decode = decoderOf("getFacets");
  const queries = queriesOf("getFacets").map((query) => {
    if (query.startsWith("facets=")) return query;
    return query === "sort=metric" || query === "sort=-metric"
      ? `facets=make&metric=price.median&${query}`
      : `facets=make,price&${query}`;
  });
  assert.ok(queries.length > 130, `${queries.length} queries`);
  for (const query of queries) {
    const plan = planFacets(decode(query.replace("2026-10-01", "2026-11-18"), {}).query, market);
    assert.ok((await countMatches(plan.listings, plan.requirements, market)) >= 0);
    await explained(facetsOf(plan, 100));
  }
});
