/** Responses in Arrow, Parquet, CSV and NDJSON: the same data as in JSON, negotiation, and headers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json, Row } from "../../../src/base/json.ts";
import { operations, vocabulary } from "../../../src/contract/document.ts";
import { type Column, tableColumns } from "../../../src/contract/tables.ts";
import type { AnswerOf, OperationId } from "../../../src/contract/types.ts";
import type { TableFormat } from "../../../src/formats/table-formats.ts";
import { extensionNames } from "../../../src/listing/schema.ts";
import { hasFormats } from "../../../src/operations/representation.ts";
import { facetRows, groupRows, metricColumns, trendRows } from "../../../src/operations/result.ts";
import { createRandomLake } from "../../oracle/random-lake/lakes.ts";
import { extentOf, sampled } from "../../support/extent.ts";
import { arrowTypeOf, parquetTypeOf, responseReaders } from "../../support/http/read-formats.ts";
import { sampleService, startService } from "../../support/http/service.ts";
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

const { client: sample } = await sampleService();
const seed = 20261122;
const random = await startService(
  fileScope,
  (await createRandomLake(fileScope, { seed, days: extentOf(3, 11), cars: extentOf(80, 600) })).lake,
);
const readers = await responseReaders(fileScope);

/** Sends a GET; returns the response with its body. */
async function fetchBody(client: typeof sample, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${client.url}${path}`, { headers: { ...client.customer.bearer, ...headers } });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

const everyField = `fields=default,features,keywords,options_packages,${extensionNames}&include=price_history,options`;
const everyFacet = `facets=${vocabulary("getFacets", "facets").join()}`;

/** Requests for each operation with formats, and for each kind of answer. */
const requests: readonly (readonly [id: OperationId, path: string])[] = [
  ["searchListings", `/v1/listings?limit=100&${everyField}`],
  ["searchListings", `/v1/listings?limit=100&offset=100&inventory_status=sold&${everyField}`],
  ["searchListings", "/v1/listings?limit=100&sort=distance&latitude=37.5&longitude=-122&radius=500"],
  ["searchListings", "/v1/listings?fields=price&include=options&limit=7"],
  ["searchListings", `/v1/listings?vin_pattern=ZZZ*&${everyField}`],
  ["searchDealers", "/v1/dealers?limit=100"],
  ["searchDealers", "/v1/dealers?q=no+such+name"],
  ["getFacets", `/v1/facets?${everyFacet}`],
  ["getFacets", `/v1/facets?${everyFacet}&vin_pattern=ZZZ*`],
  ["getFacets", "/v1/facets?facets=make,price&metric=price.median&facet_value_limit=100"],
  ["getFacets", "/v1/facets?facets=days_on_market&interval=days_on_market:10"],
  ["getGroups", "/v1/groups?group_by=make,trim,dealer_id&metric=price.median,days_supply,sell_through&limit=1000"],
  ["getTrends", "/v1/trends?metric=price.median,count,sold,days_supply&interval=day&facet=make,state"],
  ["getTrends", "/v1/trends?metric=price.p5&interval=week&vin_pattern=ZZZ*"],
];

/** Returns the columns of an answer: those of the operation that its rows have. */
function columnsIn(id: OperationId, query: URLSearchParams): readonly Column[] {
  const columns = tableColumns(id);
  const fields = (query.get("fields") ?? "default").split(",");
  const grouped = ["make", "trim", "dealer_id", "dealer_name", "count", ...metricColumns];
  if (id === "getGroups") return columns.filter(({ name }) => grouped.includes(name));
  if (id !== "searchListings" && id !== "searchDealerListings") return columns;
  const optional = ["features", "keywords", "options_packages", "price_history", "options", ...extensionNames];
  const named = [...fields, ...(query.get("include") ?? "").split(","), "id", "vin"];
  return columns.filter(({ name }) => named.includes(name) || (fields.includes("default") && !optional.includes(name)));
}

function rowsIn(id: OperationId, data: Json): readonly Row[] {
  if (id === "getGroups") return groupRows(data as unknown as AnswerOf<"getGroups">["data"]);
  if (id === "getFacets") return facetRows(data as AnswerOf<"getFacets">["data"]);
  return id === "getTrends" ? trendRows(data as unknown as AnswerOf<"getTrends">["data"]) : (data as readonly Row[]);
}

const asked = [
  ["sample", sample, sampled(requests, 2)],
  ["random", random, sampled(requests.toReversed(), 2)],
] as const;

for (const [lakeName, client, requestsOfLake] of asked) {
  describe(`every format has the data of the JSON response, over the ${lakeName} lake`, () => {
    for (const [id, path] of requestsOfLake) {
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
  const { status, headers, body } = await fetchBody(client, `${path}&csv_raw=true`, { Accept: mediaTypes[format] });
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

describe("negotiation", () => {
  const path = "/v1/listings?limit=2&fields=price";
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";
  const accepted: readonly (readonly [accept: string | undefined, format: TableFormat | "json"])[] = [
    ...formats.map((format) => [mediaTypes[format], format] as const),
    [undefined, "json"],
    ["*/*", "json"],
    ["application/*", "json"],
    ["application/json", "json"],
    ["application/json; charset=utf-8", "json"],
    ["application/json, text/plain, */*", "json"],
    [browser, "json"],
    ["text/*", "csv"],
    ["TEXT/CSV;header=present", "csv"],
    ["text/csv;q=0.5, application/x-ndjson;q=0.8", "ndjson"],
    ["application/json;q=0.1, text/csv", "csv"],
    ["application/json; q=0.1, text/csv; header=present; q=0.9", "csv"],
    ["application/json, application/vnd.apache.arrow.stream", "json"],
    ["text/csv;q=0, */*;q=0.1", "json"],
    ["application/json;q=0, application/*", "arrow"],
  ];
  for (const [accept, format] of accepted) {
    test(`Accept ${accept ?? "absent"} selects ${format}`, async () => {
      // `fetch` sends */* if the header is absent; an empty one stays empty.
      const { status, headers } = await fetchBody(sample, path, { Accept: accept ?? "" });
      assert.deepEqual([status, headers.get("Content-Type")], [200, contentTypes[format]]);
      assert.equal(headers.get("Vary"), "Accept, Accept-Encoding");
      assert.equal(headers.get("Content-Disposition"), null);
    });
  }

  test("an Accept without a format is refused in JSON, and not charged", async () => {
    for (const accept of ["application/xml", "text/html, image/*", "*/*;q=0", "*/*; q=0", "nonsense"]) {
      const { status, headers, body } = await sample.get(path, { Accept: accept });
      assert.equal(status, 406, accept);
      assert.equal(headers.get("X-Usage-Class"), null);
      assert.equal(headers.get("Vary"), "Accept, Accept-Encoding");
      const { code, message } = (body as { error: { code: string; message: string } }).error;
      assert.equal(code, "not_acceptable");
      const allowed = ["application/json", ...Object.values(mediaTypes)].join(", ");
      assert.equal(message, `No acceptable format in Accept ${JSON.stringify(accept)}: expected one of ${allowed}.`);
    }
  });

  test("parameter format takes precedence over Accept, in any case, and names the file", async () => {
    const names = { arrow: "arrows", parquet: "parquet", csv: "csv", ndjson: "ndjson" } as const;
    for (const format of formats) {
      const requested = `${path}&format=${format.toUpperCase()}`;
      const { status, headers } = await fetchBody(sample, requested, { Accept: "application/xml" });
      assert.deepEqual([status, headers.get("Content-Type")], [200, contentTypes[format]]);
      const name = `attachment; filename="listings-2026-11-19.${names[format]}"`;
      assert.equal(headers.get("Content-Disposition"), name);
    }
    const { headers } = await sample.get(`${path}&format=json`, { Accept: "text/csv" });
    assert.deepEqual([headers.get("Content-Type"), headers.get("Content-Disposition")], [contentTypes.json, null]);
    const dealers = await fetchBody(sample, "/v1/dealers?limit=1&format=csv");
    assert.equal(dealers.headers.get("Content-Disposition"), 'attachment; filename="dealers-2026-11-19.csv"');
    const { code, message } = await sample.getError(`${path}&format=xml`);
    assert.equal(code, "invalid_parameter_value");
    assert.equal(message, 'Invalid value "xml" for format: expected one of json, arrow, parquet, csv, ndjson.');
  });

  test("errors are JSON in every format", async () => {
    for (const format of formats) {
      const { status, headers } = await sample.get("/v1/listings?min_price=x", { Accept: mediaTypes[format] });
      assert.deepEqual([status, headers.get("Content-Type")], [400, contentTypes.json]);
      const unpublished = await sample.get(`/v1/listings?snapshot_date=2020-01-01&format=${format}`);
      assert.deepEqual([unpublished.status, unpublished.headers.get("Content-Disposition")], [400, null]);
    }
  });

  test("operations without formats answer in JSON and ignore Accept", async () => {
    const others = [...operations.values()].filter((operation) => !hasFormats(operation)).map(({ id }) => id);
    const expected = [
      "createSearch deleteSearch findComparables findFittingDealers findFittingModels getDealer getDepreciation getDocument getEvidence",
      "getListing getListingComparables getUsage getVin interpretQuestion listChanges listSearches resumeSearch rotateSearchSecret",
      "searchListingsByPage suggestFilters valueVehicles",
    ];
    assert.equal([...others].sort().join(" "), expected.join(" "));
    for (const other of ["/v1/usage", "/v1/listings/search?limit=1"]) {
      const { status, headers } = await sample.get(other, { Accept: "text/csv" });
      assert.deepEqual([status, headers.get("Content-Type")], [200, contentTypes.json]);
      assert.equal(headers.get("Vary"), "Accept-Encoding");
    }
    assert.equal((await sample.getError("/v1/listings/search?format=csv")).code, "unknown_query_parameter");
  });
});

describe("headers and charges", () => {
  const path = "/v1/listings?make=toyota&limit=2&offset=2&exclude_assembly_location=Wien+Graz%2B%20x";

  test("every format has the same page headers, and costs the same", async () => {
    const charged = ["X-Usage-Class", "X-Usage-Cost-Micros", "X-Pricing-Version"];
    const paged = ["X-Total-Count", "Carquet-Version", "Link", "Cache-Control"];
    const { headers: expected, body } = await sample.get(path);
    const { pagination, meta } = body as AnswerOf<"searchListings">;
    assert.deepEqual(
      paged.map((name) => expected.get(name)),
      [
        String(pagination.total),
        meta.data_version,
        '</v1/listings?make=toyota&limit=2&exclude_assembly_location=Wien+Graz%2B%20x&offset=4>; rel="next"',
        "private, no-cache",
      ],
    );
    for (const format of formats) {
      const { headers } = await fetchBody(sample, path, { Accept: mediaTypes[format] });
      for (const name of [...charged, ...paged]) assert.equal(headers.get(name), expected.get(name), name);
    }
  });

  test("the links of CSV pages lead through all matches", async () => {
    const vins: string[] = [];
    let next: string | undefined = "/v1/listings?fields=vin&limit=90&format=csv";
    while (next !== undefined) {
      const { headers, body } = await fetchBody(sample, next);
      vins.push(...String(body).split("\r\n").slice(1, -1));
      next = /^<(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
    }
    const { body } = await sample.get("/v1/listings?limit=1");
    assert.equal(new Set(vins).size, (body as AnswerOf<"searchListings">).pagination.total);
  });

  test("the link of a hostile query string stays within its brackets", async () => {
    const { headers } = await fetchBody(sample, "/v1/listings?limit=1&trim=a%3E%22,b%0d%0a&format=csv");
    assert.equal(headers.get("Link"), null);
    const { headers: linked } = await fetchBody(sample, "/v1/listings?limit=1&exclude_trim=a%3E%22%0d%0aX:y");
    assert.equal(linked.get("Link"), '</v1/listings?limit=1&exclude_trim=a%3E%22%0d%0aX:y&offset=1>; rel="next"');
    const { headers: encoded } = await fetchBody(sample, "/v1/listings?limit=1&o%66fset=1");
    assert.equal(encoded.get("Link"), '</v1/listings?limit=1&offset=2>; rel="next"');
  });

  test("each format has its own entity tag, and revalidates with a 304 that is not charged", async () => {
    const accepts = [...Object.values(mediaTypes), "application/json"];
    const tags: string[] = [];
    for (const accept of accepts) {
      const { headers } = await fetchBody(sample, path, { Accept: accept });
      const tag = headers.get("ETag") ?? "";
      const again = await fetchBody(sample, path, { Accept: accept, "If-None-Match": tag });
      assert.deepEqual([again.status, again.body.length], [304, 0]);
      assert.deepEqual([again.headers.get("ETag"), again.headers.get("X-Usage-Class")], [tag, null]);
      assert.equal(again.headers.get("Vary"), "Accept, Accept-Encoding");
      tags.push(tag);
    }
    assert.equal(new Set(tags).size, accepts.length);
    const [arrow = ""] = tags;
    assert.equal((await fetchBody(sample, path, { Accept: "text/csv", "If-None-Match": arrow })).status, 200);
  });

  test("one cached result answers in each format, with the same bytes each time", async () => {
    const misses = async (): Promise<number> =>
      ((await sample.get("/readyz")).body as { response_cache: { misses: number } }).response_cache.misses;
    const before = await misses();
    const unique = "/v1/dealers?limit=3&q=a";
    const bodies = async () => {
      const all = await Promise.all(formats.map((format) => fetchBody(sample, unique, { Accept: mediaTypes[format] })));
      return all.map(({ body }) => body);
    };
    const first = await bodies();
    assert.deepEqual(await bodies(), first);
    assert.equal(new Set(first.map(String)).size, formats.length);
    assert.equal(await misses(), before + 1);
  });

  test("texts are compressed, Parquet files are not", async () => {
    const codings: Readonly<Record<TableFormat, string | null>> = {
      arrow: "br",
      parquet: null,
      csv: "br",
      ndjson: "br",
    };
    for (const format of formats) {
      const { headers } = await fetchBody(sample, `/v1/listings?limit=100&format=${format}`, {
        "Accept-Encoding": "br",
      });
      assert.equal(headers.get("Content-Encoding"), codings[format], format);
    }
  });
});
