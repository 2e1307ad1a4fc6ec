/** The example request of an operation as code: curl, the Python and the TypeScript client, and SQL where the lake's views answer the same. */
import { isObject } from "../../base/json.ts";
import type { Parameter } from "../../contract/document.ts";
import type { OperationId } from "../../contract/types.ts";
import type { CodeSample } from "./code.tsx";
import { examplePath, type OperationDocs } from "./operation-docs.ts";

/** Where the origin of the service is in a page, which is rendered once for all hosts. */
export const originMark = "http://origin.invalid";

/** What a method of the clients returns: a body, items of pages, pages of changes, or a file. */
type ClientResult = "body" | "items" | "pages" | "file";

/** The methods of the TypeScript client. Those of the Python client are spelled with underscores. */
export const clientMethods: Readonly<Partial<Record<OperationId, readonly [method: string, result: ClientResult]>>> = {
  searchListings: ["listings", "items"],
  getListing: ["listing", "body"],
  getVin: ["vin", "body"],
  getEvidence: ["evidence", "body"],
  findFittingDealers: ["fittingDealers", "body"],
  getListingComparables: ["comparablesOf", "body"],
  findComparables: ["comparables", "body"],
  valueVehicles: ["valuations", "body"],
  getDepreciation: ["depreciation", "body"],
  suggestFilters: ["suggestions", "body"],
  interpretQuestion: ["interpretation", "body"],
  getFacets: ["facets", "body"],
  listChanges: ["changes", "pages"],
  createSearch: ["saveSearch", "body"],
  listSearches: ["searches", "body"],
  deleteSearch: ["deleteSearch", "body"],
  resumeSearch: ["resumeSearch", "body"],
  getGroups: ["groups", "body"],
  getTrends: ["trends", "body"],
  searchDealers: ["dealers", "items"],
  getDealer: ["dealer", "body"],
  findFittingModels: ["fittingModels", "body"],
  searchDealerListings: ["dealerListings", "items"],
  exportListings: ["exportListings", "file"],
  runSql: ["sql", "body"],
  getUsage: ["usage", "body"],
};

/** Returns the method of the Python client for one of the TypeScript client. */
export const pythonMethod = (method: string): string =>
  method === "exportListings" ? "export" : method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the example request in all languages that have an equivalent. `isOpen` is whether requests need no key. */
export const codeSamples = (docs: OperationDocs, isOpen: boolean): readonly CodeSample[] => [
  { language: "curl", code: curl(docs, isOpen) },
  { language: "Python", code: python(docs, isOpen) },
  { language: "TypeScript", code: typescript(docs, isOpen) },
  ...(docs.sql === "" ? [] : [{ language: "SQL" as const, code: docs.sql }]),
];

function curl(docs: OperationDocs, isOpen: boolean): string {
  const { operation, request } = docs;
  const query = request.values.filter(([parameter]) => parameter.in === "query");
  const options = {
    get: query.length > 0 ? "-G " : "",
    post: request.body === undefined ? "-X POST " : "",
    delete: "-X DELETE ",
  };
  return [
    `curl ${options[operation.method]}${originMark}${examplePath(docs)}`,
    operation.scope === undefined || isOpen ? [] : '-H "Authorization: Bearer $CARQUET_KEY"',
    query.map(([{ name }, text]) =>
      /^[\w.,:-]+$/.test(text) ? `-d ${name}=${text}` : `--data-urlencode '${name}=${text}'`,
    ),
    request.body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(request.body)}'`],
    query.some(([{ name }, text]) => name === "format" && text === "parquet") ? "-o listings.parquet" : [],
  ]
    .flat()
    .join(" \\\n  ");
}

/** Returns the call of a client's method: no method if the clients have none, the texts before the named values, and how many items to read. */
function sampleCall({ operation: { id }, request: { values, body } }: OperationDocs) {
  const [method, result = "body"] = clientMethods[id] ?? [];
  const path = values.filter(([parameter]) => parameter.in === "path").map(([, text]) => text);
  const query = values
    .filter(([{ name, in: location }]) => location === "query" && !(name === "format" && result === "file"))
    .map(([parameter, text]): readonly [string, unknown] => [parameter.name, typedValue(parameter, text)]);
  const itemsMax = query.find(([name]) => name === "limit")?.[1] ?? 10;
  const { sql, params, ...properties } = isObject(body) ? body : {};
  const named = [...query, ...Object.entries(isObject(params) ? params : properties)];
  return { method, result, texts: typeof sql === "string" ? [sql] : path, named, itemsMax };
}

const isNumber = (type: unknown): boolean => type === "integer" || type === "number";

/** Returns the value of a parameter: a number, a boolean, a text, or a list of several values. */
function typedValue({ schema }: Parameter, text: string): unknown {
  const one = (item: string): unknown => (isNumber(schema.items?.type ?? schema.type) ? Number(item) : item);
  if (schema.type !== "array") return schema.type === "boolean" ? text === "true" : one(text);
  const items = text.split(schema["x-separator"] ?? ",").map(one);
  return items.length === 1 ? items[0] : items;
}

/** Returns a value as JavaScript, JSON and Python write it. */
const written = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(", ")}]` : JSON.stringify(value);

/** The most characters of a call on one line. */
const lineMax = 58;

/** Returns items between brackets, on separate lines if they do not fit on one. */
function enclosed([open, close]: readonly [string, string], items: readonly string[], indent: string): string {
  const line = `${open}${items.join(", ")}${close}`;
  return line.length <= lineMax
    ? line
    : [open.trim(), ...items.map((item) => `${indent}${item},`), close.trim()].join("\n");
}

/** The words of Python that parameters are named like. */
const pythonWords: Readonly<Record<string, string>> = { from: "from_", as: "as_" };

const pythonUses: Readonly<Record<ClientResult, (call: string) => string>> = {
  body: (call) => `answer = ${call}\nprint(answer)`,
  items: (call) => `found = ${call}\nfor item in found:\n    print(item)`,
  pages: (call) => `pages = ${call}\nfor page in pages:\n    print(page["data"])`,
  file: (call) => `export = ${call}\nexport.save("listings.parquet")`,
};

function python(docs: OperationDocs, isOpen: boolean): string {
  const { method, result, texts, named, itemsMax } = sampleCall(docs);
  const items = [
    ...texts.map(written),
    ...named.map(([name, value]) => `${pythonWords[name] ?? name}=${written(value)}`),
    ...(result === "items" ? [`items_max=${written(itemsMax)}`] : []),
  ];
  const query = named.map(([name, value]) => `${written(name)}: ${written(value)}`).join(", ");
  const call =
    method === undefined
      ? `${enclosed(["client.get(", ")"], [written(examplePath(docs)), `{${query}}`], "    ")}.json()`
      : enclosed([`client.${pythonMethod(method)}(`, ")"], items, "    ");
  const key = isOpen ? '""' : 'os.environ["CARQUET_KEY"]';
  return `${isOpen ? "" : "import os\n\n"}import carquet

client = carquet.Client("${originMark}", ${key})
${pythonUses[result](call)}`;
}

const typescriptUses: Readonly<Record<ClientResult, (call: string) => string>> = {
  body: (call) => `const answer = await ${call};\nconsole.log(answer);`,
  items: (call) => `const found = ${call};\nfor await (const item of found) console.log(item);`,
  pages: (call) => `const pages = ${call};\nfor await (const { data } of pages) console.log(data);`,
  file: (call) => `const response = await ${call};\nconst bytes = await response.arrayBuffer();`,
};

function typescript(docs: OperationDocs, isOpen: boolean): string {
  const { path, method: verb } = docs.operation;
  const { method, result, texts, named, itemsMax } = sampleCall(docs);
  const pairs = named.map(([name, value]) => `${name}: ${written(value)}`);
  const query = pairs.length === 0 ? [] : [enclosed(["{ ", " }"], pairs, "  ")];
  const bounds =
    result === "items" ? [...(query.length === 0 ? ["{}"] : []), `{ itemsMax: ${written(itemsMax)} }`] : [];
  const call =
    method === undefined
      ? `carquet.http.${verb.toUpperCase()}(${[written(path), ...query.map((one) => `{ params: { query: ${one} } }`)].join(", ")})`
      : `carquet.${method}(${[...texts.map(written), ...query, ...bounds].join(", ")})`;
  return `import { CarquetClient } from "carquet-client";

const carquet = new CarquetClient({
  baseUrl: "${originMark}",
  apiKey: ${isOpen ? '""' : 'process.env["CARQUET_KEY"] ?? ""'},
});
${typescriptUses[result](call)}`;
}
