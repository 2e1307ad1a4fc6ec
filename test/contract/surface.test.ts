/**
 * What the document promises to clients, as one line for each parameter and each field of an answer in `surface.golden.txt`, and rules of its
 * vocabularies. `npm run golden` writes the file; a line that another release lacks or changes breaks clients.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { document, type Operation, operations, resolve, vocabulary } from "../../src/contract/document.ts";
import { extensionNames, rangedNames } from "../../src/listing/schema.ts";

/** Keywords that say nothing about values, or whose parts have separate lines. */
const omitted = ["description", "example", "examples", "title", "properties", "items", "required", "x-enum-varnames"];

/** Yields the path and the keywords of a schema and of all its parts, with references resolved. */
function* partsOf(schema: unknown, path: string): Generator<readonly [path: string, keywords: string]> {
  if (!isObject(schema)) return;
  const { properties, items, required, oneOf, ...keywords } = resolve<Readonly<Record<string, unknown>>>(schema);
  const shown = Object.entries(keywords).filter(([keyword]) => !omitted.includes(keyword));
  const texts = shown.map(([keyword, value]) =>
    keyword === "type"
      ? [value].flat().join(" or ")
      : `${keyword} ${Array.isArray(value) ? value.join(" ") : JSON.stringify(value)}`,
  );
  if (!Array.isArray(oneOf)) yield [path, texts.join("; ")];
  for (const one of Array.isArray(oneOf) ? oneOf : []) yield* partsOf(one, path);
  yield* partsOf(items, `${path}[]`);
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const isRequired = Array.isArray(required) && required.includes(name);
    yield* partsOf(property, `${path}.${name}${isRequired ? "" : "?"}`);
  }
}

/** Returns a line for each distinct part of the operations, with the operations that have it; sorted. */
function linesOf(
  partsById: ReadonlyMap<string, Iterable<readonly [path: string, keywords: string]>>,
): readonly string[] {
  const ids = new Map<string, string[]>();
  for (const [id, parts] of partsById)
    for (const [path, keywords] of parts) {
      const line = `${path}: ${keywords}`;
      ids.set(line, [...(ids.get(line) ?? []), id]);
    }
  return [...ids].map(([line, having]) => `${line}  (${having.join(", ")})`).sort();
}

function* parametersOf(id: string): Generator<readonly [path: string, keywords: string]> {
  for (const { id: own, parameters } of operations.values())
    for (const { name, schema, explode = false, required = false, in: location } of own === id ? parameters : []) {
      const [[, keywords] = ["", ""], ...items] = partsOf(schema, "");
      const parts = [
        location,
        required ? "required" : "",
        explode ? "repeatable" : "",
        keywords,
        ...items.map(([, item]) => `each ${item}`),
      ];
      yield [name, parts.filter((part) => part !== "").join("; ")];
    }
}

function* answerOf(operation: Operation): Generator<readonly [path: string, keywords: string]> {
  const answer = resolve<{
    readonly headers: object;
    readonly content: Readonly<Record<string, { readonly schema?: unknown }>>;
  }>(operation.responses[200] as never);
  yield ["headers", Object.keys(answer.headers).join(" ")];
  yield ["formats", Object.keys(answer.content).join(" ")];
  yield* partsOf(answer.content["application/json"]?.schema, "answer");
}

test("the parameters and answers of the document are those of the golden file", () => {
  const all = [...operations.values()];
  const text = [
    ...all.map(({ id, path, method, scope = "none", statuses, deprecated }) =>
      [
        `${id}: ${method.toUpperCase()} ${path}`,
        `scope ${scope}`,
        statuses.join(" "),
        ...(deprecated ? ["deprecated"] : []),
      ].join("; "),
    ),
    "",
    ...linesOf(new Map(all.map(({ id }) => [id, parametersOf(id)]))),
    "",
    ...linesOf(new Map(all.map((operation) => [operation.id, answerOf(operation)]))),
    "",
  ].join("\n");
  for (const [path, item] of Object.entries(document.paths))
    assert.equal(Object.keys(item).length, all.filter((operation) => operation.path === path).length, path);
  const file = projectPath("test/contract/surface.golden.txt");
  if (process.env.GOLDEN === "write") writeFileSync(file, text);
  assert.equal(text, readFileSync(file, "utf8"), `${file} differs: if the change is intended, run npm run golden.`);
});

/** Returns the canonical values of an attribute, as ingest spells them. */
function spelled(attribute: string): readonly string[] {
  const rows = projectText("data/reference/spellings.csv").matchAll(/^(\w+),[^,]*,(.*)$/gm);
  return [...new Set([...rows].flatMap(([, name, canonical = ""]) => (name === attribute ? [canonical] : [])))].sort();
}

test("states and powertrains are those that ingest spells: 50 states, DC, five territories, 13 provinces; six powertrains", () => {
  const states = spelled("state");
  const powertrains = spelled("powertrain_type");
  assert.deepEqual([states.length, powertrains.length], [50 + 1 + 5 + 13, 6]);
  for (const name of ["state", "exclude_state"] as const)
    assert.deepEqual([...vocabulary("searchListings", name)].sort(), states);
  for (const name of ["powertrain_type", "exclude_powertrain_type"] as const)
    assert.deepEqual([...vocabulary("searchListings", name)].sort(), powertrains);
  assert.deepEqual([...vocabulary("searchDealers", "state")].sort(), states);
});

test("trends count by the facets that are counted by value", () => {
  const others: readonly string[] = [...rangedNames, ...extensionNames];
  const byValue = vocabulary("getFacets", "facets").filter((facet) => !others.includes(facet));
  assert.deepEqual([...vocabulary("getTrends", "facet")].sort(), [...byValue].sort());
});

test("lists are separated by commas, except assembly locations, which contain commas", () => {
  const lists = [...operations.values()].flatMap(({ parameters }) =>
    parameters.filter(({ schema }) => schema.items !== undefined),
  );
  const others = lists.flatMap(({ name, schema: { "x-separator": separator = "," } }) =>
    separator === "," ? [] : [[name, separator] as const],
  );
  const locations = { assembly_location: "|", exclude_assembly_location: "+" };
  assert.deepEqual(Object.fromEntries(others), locations);
});
