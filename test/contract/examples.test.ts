/** The examples and defaults of the OpenAPI document, validated by its schemas. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { document, type Operation, operations, type Parameter, resolve } from "../../src/contract/document.ts";
import { errors } from "../../src/contract/errors.ts";
import { describeSchemaError } from "../../src/contract/schema.ts";
import {
  alternativeExamples,
  documentExampleOf,
  encodeExample,
  exampleOf,
  requiredQuery,
} from "../support/examples.ts";
import { ajv, schemaAt } from "../support/schemas.ts";

/** An example or a default in the document, with its schema and its location. */
interface DocumentExample {
  readonly at: string;
  readonly schema: object;
  readonly value: unknown;
}

/** Yields every object below a value, with its path. */
function* descendants(value: unknown, path: readonly string[] = []): Generator<readonly [readonly string[], object]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* descendants(item, [...path, String(index)]);
  } else if (isObject(value)) {
    yield [path, value];
    for (const [key, item] of Object.entries(value)) yield* descendants(item, [...path, key]);
  }
}

const isSchema = (value: object): boolean => "type" in value || "enum" in value || "$ref" in value;

/** The examples of parameters, headers and media types, and the defaults of schemas. */
const documentExamples: readonly DocumentExample[] = [...descendants(document)].flatMap(([path, value]) => {
  const at = path.join(" › ");
  const found: DocumentExample[] = [];
  const add = (what: string, schema: object, example: unknown) =>
    found.push({ at: `${at} › ${what}`, schema, value: example });
  if ("default" in value && isSchema(value)) add("default", schemaAt(...path), value.default);
  if (!("schema" in value)) return found;
  if ("example" in value) add("example", schemaAt(...path, "schema"), value.example);
  const { examples } = value as { examples?: Readonly<Record<string, { $ref: string } | { value: unknown }>> };
  for (const [name, example] of Object.entries(examples ?? {}))
    add(name, schemaAt(...path, "schema"), resolve<{ value: unknown }>(example).value);
  return found;
});

test("the document has examples of parameters, headers, answers and errors, and defaults", () => {
  const count = (pattern: RegExp) => documentExamples.filter(({ at }) => pattern.test(at)).length;
  assert.ok(count(/^components › parameters › .+ › example$/) > 60);
  assert.ok(count(/^components › headers › .+ › example$/) > 10);
  assert.ok(count(/^components › responses › .+ › content/) > 10);
  assert.ok(count(/^paths › .+ › 200 › content/) >= 10);
  assert.ok(count(/ › default$/) >= 5);
});

test("every example and every default in the document matches its schema", () => {
  const faults = documentExamples.flatMap(({ at, schema, value }) => {
    const validate = ajv.compile(schema);
    return validate(structuredClone(value))
      ? []
      : [`${at}: ${(validate.errors ?? []).map(describeSchemaError).join("; ")}`];
  });
  assert.deepEqual(faults, []);
});

test("every answer in the document has an example", () => {
  const bare = [...descendants(document)].flatMap(([path, value]) => {
    const media = "application/json" in value ? value["application/json"] : undefined;
    const hasExample = isObject(media) && Object.keys(isObject(media.examples) ? media.examples : {}).length > 0;
    return media === undefined || hasExample ? [] : [path.join(" › ")];
  });
  assert.deepEqual(bare, []);
});

const isOf = (location: Parameter["in"]) => (parameter: Parameter) => parameter.in === location;
const examplePath = ({ parameters }: Operation): Readonly<Record<string, string>> =>
  Object.fromEntries(parameters.filter(isOf("path")).map((parameter) => [parameter.name, encodeExample(parameter)]));

for (const described of operations.values()) {
  test(`every parameter of ${described.id} has an example that decodes to itself`, () => {
    const decode = decoderOf(described.id);
    const path = examplePath(described);
    for (const parameter of described.parameters.filter(isOf("query"))) {
      const others = requiredQuery(described).filter(([name]) => name !== parameter.name);
      const query = [...others, [parameter.name, encodeExample(parameter)]].map((pair) => pair.join("=")).join("&");
      const values: Readonly<Record<string, unknown>> = decode(query, path).query;
      assert.deepEqual(values[parameter.name], exampleOf(parameter), query);
    }
  });
}

test("every parameter has an example in the document, except those that cannot be combined with others", () => {
  const parameters = [...operations.values()].flatMap((operation) => operation.parameters);
  const bare = parameters.filter((parameter) => documentExampleOf(parameter) === undefined);
  assert.deepEqual(new Set(bare.map(({ name }) => name)), new Set(Object.keys(alternativeExamples)));
});

test("the document's error examples match the messages of the errors", () => {
  const plain = (text: string) => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
  const bodies = documentExamples.flatMap(({ value }) =>
    isObject(value) && isObject(value.error) ? [value.error] : [],
  );
  assert.ok(bodies.length >= Object.keys(errors).length);
  for (const { code, message } of bodies) {
    const template = errors[code as keyof typeof errors][3];
    assert.match(String(message), new RegExp(`^${plain(template).replaceAll(/\{\w+\}/g, ".*")}$`));
  }
});
