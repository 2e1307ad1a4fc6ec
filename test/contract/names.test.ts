/** The names and types of the document, as client generators need them: unambiguous in every casing, and without unions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { document, operations } from "../../src/contract/document.ts";

/** A named part of the document; generators name a type after it. */
interface NamedPart {
  readonly name: string;
  readonly at: string;
}

const { components, tags }: { components: Record<string, Record<string, unknown>>; tags: { name: string }[] } =
  JSON.parse(JSON.stringify(document));

/** Returns the unnamed parts of a schema: properties and items, named after it. */
function partsOf(schema: unknown, { name, at }: NamedPart): readonly NamedPart[] {
  if (!isObject(schema)) return [];
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const items = isObject(schema.items) && !("$ref" in schema.items) ? [["item", schema.items] as const] : [];
  return [...properties, ...items].flatMap(([key, inner]) => {
    const part = { name: `${name}_${key}`, at: `${at} › ${key}` };
    return [part, ...partsOf(inner, part)];
  });
}

const componentParts = Object.entries(components).flatMap(([section, named]) =>
  Object.entries(named).flatMap(([name, component]) => {
    const part = { name, at: `${section} › ${name}` };
    const schema = isObject(component) && "schema" in component ? component.schema : component;
    return [part, ...(section === "examples" ? [] : partsOf(schema, part))];
  }),
);
const operationParts = [...operations.values()].flatMap(({ id, parameters }) =>
  [
    id,
    ...["Params", "Request", "Response"].map((suffix) => `${id}${suffix}`),
    ...parameters.map(({ name }) => `${id}_${name}`),
  ].map((name) => ({ name, at: `${id} › ${name}` })),
);

test("no two names in the document are equal in camel, Pascal or snake case", () => {
  const locations = new Map<string, string[]>();
  for (const { name, at } of [...componentParts, ...operationParts]) {
    const plain = name.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
    locations.set(plain, [...(locations.get(plain) ?? []), at]);
  }
  assert.ok(locations.size > 500);
  assert.deepEqual(
    [...locations.values()].filter(({ length }) => length > 1),
    [],
  );
});

test("tags, operations and components have names that convert between cases", () => {
  const patterns: Readonly<Record<string, RegExp>> = {
    tags: /^[A-Z][a-z]+$/,
    operations: /^[a-z]+([A-Z][a-z]+)*$/,
    schemas: /^([A-Z][a-z]+)+$/,
    responses: /^([A-Z][a-z]+)+$/,
    parameters: /^[a-z]+(_[a-z]+)*$/,
  };
  const names: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(Object.entries(components).map(([section, named]) => [section, Object.keys(named)])),
    tags: tags.map(({ name }) => name),
    operations: [...operations.keys()],
  };
  for (const [section, pattern] of Object.entries(patterns))
    for (const name of names[section] ?? []) assert.match(name, pattern, section);
});

/** A schema of the document, with its location. */
interface LocatedSchema {
  readonly at: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Yields every schema below a value that restricts its type. */
function* schemasIn(value: unknown, at: string): Generator<LocatedSchema> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* schemasIn(item, `${at} › ${index}`);
  if (!isObject(value)) return;
  const { type, oneOf, anyOf, enum: values } = value;
  if (typeof type === "string" || [type, oneOf, anyOf, values].some(Array.isArray)) yield { at, schema: value };
  for (const [key, inner] of Object.entries(value)) yield* schemasIn(inner, `${at} › ${key}`);
}

const { examples: _, ...typed } = components;
const schemas = [...schemasIn(typed, "components"), ...schemasIn(document.paths, "paths")];
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

test("every schema has one type, besides null", () => {
  assert.ok(schemas.length > 300);
  const isNull = (one: unknown): boolean => one === "null" || (isObject(one) && one.type === "null");
  const unions = schemas.filter(({ schema }) =>
    [schema.type, schema.oneOf, schema.anyOf].some((types) => listOf(types).filter((one) => !isNull(one)).length > 1),
  );
  assert.deepEqual(unions, []);
});

test("every schema is used by a path, because generators leave out those that only webhooks use", () => {
  const used = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, section = "", name = ""] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      if (used.has(`${section} ${name}`)) continue;
      used.add(`${section} ${name}`);
      collect(components[section]?.[name]);
    }
  };
  collect(document.paths);
  assert.deepEqual(
    Object.keys(components.schemas ?? {}).filter((name) => !used.has(`schemas ${name}`)),
    [],
  );
});

test("the values of an enum are texts that become distinct identifiers", () => {
  for (const { at, schema } of schemas.filter(({ schema }) => "enum" in schema)) {
    assert.ok(
      listOf(schema.enum).every((value) => typeof value === "string"),
      at,
    );
    const names = listOf(schema["x-enum-varnames"] ?? schema.enum).map(String);
    assert.equal(names.length, listOf(schema.enum).length, at);
    for (const name of names) assert.match(name, /^[A-Za-z][A-Za-z0-9._]*$/, at);
    assert.equal(new Set(names.map((name) => name.replaceAll(/[._]/g, "").toLowerCase())).size, names.length, at);
  }
});

test("amounts in micros have 64 bits", () => {
  const amounts = schemas.filter(({ at }) => /micros( › schema)?$/i.test(at));
  assert.equal(amounts.length, 4);
  for (const { at, schema } of amounts) assert.equal(schema.format, "int64", at);
});
