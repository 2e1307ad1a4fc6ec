/** Responses in Arrow, Parquet, CSV and NDJSON: the same data as in JSON, negotiation, and headers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, Row } from "../../../src/base/json.ts";
import { operations, vocabulary } from "../../../src/contract/document.ts";
import { type Column, tableColumns } from "../../../src/contract/tables.ts";
import type { AnswerOf, OperationId } from "../../../src/contract/types.ts";
import type { TableFormat } from "../../../src/formats/table-formats.ts";
import { facetRows } from "../../../src/http/formats/facet-rows.ts";
import { hasFormats } from "../../../src/http/formats/negotiate.ts";
import { createRandomLake } from "../../oracle/random-lake/lakes.ts";
import { createCustomer } from "../../support/accounts.ts";
import { extentOf } from "../../support/extent.ts";
import { arrowTypeOf, formatReaders, parquetTypeOf } from "../../support/http/read-formats.ts";
import { assertMatchesDocument, startService } from "../../support/http/service.ts";
import { createLake } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const mediaTypes: Readonly<Record<TableFormat, string>> = {
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
  csv: "text/csv",
  ndjson: "application/x-ndjson",
};
const contentTypes: Readonly<Record<TableFormat | "json", string>> = {
  ...mediaTypes,
  csv: "text/csv; charset=utf-8; header=present",
  json: "application/json; charset=utf-8",
};
const formats = Object.keys(mediaTypes) as TableFormat[];

const sample = await startService(fileScope, (await createLake(fileScope)).lake);
const seed = 20261122;
const random = await startService(
  fileScope,
  (await createRandomLake(fileScope, { seed, days: extentOf(4, 11), cars: extentOf(120, 600) })).lake,
);
const readers = await formatReaders(fileScope);

/** Sends a GET; returns the response with its body. */
async function fetchBody(client: typeof sample, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${client.url}${path}`, { headers: { ...client.customer.bearer, ...headers } });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

const everyField = `fields=default,features,options_packages&include=price_history,options`;
const everyFacet = `facets=${vocabulary("getFacets", "facets").join()}`;

/** Requests for each operation with formats, and for each kind of answer. */
const requests: readonly (readonly [id: OperationId, path: string])[] = [
  ["searchListings", `/v1/listings?limit=100&${everyField}`],
  ["searchListings", `/v1/listings?limit=100&offset=100&inventory_status=sold&${everyField}`],
  ["searchListings", "/v1/listings?limit=100&sort=distance&latitude=37.5&longitude=-122&radius=500"],
  ["searchListings", "/v1/listings?fields=price&include=options&limit=7"],
  ["searchListings", `/v1/listings?vin_pattern=ZZZ*&${everyField}`],
  ["searchDealers", "/v1/dealers?limit=100"],
  ["searchDealers", "/v1/dealers?q=nobody+by+this+name"],
  ["getFacets", `/v1/facets?${everyFacet}`],
  ["getFacets", `/v1/facets?${everyFacet}&vin_pattern=ZZZ*`],
  ["getFacets", "/v1/facets?facets=make,price&metric=price.median&facet_value_limit=100"],
  ["getFacets", "/v1/facets?facets=days_on_market&interval=days_on_market:10"],
];

/** Returns the columns of an answer: those of the operation that its rows have. */
function columnsIn(id: OperationId, query: URLSearchParams): readonly Column[] {
  const columns = tableColumns(id);
  const fields = (query.get("fields") ?? "default").split(",");
  if (id !== "searchListings" && id !== "searchDealerListings") return columns;
  const optional = ["features", "options_packages", "price_history", "options"];
  const named = [...fields, ...(query.get("include") ?? "").split(","), "id", "vin"];
  return columns.filter(({ name }) => named.includes(name) || (fields.includes("default") && !optional.includes(name)));
}

/** Returns the rows of `data` in JSON. */
const rowsIn = (id: OperationId, data: Json): readonly Row[] =>
  id === "getFacets" ? facetRows(data as AnswerOf<"getFacets">["data"]) : (data as readonly Row[]);

for (const [lakeName, client] of [["sample", sample] as const, ["random", random] as const]) {
  describe(`every format has the data of the JSON response, over the ${lakeName} lake`, () => {
    for (const [id, path] of requests) {
      test(path.slice(0, 90), async () => {
        const json = await client.getBody(id, path);
        for (const format of formats) await compareWithJson(client, format, { id, path, json });
      });
    }
  });
}

async function compareWithJson(
  client: typeof sample,
  format: TableFormat,
  { id, path, json }: { readonly id: OperationId; readonly path: string; readonly json: AnswerOf<OperationId> },
): Promise<void> {
  assert.ok("meta" in json && "data" in json);
  const { status, headers, body } = await fetchBody(client, path, { Accept: mediaTypes[format] });
  assert.equal(status, 200, String(body));
  assert.equal(headers.get("Content-Type"), contentTypes[format]);
  const columns = columnsIn(id, new URL(path, client.url).searchParams);
  const { rows, types, metadata } = await readers[format](body, columns);
  assert.deepEqual(rows, rowsIn(id, json.data as Json), format);
  if (format === "csv" || format === "ndjson") return;
  const typeOf = format === "arrow" ? arrowTypeOf : parquetTypeOf;
  assert.deepEqual(
    types,
    columns.map(({ name, type }) => [name, typeOf(type)]),
  );
  assert.deepEqual(JSON.parse(metadata?.["carquet.meta"] ?? ""), json.meta);
  const { pagination } = json as { readonly pagination?: object };
  assert.equal(metadata?.["carquet.pagination"], pagination === undefined ? undefined : JSON.stringify(pagination));
}
