/** The agent server: the SDK's own client over HTTP and over standard input and output, against the answers of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import pino from "pino";
import { audit } from "../../src/accounts/ledger/audit.ts";
import { isObject } from "../../src/base/json.ts";
import { createAjv } from "../../src/contract/build/compile.ts";
import { operation } from "../../src/contract/document.ts";
import { compareVersions, versionsIn } from "../../src/lake/manifest.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { explorerLink } from "../../src/mcp/tool-results.ts";
import { lakeTools, tools } from "../../src/mcp/tools.ts";
import { operationRequest } from "../../src/operations/caller.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { type Agent, connectAgent, spawnAgent } from "../support/agents.ts";
import { type Client, startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const serveAgents = (scope: Scope, options: Parameters<typeof startService>[2] = {}): Promise<Client> =>
  startService(scope, lake, { mountSite: mountAgents, ...options });
const service = await serveAgents(fileScope, { publicUrl: "https://cars.example" });
const agent = await connectAgent(fileScope, service.url, service.customer.bearer);
const local = await spawnAgent(fileScope, lake);

const dealer = "41e7ac92-0f5b-4d38-8c6e-b92d70f1a584";
const fields = "year,make,model,trim,inventory_type,price,miles,days_on_market,exterior_color,dealer_name,city,state";
const listing = "ad97e543e226497617a6a94a77a9f61d";
const vin = "2HKRW2H88NH060064";
const otherVin = "5UX53GP07T9N56896";
const [since = ""] = [...(await versionsIn(lake))].sort(compareVersions);

/** A call of each tool, the request that has the same answer, and its price. */
const cases: readonly (readonly [tool: string, args: Record<string, unknown>, path: string, micros: number])[] = [
  [
    "search_listings",
    { make: ["Toyota", "Honda"], max_price: 25_000, sort: "price", limit: 5 },
    `/v1/listings?make=toyota,honda&max_price=25000&sort=price&limit=5&fields=${fields},distance_miles`,
    2_000,
  ],
  [
    "search_listings",
    { sold_within_days: 30, fields: ["price"] },
    "/v1/listings?sold_within_days=30&fields=price&limit=25",
    4_000,
  ],
  [
    "find_values",
    { facets: ["model"], make: ["Honda"], facet_value_prefix: "c" },
    "/v1/facets?facets=model&make=Honda&facet_value_prefix=c&facet_value_limit=50",
    3_000,
  ],
  ["interpret_question", { q: "used toyota under 25k" }, "/v1/interpret?q=used+toyota+under+25k", 100],
  ["count_facets", { facets: ["make", "price"] }, "/v1/facets?facets=make,price", 3_000],
  [
    "market_statistics",
    { facets: ["make"], inventory_type: ["used"] },
    "/v1/facets?facets=make&metric=price.median&inventory_type=used",
    3_000,
  ],
  ["trends", { metric: ["count"], interval: "day" }, "/v1/trends?metric=count&interval=day", 20_000],
  ["look_up_vin", { vin }, `/v1/vins/${vin}`, 3_000],
  [
    "get_listing",
    { listing_id: listing, include: ["price_history"] },
    `/v1/listings/${listing}?include=price_history`,
    8_000,
  ],
  ["search_dealers", { type: ["franchise"] }, "/v1/dealers?type=franchise&limit=25", 1_000],
  [
    "dealer_inventory",
    { dealer_id: dealer, limit: 3, fields: ["price"] },
    `/v1/dealers/${dealer}/listings?limit=3&fields=price`,
    3_000,
  ],
  [
    "group_listings",
    { group_by: ["make", "state"], metric: ["price.median"], limit: 3 },
    "/v1/groups?group_by=make,state&metric=price.median&limit=3",
    3_000,
  ],
  ["look_up_vin", { vin, report: "evidence" }, `/v1/vins/${vin}/evidence`, 10_000],
  ["look_up_vin", { vin, report: "dealer_fit" }, `/v1/vins/${vin}/dealer-fit`, 10_000],
  [
    "value_vehicle",
    { report: "depreciation", make: "Toyota", model: "Camry" },
    "/v1/depreciation?make=Toyota&model=Camry",
    10_000,
  ],
  [
    "value_vehicle",
    { report: "valuations", vin: `${vin},${otherVin}` },
    `/v1/valuations?vin=${vin},${otherVin}`,
    10_000,
  ],
  ["dealer_inventory", { dealer_id: dealer, report: "model_fit" }, `/v1/dealers/${dealer}/fit`, 10_000],
  ["list_changes", { since, limit: 3, fields: ["price"] }, `/v1/changes?since=${since}&limit=3&fields=price`, 5_000],
  ["get_usage", { metering_class: ["dealer_lookup"] }, "/v1/usage?metering_class=dealer_lookup", 0],
];

/** Tools have no parameter for a cursor, unless their pages have no offset. */
function withoutCursor(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.pagination) || body.pagination.offset === undefined) return body;
  const { next_cursor: _, ...pagination } = body.pagination;
  return { ...body, pagination };
}

const chargedTo = async ({ get, customer }: Pick<Client, "get" | "customer">): Promise<number> => {
  const { body } = await get("/v1/usage", customer.bearer);
  assert.ok(isObject(body) && isObject(body.totals));
  return Number(body.totals.charged_micros);
};

describe("a call of a tool is answered as its request is, and charged once", () => {
  for (const era of ["auto", "legacy"] as const)
    test(`with the protocol of ${era === "auto" ? "2026" : "2025"}`, async (t) => {
      const client = await connectAgent(t, service.url, service.customer.bearer, { era });
      const { tools: listed } = await client.client.listTools();
      assert.deepEqual(
        listed.map(({ name }) => name),
        [...tools.map(({ name }) => name), "describe_parameters"],
      );
      for (const [tool, args, path, micros] of cases) {
        const before = await chargedTo(service);
        const { body, usage, isError, text } = await client.call(tool, args);
        assert.equal(isError, false, text);
        assert.deepEqual([usage?.charged_micros, (await chargedTo(service)) - before], [micros, micros], tool);
        assert.match(String(usage?.request_id), /^[0-9a-f-]{36}$/);
        assert.deepEqual(body, withoutCursor((await service.get(path)).body), tool);
      }
      assert.deepEqual((await inAccountsFile(service.accounts, audit)).faults, []);
    });

  test("over standard input and output, without a charge", async () => {
    const { tools: listed } = await local.client.listTools();
    assert.deepEqual(
      listed.map(({ name }) => name),
      [...lakeTools.map(({ name }) => name), "query", "describe_parameters"],
    );
    for (const [tool, args, path] of cases.filter(([name]) => name !== "get_usage")) {
      const { body, usage } = await local.call(tool, args);
      assert.equal(usage, undefined);
      assert.deepEqual(body, withoutCursor((await service.get(path)).body), tool);
    }
    await assert.rejects(local.call("get_usage"), /Unknown tool "get_usage": expected one of search_listings, /);
  });
});

test("the list of tools has fewer than 21,000 bytes, and is the same each time", async () => {
  const list = async ({ client }: Agent): Promise<string> => JSON.stringify((await client.listTools()).tools);
  const other = await connectAgent(fileScope, service.url, service.customer.bearer);
  const lists = await Promise.all([agent, other].map(list));
  assert.ok(Buffer.byteLength(String(lists[0])) < 21_000, `${Buffer.byteLength(String(lists[0]))} bytes`);
  assert.equal(lists[0], lists[1]);
});

test("the schemas of tools are valid, and so are calls and results by them", async () => {
  const ajv = createAjv();
  const { tools: listed } = await agent.client.listTools();
  for (const { name, inputSchema, outputSchema = {}, annotations, description } of listed) {
    assert.equal(annotations?.readOnlyHint, true);
    assert.match(description ?? "", / (Costs \$0\.\d{3}.*|Free)\.$/);
    const isInput = ajv.compile(inputSchema);
    const isOutput = ajv.compile(JSON.parse(JSON.stringify(outputSchema)));
    for (const [, args] of cases.filter(([tool]) => tool === name)) {
      assert.ok(isInput(args), `${name}: ${ajv.errorsText(isInput.errors)}`);
      assert.ok(isOutput((await agent.call(name, args)).body), `${name}: ${ajv.errorsText(isOutput.errors)}`);
    }
    for (const property of Object.keys(inputSchema.properties ?? {}))
      assert.equal(isInput({ ...cases.find(([tool]) => tool === name)?.[1], [property]: {} }), false, property);
  }
});

describe("what schemas leave out is one call away", () => {
  test("every parameter of every tool is described, and nothing else", async () => {
    for (const { name, id, reports } of lakeTools) {
      const { text, isError, characters } = await local.call("describe_parameters", { tool: name });
      assert.ok(!isError && characters < 20_000, text);
      const described = text.split("\n").map((line) => /^(\w+) \(/.exec(line)?.[1]);
      const expected = [id, ...Object.values(reports)].flatMap((one) =>
        operation(one).parameters.map(({ name }) => name),
      );
      assert.deepEqual(
        described,
        [...new Set(expected)].filter((parameter) => !["format", "csv_raw"].includes(parameter)),
      );
    }
    const { text } = await local.call("describe_parameters", { tool: "trends", names: ["exclude_make"] });
    assert.match(text, /^exclude_make \(list of string\): Exclude .*\.$/);
    const refused = await local.call("describe_parameters", { tool: "search_listings", names: ["zip"] });
    assert.match(
      refused.text,
      /^invalid_parameter_value: Invalid value "zip" for names: .* Did you mean postal_code\?$/,
    );
  });

  const filtered = `/v1/listings?exclude_make=Ford,Kia&max_msrp=90000&limit=5&fields=${fields},distance_miles,msrp`;
  const forms = [
    "exclude_make=Ford,Kia&max_msrp=90000&limit=5",
    "?exclude_make=Ford&exclude_make=Kia&max_msrp=90000&limit=5",
  ];
  for (const filters of [...forms, { exclude_make: ["Ford", "Kia"], max_msrp: 90_000, limit: 5 }])
    test(`filters ${JSON.stringify(filters)}`, async () => {
      const { body } = await agent.call("search_listings", { filters });
      assert.deepEqual(body, withoutCursor((await service.get(filtered)).body));
    });
});

test("answers link to the page of the explorer that shows their listings", async () => {
  const linkOf = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const { content } = await agent.client.callTool({ name: tool, arguments: args });
    return content.find(({ type }) => type === "resource_link");
  };
  const link = { type: "resource_link", name: "explorer", title: "Show in the explorer", mimeType: "text/html" };
  const origin = "https://cars.example";
  const search = { make: ["Ford", "Kia"], max_price: 30_000, sort: "price", limit: 3 };
  const expected: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ["search_listings", search, "/?make=Ford,Kia&max_price=30000"],
    ["market_statistics", { facets: ["make"], sort: "-metric", filters: "exclude_make=Kia" }, "/?exclude_make=Kia"],
    ["dealer_inventory", { dealer_id: dealer, limit: 1 }, `/dealers/${dealer}`],
    ["get_listing", { listing_id: listing }, `/listings/${listing}`],
  ];
  for (const [tool, args, path] of expected) {
    const { uri, ...rest } = Object(await linkOf(tool, args));
    assert.deepEqual([uri, rest], [origin + path, link], tool);
  }
  assert.equal(await linkOf("search_dealers", {}), undefined);
});

test("a link to the explorer has the filters of a search, and nothing on how its answer is paged or written", () => {
  const linked = (query: Readonly<Record<string, string>>): string | undefined =>
    explorerLink("https://a.example", operationRequest("searchListings", query))?.uri;
  const filters = { make: "Ford", min_price: "5000" };
  const paged = { limit: "3", offset: "10", sort: "price", fields: "id" };
  const written = { include: "photos", format: "csv", csv_raw: "true", by: "make" };
  assert.equal(linked({ ...paged, ...filters, ...written }), "https://a.example/?make=Ford&min_price=5000");
  assert.equal(linked({ ...filters, snapshot_date: "2026-11-18" }), undefined, "pages are of the published day");
  assert.equal(linked({ ...filters, data_version: "2026-11-18.1" }), undefined, "pages are of the published version");
  const ofLength = (length: number): string | undefined =>
    linked({ make: "a".repeat(length - "https://a.example/?make=".length) });
  assert.deepEqual([ofLength(1000)?.length, ofLength(1001)], [1000, undefined]);
});

test("prompts for a brief and for valuing a car name tools that exist", async () => {
  const { prompts } = await agent.client.listPrompts();
  const values: Record<string, Record<string, string>> = {
    market_brief: { market: "used Toyota RAV4 in California" },
    value_car: { car: vin, mileage: "41000" },
  };
  assert.deepEqual(
    prompts.map(({ name }) => name),
    Object.keys(values),
  );
  for (const [name, args] of Object.entries(values)) {
    const { messages } = await agent.client.getPrompt({ name, arguments: args });
    const [{ content } = { content: undefined }] = messages;
    assert.ok(content?.type === "text");
    for (const value of Object.values(args)) assert.ok(content.text.includes(value));
    for (const [word] of content.text.matchAll(/\b(find|count|market|search|look|get)_[a-z_]+/g))
      assert.ok(
        tools.some((tool) => tool.name === word),
        word,
      );
  }
  await assert.rejects(agent.client.getPrompt({ name: "value_car" }), /Missing argument car/);
});

test("clients of the protocol of 2026 may keep the lists for an hour", async () => {
  const { ttlMs, cacheScope } = Object(await agent.client.listTools());
  assert.deepEqual([ttlMs, cacheScope], [3_600_000, "public"]);
});

test("a call may name one value without a list, and null for an argument that it omits", async () => {
  const { body } = await agent.call("search_listings", {
    make: "Toyota",
    limit: "3",
    model: null,
    features: [],
    format: "csv",
  });
  const path = `/v1/listings?make=Toyota&limit=3&fields=${fields},distance_miles`;
  assert.deepEqual(body, withoutCursor((await service.get(path)).body));
});

test("lists that are sent as JSON text, and arrays of texts with commas, are read as lists", async () => {
  const search = `/v1/listings?limit=3&fields=${fields},distance_miles`;
  const calls: readonly (readonly [args: Record<string, unknown>, path: string])[] = [
    [{ body_type: '["SUV"]' }, `${search}&body_type=SUV`],
    [{ make: ' ["Toyota", "Honda"] ', year: "[2024, 2025]" }, `${search}&make=Toyota,Honda&year=2024,2025`],
    [{ make: "[]", model: "Camry" }, `${search}&model=Camry`],
    [{ filters: { exclude_make: '["Ford","Kia"]' } }, `${search}&exclude_make=Ford,Kia`],
    [{ filters: 'exclude_make=["Ford","Kia"]' }, `${search}&exclude_make=Ford,Kia`],
    [{ filters: 'exclude_make=Ford,"Kia"' }, `${search}&exclude_make=Ford,Kia`],
    [{ make: "Ford,Kia" }, `${search}&make=Ford,Kia`],
    [{ features: ["a, b"] }, `${search}&features=%22a, b%22`],
    [{ assembly_location: ["Georgetown, Kentucky"] }, `${search}&assembly_location=Georgetown, Kentucky`],
  ];
  for (const [args, path] of calls)
    for (const client of [agent, local]) {
      const { body } = await client.call("search_listings", { limit: 3, ...args });
      assert.deepEqual(body, withoutCursor((await service.get(path)).body), JSON.stringify(args));
    }
  const { text } = await local.call("describe_parameters", { tool: "trends", names: '["exclude_make"]' });
  assert.match(text, /^exclude_make \(list of string\)/);
});

test("a list that cannot be read is refused with what to send, and is not charged", async () => {
  const { bearer } = await createCustomer(service.accounts);
  const client = await connectAgent(fileScope, service.url, bearer);
  const values = [
    "['SUV']",
    '["SUV"',
    "[SUV]",
    '[["SUV"]]',
    '[{"a":1}]',
    "[null]",
    [["SUV"]],
    [{ value: "SUV" }],
    [null],
  ];
  for (const body_type of values)
    for (const args of [{ body_type }, { filters: { exclude_body_type: body_type } }]) {
      const { isError, text } = await client.call("search_listings", args);
      assert.equal(isError, true, JSON.stringify(args));
      assert.match(
        text,
        /^invalid_parameter_value: .*body_type: expected a list .* Send an array, such as \["SUV"\]\.$/,
      );
    }
  assert.deepEqual(Object((await client.call("get_usage")).body.totals).requests, 0);
});

describe("a refused call says what to change", () => {
  const refused: readonly (readonly [tool: string, args: Record<string, unknown>, text: RegExp])[] = [
    ["search_listings", { max_prize: 1 }, /^unknown_query_parameter: .* Did you mean max_price\?$/],
    ["search_listings", { zip: "95118" }, /^unknown_query_parameter: .* Did you mean postal_code\?$/],
    ["count_facets", { facets: ["make"], min_year: 2020 }, /Did you mean year\? It takes a list of model years\.$/],
    ["search_listings", { sort: "price_desc" }, /^invalid_parameter_value: .* Did you mean -price\?$/],
    ["search_listings", { make: "Ford", filters: "make=Kia" }, /^repeated_parameter: Parameter make appears 2 times/],
    ["search_listings", { filters: "constructor=1" }, /^unknown_query_parameter: .*constructor/],
    ["search_listings", { filters: "__proto__=1" }, /^unknown_query_parameter: .*__proto__/],
    ["search_listings", { filters: "exclude_brand=Kia" }, /^unknown_query_parameter: .*exclude_brand/],
    ["market_statistics", { facets: ["make"], metric: "avg_price" }, /Did you mean price\.mean\?$/],
    [
      "search_listings",
      { max_price: "cheap" },
      /^invalid_parameter_value: Invalid value "cheap" for max_price: expected /,
    ],
    ["search_listings", { make: { name: "Ford" }, min_price: 2, max_price: 1 }, /min_price/],
    ["search_listings", { limit: 101 }, /^invalid_parameter_value: .* from 1 to 100/],
    ["find_values", {}, /^missing_parameter: Missing parameter facets: expected /],
    ["count_facets", { facets: ["colour"] }, /^invalid_parameter_value: .*facets/],
    ["market_statistics", { facets: ["make", "model"] }, /^incompatible_parameters: .* exactly one categorical facet/],
    ["trends", { metric: ["prices"] }, /^invalid_parameter_value: /],
    ["look_up_vin", { vin: "123" }, /^invalid_parameter_value: .* expected 17 letters/],
    ["look_up_vin", {}, /^missing_parameter: Missing parameter vin/],
    ["get_listing", { listing_id: "1" }, /^not_found: No listing 1 exists\.$/],
    ["search_dealers", { state: "Texas" }, /^invalid_parameter_value: .*state.* Did you mean TX\?$/],
    ["dealer_inventory", { dealer_id: "north" }, /^not_found: /],
    ["get_usage", { start_date: "yesterday" }, /^invalid_parameter_value: .*start_date/],
  ];
  for (const [tool, args, expected] of refused)
    test(`${tool} ${JSON.stringify(args)}`, async () => {
      for (const client of tool === "get_usage" ? [agent] : [agent, local]) {
        const { isError, text } = await client.call(tool, args);
        assert.equal(isError, true);
        assert.match(text, expected);
      }
    });

  test("a value that does not exist is reported first, with what it stands for", async () => {
    const { body, text } = await agent.call("search_listings", {
      make: ["Toyotta"],
      body_type: ["Truck"],
      fuel_type: ["EV"],
      model: ["qqqqqq"],
    });
    assert.deepEqual(body.data, []);
    assert.deepEqual(text.split("\n").slice(0, 4).sort(), [
      'No listing has ever had body_type "Truck": did you mean "Pickup"?',
      'No listing has ever had fuel_type "EV": did you mean "Electric"?',
      'No listing has ever had make "Toyotta": did you mean "Toyota"?',
      'No listing has ever had model "qqqqqq".',
    ]);
  });
});

test("rows show the numbers that they are sorted or filtered by", async () => {
  const cases: readonly (readonly [args: Record<string, unknown>, fields: readonly string[]])[] = [
    [{ sort: "-price_drop", min_price_drop: 1 }, ["price_drop"]],
    [{ sort: "value", value_rating: ["great"] }, ["price_to_value", "value_rating"]],
    [{ filters: "sort=discount&max_all_in_price=90000" }, ["discount_from_msrp", "all_in_price"]],
    [{ max_msrp: 90_000, min_price_drop_percent: 0 }, ["msrp", "price_drop_percent"]],
    [{ sort: "value", fields: ["price"] }, []],
  ];
  for (const [args, expected] of cases) {
    const { body, text } = await agent.call("search_listings", { limit: 1, ...args });
    assert.ok(Array.isArray(body.data), text);
    const shown = Object.keys(Object(body.data[0]));
    const added = shown.filter((name) => !["id", "vin", "distance_miles", ...fields.split(",")].includes(name));
    if (body.data.length > 0) assert.deepEqual(added.sort(), [...expected].sort(), JSON.stringify(args));
  }
});

test("a report that a tool does not have, and a second facet of a metric, are refused with the way out", async () => {
  const { text } = await agent.call("look_up_vin", { vin, report: "history" });
  assert.match(text, /^invalid_parameter_value: .* for report: expected one of evidence, dealer_fit\./);
  const { text: alone } = await agent.call("get_listing", { listing_id: listing, report: "evidence" });
  assert.match(alone, /Unknown query parameter report/);
  const facets = await agent.call("market_statistics", { facets: ["make", "state"] });
  assert.match(facets.text, /exactly one categorical facet, not 2; .*group_listings/);
});

test("the query of a call is in the log up to 2000 characters, as that of a request is", async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const logged = await serveAgents(t, { logger });
  const asker = await connectAgent(t, logged.url, logged.customer.bearer);
  const make = Array.from({ length: 100 }, (_, index) => `${"make".repeat(8)}${index}`);
  assert.equal((await asker.call("search_listings", { make, limit: 1 })).isError, false);
  const call = lines.map((line) => JSON.parse(line)).find(({ operation: id }) => id === "searchListings");
  assert.match(call.query, /^limit=1&/);
  assert.equal(call.query.length, 2000);
});
