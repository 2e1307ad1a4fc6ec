/** The OpenAPI document: its defaults, and its errors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isMetered } from "../../src/accounts/policy/prices.ts";
import { projectText } from "../../src/base/project-files.ts";
import { type Operation, operations, resolve, vocabulary } from "../../src/contract/document.ts";
import { type ErrorCode, errors } from "../../src/contract/errors.ts";
import { type Column, type ColumnType, tableColumns } from "../../src/contract/tables.ts";
import { type OperationId, parametersWithDefault } from "../../src/contract/types.ts";
import { hasFormats } from "../../src/operations/representation.ts";

test("every list parameter has a documented maximum of at most 100 items", () => {
  for (const { id, parameters } of operations.values())
    for (const { name, schema } of parameters.filter(({ schema: { items } }) => items !== undefined))
      assert.ok((schema.maxItems ?? Number.POSITIVE_INFINITY) <= 100, `${id} ${name}: ${schema.maxItems}`);
});

test("a list is one parameter, whose values its style separates", () => {
  const styles: Readonly<Record<string, string>> = { "|": "pipeDelimited", "+": "spaceDelimited" };
  for (const { id, parameters } of operations.values())
    for (const { name, schema, ...parameter } of parameters.filter(({ schema: { items } }) => items !== undefined)) {
      const style = styles[schema["x-separator"] ?? ""] ?? "form";
      assert.deepEqual([parameter.explode, Object(parameter).style], [false, style], `${id} ${name}`);
    }
});

test("versions have their pattern, and addresses their format", () => {
  const text = projectText("schemas/openapi.yaml");
  assert.equal(text.match(/name: Carquet-Version\n[\s\S]*?schema: \{type: string, pattern: /g)?.length, 1);
  assert.match(text, / {4}Carquet-Version:\n(?: {6}.*\n)* {6}schema: \{type: string, pattern: /);
  assert.deepEqual(described("createSearch").requestBody?.properties.webhook_url?.format, "uri");
});

const described = (id: OperationId): Operation => {
  const found = operations.get(id);
  assert.ok(found, id);
  return found;
};

for (const id of ["searchListings", "exportListings", "getFacets", "searchDealers", "searchDealerListings"] as const) {
  test(`the parameters of ${id} typed as always present are those with a default`, () => {
    const parameters = described(id).parameters.filter((parameter) => parameter.in === "query");
    const typed: readonly string[] = parametersWithDefault;
    assert.deepEqual(
      parameters.filter(({ schema }) => schema.default !== undefined).map(({ name }) => name),
      parameters.map(({ name }) => name).filter((name) => typed.includes(name)),
    );
  });
}

test("every parameter typed as always present belongs to the listing search, the facets, the trends or depreciation", () => {
  const names = (["searchListings", "getFacets", "getTrends", "getDepreciation"] as const)
    .flatMap((id) => described(id).parameters)
    .map(({ name }) => name);
  assert.deepEqual(
    parametersWithDefault.filter((name) => !names.includes(name)),
    [],
  );
});

test("paging parameters of the deprecated search have no default, so that a mix of them is detected", () => {
  const paging = ["page", "per_page", "limit", "offset"];
  const parameters = described("searchListingsByPage").parameters.filter(({ name }) => paging.includes(name));
  assert.deepEqual(
    parameters.map(({ name, schema }) => [name, schema.default]),
    paging.map((name) => [name, undefined]),
  );
});

type Row = readonly [code: string, status: number, type: string, tag: string];
const sorted = (rows: readonly Row[]): readonly Row[] => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
const table = sorted(Object.entries(errors).map(([code, [status, type, tag]]) => [code, status, type, tag]));

interface ErrorSchema {
  readonly properties: {
    readonly _tag: { readonly const: string };
    readonly error: {
      readonly properties: {
        readonly type: { readonly const: string };
        readonly code: { readonly "x-extensible-enum": readonly string[] };
      };
    };
  };
}

interface ErrorResponse {
  readonly content: {
    readonly "application/json": {
      readonly schema: ErrorSchema | { readonly $ref: string };
      readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    };
  };
}

/** Every error response of every operation, with its status. */
const responses: readonly (readonly [number, ErrorResponse])[] = [...operations.values()].flatMap((operation) =>
  Object.entries(operation.responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => [Number(status), resolve<ErrorResponse>(response as ErrorResponse)] as const),
);

test("the document has exactly the errors of the table of errors", () => {
  const rows = responses.flatMap(([status, response]) => {
    const { _tag, error } = resolve<ErrorSchema>(response.content["application/json"].schema).properties;
    return error.properties.code["x-extensible-enum"].map(
      (code): Row => [code, status, error.properties.type.const, _tag.const],
    );
  });
  const distinct = new Map(rows.map((row) => [JSON.stringify(row), row]));
  assert.deepEqual(sorted([...distinct.values()]), table);
});

test("every error code has an example in the document", () => {
  const examples = responses.flatMap(([, response]) => Object.keys(response.content["application/json"].examples));
  assert.deepEqual([...new Set(examples)].sort(), Object.keys(errors).sort());
});

test("the document's description lists the same errors", () => {
  const rows = [...projectText("schemas/openapi.yaml").matchAll(/^ +\| (\d{3}) \| `(\w+)` \| `(\w+)` \| (.+) \|$/gm)];
  const listed = rows.flatMap(([, status, type, tag, codes]) =>
    [...(codes ?? "").matchAll(/`(\w+)`/g)].map(([, code]): Row => [code ?? "", Number(status), type ?? "", tag ?? ""]),
  );
  assert.deepEqual(sorted(listed), table);
});

/** Whether an error can happen at an operation. */
type Happens = (operation: Operation) => boolean;
const everywhere: Happens = () => true;
const withKey: Happens = ({ scope }) => scope !== undefined;
const metered: Happens = ({ id }) => isMetered(id);
/** Whether the response is a file, of which a client can request ranges. */
const isFile: Happens = ({ id }) => id === "exportListings";
/** Whether the operation runs SQL, which has its own result each time. */
const isSql: Happens = ({ id }) => id === "runSql";
const hasEntityTag: Happens = ({ statuses }) => statuses.includes(304);
const takes =
  (name: RegExp): Happens =>
  ({ parameters }) =>
    parameters.some((parameter) => name.test(parameter.name));
/** Whether the operation reads filters of the version in service from a body. */
const savesSearch: Happens = ({ id }) => id === "createSearch";
const sendsBody: Happens = ({ requestBody }) => requestBody !== undefined;

/** Where each error can happen. Connections beyond a limit are refused as `overloaded` at every operation. */
const happens: Readonly<Record<ErrorCode, Happens>> = {
  unknown_query_parameter: everywhere,
  query_string_api_key_rejected: everywhere,
  invalid_parameter_value: everywhere,
  incompatible_parameters: everywhere,
  repeated_parameter: everywhere,
  missing_parameter: everywhere,
  unknown_postal_code: (one) => takes(/^postal_code$/)(one) || savesSearch(one),
  snapshot_unavailable: takes(/^snapshot_date/),
  version_unavailable: (operation) => metered(operation) && !isFile(operation) && !isSql(operation),
  invalid_statement: isSql,
  missing_api_key: withKey,
  invalid_api_key: withKey,
  billing_state_blocked: metered,
  monthly_spend_cap_exceeded: metered,
  missing_scope: withKey,
  not_found: ({ id, parameters }) =>
    ["runSql", "findComparables"].includes(id) || parameters.some((parameter) => parameter.in === "path"),
  method_not_allowed: everywhere,
  not_acceptable: hasFormats,
  precondition_failed: hasEntityTag,
  body_too_large: sendsBody,
  uri_too_long: everywhere,
  range_not_satisfiable: isFile,
  idempotency_key_reused: (operation) => metered(operation) && !isFile(operation),
  too_many_invalid_api_keys: withKey,
  rate_limit_exceeded: withKey,
  concurrency_limit_exceeded: metered,
  headers_too_large: everywhere,
  internal_error: everywhere,
  metering_unavailable: withKey,
  data_unavailable: (one) => metered(one) || savesSearch(one),
  overloaded: everywhere,
  deadline_exceeded: metered,
};

for (const operation of operations.values()) {
  test(`${operation.id} documents exactly the statuses and the codes of errors that can happen`, () => {
    const rows = Object.entries(errors).map(([code, [status]]) => [code as ErrorCode, status] as const);
    const refused = rows.filter(([code]) => happens[code](operation)).map(([, status]) => status);
    assert.deepEqual(
      operation.errorCodes,
      rows.map(([code]) => code).filter((code) => happens[code](operation)),
    );
    const answer = resolve<{ headers: object }>(operation.responses[200] as never);
    const answered = [200, ...("ETag" in answer.headers ? [304] : []), ...(isFile(operation) ? [206] : [])];
    assert.deepEqual(
      [...operation.statuses].sort((one, other) => one - other),
      [...new Set([...answered, ...refused])].sort((one, other) => one - other),
    );
  });
}

const kindsOf = (columns: readonly Column[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    columns.map(({ name, type, isNullable }) => [name, `${describeType(type)}${isNullable ? "?" : ""}`]),
  );

function describeType(type: ColumnType): string {
  if (type.kind === "integer") return `int${type.bits}`;
  if (type.kind === "list") return `${describeType(type.items)}[]`;
  if (type.kind !== "struct") return type.kind;
  const members = Object.entries(kindsOf(type.columns)).map(([name, kind]) => `${name} ${kind}`);
  return `{${members.join(", ")}}`;
}

test("the columns of tables have the types of the document", () => {
  const listing = kindsOf(tableColumns("searchListings"));
  assert.deepEqual(Object.keys(listing).slice(0, -2), vocabulary("searchListings", "fields").slice(1));
  assert.deepEqual(kindsOf(tableColumns("searchDealerListings")), listing);
  const { id, year, make, powertrain_type, price, discount_from_msrp, listed_at, sold_date, status } = listing;
  assert.deepEqual([id, year, make, powertrain_type], ["text", "int32?", "category?", "category?"]);
  assert.deepEqual([price, discount_from_msrp, listed_at, sold_date], ["int32?", "number?", "timestamp?", "date?"]);
  assert.deepEqual([status, listing.dealer_type, listing.city], ["category", "category?", "text?"]);
  assert.deepEqual([listing.photo_urls, listing.features], ["text[]", "text[]"]);
  assert.equal(
    listing.price_history,
    "{date date, price int32?, changed_at timestamp, price_before int32?, miles int32?}[]",
  );
  assert.equal(listing.options, "{code text, name text, msrp number}[]");
  const dealer = kindsOf(tableColumns("searchDealers"));
  assert.deepEqual([dealer.type, dealer.makes, dealer.listing_count], ["category?", "text[]", "int32"]);
  const usage = kindsOf(tableColumns("getUsage"));
  assert.equal(usage.charged_micros, "int64");
  assert.deepEqual(Object.keys(kindsOf(tableColumns("getFacets"))).slice(0, 4), ["kind", "facet", "value", "min"]);
  assert.throws(() => tableColumns("getListing"), TypeError);
});
