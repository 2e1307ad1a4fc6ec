/** A request of an operation as code: curl, the Python and the TypeScript client, and the call of an agent's tool. */
import { isObject } from "../../base/json.ts";
import type { OperationId } from "../../contract/types.ts";
import type { CodeLanguage } from "../components/code-box.tsx";
import { type DocumentedParameter, type OperationDocs, type OperationValues, requestPath } from "./operation-docs.ts";

export interface RequestSample {
  readonly name: string;
  readonly language: CodeLanguage;
  readonly code: string;
}

/** What a method of the clients returns: a body, items of pages, pages of changes, or a file. */
type ClientResult = "body" | "rows" | "items" | "pages" | "file";

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
  rotateSearchSecret: ["rotateSearchSecret", "body"],
  getGroups: ["groups", "body"],
  getTrends: ["trends", "body"],
  searchDealers: ["dealers", "items"],
  getDealer: ["dealer", "body"],
  findFittingModels: ["fittingModels", "body"],
  searchDealerListings: ["dealerListings", "items"],
  exportListings: ["exportListings", "file"],
  runSql: ["sql", "rows"],
  getUsage: ["usage", "body"],
};

/** Returns the method of the Python client for one of the TypeScript client. */
export const pythonMethod = (method: string): string =>
  method === "exportListings" ? "export" : method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A key that programs send: the text of one, or where they read it. */
export interface SampleKey {
  /** The key itself, if the page knows it. */
  readonly secret: string | undefined;
  /** Whether requests need none, and cost nothing: the service has no accounts. */
  readonly isOpen: boolean;
}

/** A request of an operation, where it is sent, and the key. */
export interface Sampled {
  readonly docs: OperationDocs;
  readonly request: OperationValues;
  readonly origin: string;
  readonly key: SampleKey;
}

/** The name of the environment variable that has a key, in all samples and in the guides. */
const keyVariable = "CARQUET_KEY";

/** Returns a request in all languages that have an equivalent. */
export function requestSamples(sampled: Sampled): readonly RequestSample[] {
  const call = clientCall(sampled);
  return [
    { name: "curl", language: "shell", code: curl(sampled) },
    ...(call === undefined ? [] : [python(sampled, call), typescript(sampled, call)]),
    ...agent(sampled),
  ];
}

const needsKey = ({ docs, key }: Sampled): boolean => docs.operation.scope !== undefined && !key.isOpen;

/** Returns a text as the shell reads it. */
const shellText = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curl(sampled: Sampled): string {
  const { docs, request, origin } = sampled;
  const { method } = docs.operation;
  const query = request.values.filter(([parameter]) => parameter.in === "query");
  const headers = request.values.filter(([parameter]) => parameter.in === "header");
  const options = { get: query.length > 0 ? "-G " : "", post: "", delete: "-X DELETE " };
  const hasBody = request.body !== undefined;
  const lines = [
    `curl ${method === "post" && !hasBody ? "-X POST " : options[method]}${urlText(`${origin}${requestPath(docs, request)}`)}`,
    needsKey(sampled) ? `-H "Authorization: Bearer $${keyVariable}"` : [],
    headers.map(([{ name }, text]) => `-H ${shellText(`${name}: ${text}`)}`),
    query.map(([{ name }, text]) =>
      /^[\w.,:-]+$/.test(text) ? `-d ${name}=${text}` : `--data-urlencode ${shellText(`${name}=${text}`)}`,
    ),
    hasBody ? ['-H "Content-Type: application/json"', `-d ${shellText(bodyText(request.body))}`] : [],
    query.some(([{ name }, text]) => name === "format" && /^(parquet|arrow)$/.test(text)) ? "-O" : [],
  ];
  return `# install: nothing; Python: pip install ./clients/python\n${exportedKey(sampled)}${lines.flat().join(" \\\n  ")}`;
}

/** Returns the line that names the key, if the operation needs one. */
const exportedKey = (sampled: Sampled): string =>
  needsKey(sampled)
    ? `export ${keyVariable}=${sampled.key.secret ?? "…"}   # ${sampled.key.secret === undefined ? "a key of yours" : "your demo key"}\n`
    : "";

const urlText = (url: string): string => (/^[\w:/.[\]%-]+$/.test(url) && !url.includes("[") ? url : shellText(url));

/** Returns the text of a body. */
export const bodyText = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

/** The tools of agents that call an operation. */
export const toolNames: Readonly<Partial<Record<OperationId, string>>> = {
  searchListings: "search_listings",
  getListing: "get_listing",
  getVin: "look_up_vin",
  interpretQuestion: "interpret_question",
  getFacets: "count_facets",
  getGroups: "group_listings",
  listChanges: "list_changes",
  getTrends: "trends",
  findComparables: "value_vehicle",
  searchDealers: "search_dealers",
  searchDealerListings: "dealer_inventory",
  exportListings: "export_listings",
  getUsage: "get_usage",
};

/** Returns how an agent is connected, and the call of the tool that the operation answers; nothing if there is none. */
function agent(sampled: Sampled): readonly RequestSample[] {
  const { docs, request, origin } = sampled;
  const name = toolNames[docs.operation.id];
  if (name === undefined) return [];
  const entries = request.values
    .filter(([parameter]) => parameter.in !== "header" && parameter.name !== "format")
    .map(([parameter, text]): readonly [string, unknown] => {
      const value = typedValue(parameter, text);
      return [parameter.name, parameter.schema.type === "array" ? [value].flat() : value];
    });
  const header = needsKey(sampled) ? ` \\\n  --header "Authorization: Bearer $${keyVariable}"` : "";
  const call = JSON.stringify({ name, arguments: Object.fromEntries(entries) }, null, 2);
  const called = call.replaceAll(/^/gm, "# ");
  const code = `${exportedKey(sampled)}claude mcp add --transport http carquet ${origin}/mcp${header}\n\n# Ask in your words; the agent then calls:\n${called}`;
  return [{ name: "Agent", language: "shell", code }];
}

type ClientCall = NonNullable<ReturnType<typeof clientCall>>;

/** Returns the call of a client's method, with the texts before the named values, and how many items to read; undefined if the clients have none. */
function clientCall({ docs, request: { values, body } }: Sampled) {
  const [method, result] = clientMethods[docs.operation.id] ?? [];
  if (method === undefined || result === undefined) return undefined;
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
function typedValue({ schema }: DocumentedParameter, text: string): unknown {
  const one = (item: string): unknown => (isNumber(schema.items?.type ?? schema.type) ? Number(item) : item);
  if (schema.type !== "array") return schema.type === "boolean" ? text === "true" : one(text);
  const items = text.split(schema["x-separator"] ?? ",").map(one);
  return items.length === 1 ? items[0] : items;
}

/** Returns a value as JavaScript and JSON write it, and Python but for its constants. */
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

/** Constants of JSON in Python. */
const pythonConstants: ReadonlyMap<string, string> = new Map([
  ["true", "True"],
  ["false", "False"],
  ["null", "None"],
]);

/** The words of Python that parameters are named like. */
const pythonWords: Readonly<Record<string, string>> = { from: "from_", as: "as_" };

const pythonUses: Readonly<Record<ClientResult, (call: string) => string>> = {
  rows: (call) => `result = ${call}\nprint(result["data"])`,
  body: (call) => `answer = ${call}\nprint(answer)`,
  items: (call) => `found = ${call}\nfor item in found:\n    print(item)`,
  pages: (call) => `pages = ${call}\nfor page in pages:\n    print(page["data"])`,
  file: (call) => `export = ${call}\nexport.save("listings.parquet")`,
};

/** Returns the key in code: the known one, else where the program reads it. */
const keyIn = (sampled: Sampled, environment: string): string =>
  needsKey(sampled) ? (sampled.key.secret === undefined ? environment : written(sampled.key.secret)) : '"none"';

function python(sampled: Sampled, { method, result, texts, named, itemsMax }: ClientCall): RequestSample {
  const items = [
    ...texts.map(written),
    ...named.map(
      ([name, value]) => `${pythonWords[name] ?? name}=${pythonConstants.get(written(value)) ?? written(value)}`,
    ),
    ...(result === "items" ? [`items_max=${written(itemsMax)}`] : []),
  ];
  const call = enclosed([`client.${pythonMethod(method)}(`, ")"], items, "    ");
  const keyText = keyIn(sampled, `os.environ["${keyVariable}"]`);
  const code = `# In a checkout of Carquet, after npm ci: pip install ./clients/python. Elsewhere: the wheel of pip wheel --no-deps ./clients/python
${keyText.startsWith("os") ? "import os\n\n" : ""}from carquet_client import Client

client = Client("${sampled.origin}", ${keyText})
${pythonUses[result](call)}`;
  return { name: "Python", language: "python", code };
}

const printedBody = (call: string): string => `const answer = await ${call};\nconsole.log(answer);`;

const typescriptUses: Readonly<Record<ClientResult, (call: string) => string>> = {
  body: printedBody,
  rows: printedBody,
  items: (call) => `const found = ${call};\nfor await (const item of found) console.log(item);`,
  pages: (call) => `const pages = ${call};\nfor await (const { data } of pages) console.log(data);`,
  file: (call) => `const response = await ${call};\nconst bytes = await response.arrayBuffer();`,
};

function typescript(sampled: Sampled, { method, result, texts, named, itemsMax }: ClientCall): RequestSample {
  const pairs = named.map(([name, value]) => `${name}: ${written(value)}`);
  const query = pairs.length === 0 ? [] : [enclosed(["{ ", " }"], pairs, "  ")];
  const bounds =
    result === "items" ? [...(query.length === 0 ? ["{}"] : []), `{ itemsMax: ${written(itemsMax)} }`] : [];
  const call = `carquet.${method}(${[...texts.map(written), ...query, ...bounds].join(", ")})`;
  const keyText = keyIn(sampled, `process.env["${keyVariable}"] ?? ""`);
  const code = `// In clients/typescript of a checkout of Carquet, after npm ci: npm pack. In your project: npm install <checkout>/clients/typescript/carquet-client-*.tgz
import { CarquetClient } from "carquet-client";

const carquet = new CarquetClient({
  baseUrl: "${sampled.origin}",
  apiKey: ${keyText},
});
${typescriptUses[result](call)}`;
  return { name: "TypeScript", language: "typescript", code };
}
