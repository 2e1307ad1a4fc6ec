import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { document, type Operation, operations, type Parameter, resolve } from "../../src/contract/document.ts";
import { errors } from "../../src/contract/errors.ts";
import { describeSchemaError } from "../../src/contract/schema.ts";
import { encodedParameter, exampleOf, requiredQuery } from "../support/examples.ts";
import { ajv, refer } from "../support/schemas.ts";

/** A value that somebody is shown, the schema it belongs to, and where it stands. */
interface Shown {
  readonly at: string;
  readonly schema: object;
  readonly value: unknown;
}

/** Everything in the document below a value, with its place. */
function* below(value: unknown, path: readonly string[] = []): Generator<readonly [readonly string[], object]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* below(item, [...path, String(index)]);
  } else if (isObject(value)) {
    yield [path, value];
    for (const [key, item] of Object.entries(value)) yield* below(item, [...path, key]);
  }
}

const isSchema = (value: object): boolean => "type" in value || "enum" in value || "$ref" in value;

/** The examples of parameters, headers and media types, and the defaults of schemas. */
const shown: readonly Shown[] = [...below(document)].flatMap(([path, value]) => {
  const at = path.join(" › ");
  const found: Shown[] = [];
  const add = (what: string, schema: object, example: unknown) =>
    found.push({ at: `${at} › ${what}`, schema, value: example });
  if ("default" in value && isSchema(value)) add("default", refer(...path), value.default);
  if (!("schema" in value)) return found;
  if ("example" in value) add("example", refer(...path, "schema"), value.example);
  const { examples } = value as { examples?: Readonly<Record<string, { $ref: string } | { value: unknown }>> };
  for (const [name, example] of Object.entries(examples ?? {}))
    add(name, refer(...path, "schema"), resolve<{ value: unknown }>(example).value);
  return found;
});

test("the document shows examples of parameters, headers, answers and errors, and has defaults", () => {
  const count = (pattern: RegExp) => shown.filter(({ at }) => pattern.test(at)).length;
  assert.ok(count(/^components › parameters › .+ › example$/) > 60);
  assert.ok(count(/^components › headers › .+ › example$/) > 10);
  assert.ok(count(/^components › responses › .+ › content/) > 10);
  assert.ok(count(/^paths › .+ › 200 › content/) >= 10);
  assert.ok(count(/ › default$/) >= 5);
});

test("every example and every default in the document is what its schema allows", () => {
  const faults = shown.flatMap(({ at, schema, value }) => {
    const validate = ajv.compile(schema);
    return validate(structuredClone(value))
      ? []
      : [`${at}: ${(validate.errors ?? []).map(describeSchemaError).join("; ")}`];
  });
  assert.deepEqual(faults, []);
});

test("every answer in the document has an example", () => {
  const bare = [...below(document)].flatMap(([path, value]) => {
    const media = "application/json" in value ? value["application/json"] : undefined;
    const hasExample = isObject(media) && Object.keys(isObject(media.examples) ? media.examples : {}).length > 0;
    return media === undefined || hasExample ? [] : [path.join(" › ")];
  });
  assert.deepEqual(bare, []);
});

const isOf = (place: Parameter["in"]) => (parameter: Parameter) => parameter.in === place;
const examplePath = ({ parameters }: Operation): Readonly<Record<string, string>> =>
  Object.fromEntries(parameters.filter(isOf("path")).map((parameter) => [parameter.name, encodedParameter(parameter)]));

for (const described of operations.values()) {
  test(`every parameter of ${described.id} has an example, which is read as it is written`, () => {
    const decode = decoderOf(described.id);
    const path = examplePath(described);
    for (const parameter of described.parameters.filter(isOf("query"))) {
      const others = requiredQuery(described).filter(([name]) => name !== parameter.name);
      const query = [...others, [parameter.name, encodedParameter(parameter)]].map((pair) => pair.join("=")).join("&");
      const values: Readonly<Record<string, unknown>> = decode(query, path).query;
      assert.deepEqual(values[parameter.name], exampleOf(parameter), query);
    }
  });
}

test("the document's examples of errors say what the errors say", () => {
  const plain = (text: string) => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
  const bodies = shown.flatMap(({ value }) => (isObject(value) && isObject(value.error) ? [value.error] : []));
  assert.ok(bodies.length >= Object.keys(errors).length);
  for (const { code, message } of bodies) {
    const template = errors[code as keyof typeof errors][3];
    assert.match(String(message), new RegExp(`^${plain(template).replaceAll(/\{\w+\}/g, ".*")}$`));
  }
});
