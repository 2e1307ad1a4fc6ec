/** The example request of an operation as code: curl, the Python and the TypeScript client, and SQL where the lake's views answer the same. */
import { existsSync } from "node:fs";
import { isObject } from "../../base/json.ts";
import { projectPath, projectText } from "../../base/project-files.ts";
import type { Parameter } from "../../contract/document.ts";
import type { OperationId } from "../../contract/types.ts";
import type { OperationDocs } from "./operation-docs.ts";

export interface CodeSample {
  readonly language: "curl" | "Python" | "TypeScript" | "SQL";
  readonly code: string;
}

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
export function codeSamples(docs: OperationDocs, isOpen: boolean): readonly CodeSample[] {
  const sqlFile = `schemas/examples/${docs.answers[0]?.name ?? docs.page.slice("/docs/".length)}.sql`;
  return [
    { language: "curl", code: curl(docs, isOpen) },
    { language: "Python", code: python(docs, isOpen) },
    { language: "TypeScript", code: typescript(docs, isOpen) },
    ...(existsSync(projectPath(sqlFile)) ? [{ language: "SQL" as const, code: projectText(sqlFile).trim() }] : []),
  ];
}

function curl(
  { operation: { method, scope }, request: { path, values, body } }: OperationDocs,
  isOpen: boolean,
): string {
  const query = values.filter(([parameter]) => parameter.in === "query");
  const shape = {
    get: query.length > 0 ? "-G " : "",
    post: body === undefined ? "-X POST " : "",
    delete: "-X DELETE ",
  };
  return [
    `curl ${shape[method]}${originMark}${path}`,
    ...(scope === undefined || isOpen ? [] : ['-H "Authorization: Bearer $CARQUET_KEY"']),
    ...query.map(([{ name }, text]) =>
      /^[\w.,:-]+$/.test(text) ? `-d ${name}=${text}` : `--data-urlencode '${name}=${text}'`,
    ),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`]),
    ...(query.some(([{ name }, text]) => name === "format" && text === "parquet") ? ["-o listings.parquet"] : []),
  ].join(" \\\n  ");
}

/** Returns a value as JavaScript and JSON write it: a number, a text, or a list. */
function literalOf({ schema }: Parameter, text: string): unknown {
  const one = (item: string): unknown => (isNumber(schema.items?.type ?? schema.type) ? Number(item) : item);
  if (schema.type !== "array") return schema.type === "boolean" ? text === "true" : one(text);
  const items = text.split(schema["x-separator"] ?? ",").map(one);
  return items.length === 1 ? items[0] : items;
}

const isNumber = (type: unknown): boolean => type === "integer" || type === "number";

/** The arguments of a client's method: texts of the path, and named values. */
interface SampleArguments {
  readonly path: readonly string[];
  readonly named: readonly (readonly [name: string, value: unknown])[];
}

function argumentsOf({ operation: { id }, request: { values, body } }: OperationDocs): SampleArguments {
  const path = values.filter(([parameter]) => parameter.in === "path").map(([, text]) => JSON.stringify(text));
  if (id === "runSql" && isObject(body))
    return { path: [JSON.stringify(body.sql)], named: Object.entries(isObject(body.params) ? body.params : {}) };
  const query = values
    .filter(([parameter]) => parameter.in === "query" && !(parameter.name === "format" && id === "exportListings"))
    .map(([parameter, text]) => [parameter.name, literalOf(parameter, text)] as const);
  return { path, named: isObject(body) ? Object.entries(body) : query };
}

/** The most characters of a call on one line. */
const lineMax = 58;

/** Returns a call whose arguments are on lines of their kind if they do not fit on one. */
const callOf = (
  name: string,
  items: readonly string[],
  [open, close]: readonly [string, string],
  indent = "  ",
): string => {
  const line = `${name}${open}${items.join(", ")}${close}`;
  if (line.length <= lineMax) return line;
  return [`${name}${open.trim()}`, ...items.map((item) => `${indent}${item},`), close.trim()].join("\n");
};

/** Returns a value as JavaScript, JSON and Python write it. */
const written = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(", ")}]` : JSON.stringify(value);

const pythonWords: Readonly<Record<string, string>> = { from: "from_", as: "as_" };

function python(docs: OperationDocs, isOpen: boolean): string {
  const { id } = docs.operation;
  const { path, named } = argumentsOf(docs);
  const [method, result] = clientMethods[id] ?? ["", "body"];
  const keyed = named.map(([name, value]) => `${pythonWords[name] ?? name}=${written(value)}`);
  const limit = named.find(([name]) => name === "limit");
  const items = [...path, ...keyed, ...(result === "items" ? [`items_max=${JSON.stringify(limit?.[1] ?? 10)}`] : [])];
  const call =
    method === ""
      ? callOf("client.get", [JSON.stringify(docs.request.path), `{${pythonItems(named)}}`], ["(", ")"], "    ")
      : callOf(`client.${pythonMethod(method)}`, items, ["(", ")"], "    ");
  const key = isOpen ? '""' : 'os.environ["CARQUET_KEY"]';
  return `${isOpen ? "" : "import os\n\n"}import carquet\n\nclient = carquet.Client("${originMark}", ${key})\n${pythonUse(call, method === "" ? "response" : result)}`;
}

const pythonItems = (named: SampleArguments["named"]): string =>
  named.map(([name, value]) => `${JSON.stringify(name)}: ${written(value)}`).join(", ");

function pythonUse(call: string, result: ClientResult | "response"): string {
  if (result === "items") return `found = ${call}\nfor item in found:\n    print(item)`;
  if (result === "pages") return `pages = ${call}\nfor page in pages:\n    print(page["data"])`;
  if (result === "file") return `export = ${call}\nexport.save("listings.parquet")`;
  return `answer = ${call}\nprint(answer${result === "response" ? ".json()" : ""})`;
}

function typescript(docs: OperationDocs, isOpen: boolean): string {
  const { id, path: template, method: verb } = docs.operation;
  const { path, named } = argumentsOf(docs);
  const [method, result] = clientMethods[id] ?? ["", "body"];
  const pairs = named.map(([name, value]) => `${name}: ${written(value)}`);
  const query = pairs.length === 0 ? "" : callOf("", pairs, ["{ ", " }"]);
  const limit = named.find(([name]) => name === "limit")?.[1] ?? 10;
  const items = [...path, ...(query === "" ? [] : [query])];
  const itemsMax = result === "items" ? [...(query === "" ? ["{}"] : []), `{ itemsMax: ${String(limit)} }`] : [];
  const call =
    method === ""
      ? `carquet.http.${verb.toUpperCase()}("${template}"${query === "" ? "" : `, { params: { query: ${query} } }`})`
      : `carquet.${method}(${[...items, ...itemsMax].join(", ")})`;
  const key = isOpen ? '""' : 'process.env["CARQUET_KEY"] ?? ""';
  return `import { CarquetClient } from "carquet-client";\n\nconst carquet = new CarquetClient({\n  baseUrl: "${originMark}",\n  apiKey: ${key},\n});\n${typescriptUse(call, result)}`;
}

function typescriptUse(call: string, result: ClientResult): string {
  if (result === "items") return `const found = ${call};\nfor await (const item of found) console.log(item);`;
  if (result === "pages") return `const pages = ${call};\nfor await (const { data } of pages) console.log(data);`;
  if (result === "file") return `const response = await ${call};\nconst bytes = await response.arrayBuffer();`;
  return `const answer = await ${call};\nconsole.log(answer);`;
}
