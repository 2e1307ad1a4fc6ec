/** The request decoder: refuses with a sentence, or returns values that the document allows and that decode to themselves. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createAjv } from "../../../src/contract/build/compile.ts";
import { decoderOf, separatorOf } from "../../../src/contract/decode.ts";
import { operation, operations, type Parameter } from "../../../src/contract/document.ts";
import { Refusal } from "../../../src/contract/errors.ts";
import { joinList } from "../../../src/contract/lists.ts";
import type { OperationId } from "../../../src/contract/types.ts";
import { hostileRequests } from "../campaigns/hostile-requests.ts";
import { Chance } from "../chance.ts";
import { encodeExample } from "../examples.ts";
import type { Target } from "./target.ts";

interface DecoderCase {
  readonly id: OperationId;
  readonly query: string;
  readonly path: Readonly<Record<string, string>>;
}

/** A refusal is one sentence or two. */
const sentence = /^[A-Z][^\n]*[.?]$/s;

const ajv = createAjv();

function isValid(parameter: Parameter, value: unknown): boolean {
  return ajv.validate(parameter.schema, value);
}

/** Writes a value as a client would. */
function encode(parameter: Parameter, value: unknown): string {
  const { schema } = parameter;
  const { "x-optional-suffix": suffix = "" } = { ...schema, ...schema.items };
  const items = (Array.isArray(value) ? value : [value]).map((item) => String(item) || suffix);
  return `${parameter.name}=${encodeURIComponent(Array.isArray(value) ? joinList(items, separatorOf(parameter)) : items.join())}`;
}

async function check({ id, query, path }: DecoderCase): Promise<"accepted" | "refused"> {
  const decode = (text: string): { readonly query: object; readonly path: object } => decoderOf(id)(text, path);
  let decoded: ReturnType<typeof decode>;
  try {
    decoded = decode(query);
  } catch (thrown) {
    assert.ok(thrown instanceof Refusal, thrown instanceof Error ? thrown.stack : String(thrown));
    assert.match(thrown.message, sentence);
    return "refused";
  }
  const values = new Map<string, unknown>(Object.entries({ ...decoded.path, ...decoded.query }));
  const given = operation(id).parameters.filter(({ name }) => values.get(name) !== undefined);
  assert.equal(given.length, [...values.values()].filter((value) => value !== undefined).length, "unknown parameters");
  for (const parameter of given)
    assert.ok(isValid(parameter, values.get(parameter.name)), `${parameter.name}: ${ajv.errorsText()}`);
  const encoded = given
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => encode(parameter, values.get(parameter.name)));
  assert.deepEqual(decode(encoded.join("&")), decoded);
  return "accepted";
}

/** Hostile values of all parameters of a search, without their names. */
const hostileValues = hostileRequests(new Chance(1), "searchListings", 40).map(({ path }) =>
  path.slice(path.indexOf("=") + 1).replace(/&.*$/s, ""),
);

function valuesOf(parameter: Parameter): fc.Arbitrary<string> {
  const { schema } = parameter;
  const { enum: words = [], minimum = 0, maximum = 9 } = { ...schema, ...schema.items };
  const separator = separatorOf(parameter);
  const item = fc.oneof(
    fc.constant(encodeExample(parameter)),
    fc.constantFrom("a", ...words),
    fc
      .constantFrom(minimum, maximum, minimum - 1, maximum + 1, -0, 1e21, 1e-7)
      .map((number) => encodeURIComponent(number)),
    fc.double().map((number) => encodeURIComponent(number)),
    fc.string({ unit: "grapheme", maxLength: 12 }).map(encodeURIComponent),
    fc.string({ unit: fc.constantFrom(..."aA9,|*?+-.%: &=T"), maxLength: 12 }),
    fc.constantFrom(...hostileValues),
  );
  return fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(separator));
}

function casesOf(id: OperationId): fc.Arbitrary<DecoderCase> {
  const parameters = operation(id).parameters;
  const of = (location: Parameter["in"]): readonly Parameter[] =>
    parameters.filter((parameter) => parameter.in === location);
  const pair = fc.oneof(
    ...of("query").map((parameter) => valuesOf(parameter).map((value) => `${parameter.name}=${value}`)),
    { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(..."make=&%_+4"), maxLength: 12 }) },
  );
  const required = of("query").filter((parameter) => parameter.required === true);
  const query = fc
    .tuple(
      ...required.map((parameter) => valuesOf(parameter).map((value) => `${parameter.name}=${value}`)),
      fc.array(pair, { maxLength: 4 }),
    )
    .map((pairs) => pairs.flat().join("&"));
  const path = fc.record(
    Object.fromEntries(
      of("path").map((parameter) => [
        parameter.name,
        fc.oneof(fc.constant(decodeURIComponent(encodeExample(parameter))), fc.string({ maxLength: 20 })),
      ]),
    ),
  );
  return fc.record({ id: fc.constant(id), query, path });
}

export const decoderTarget: Target<DecoderCase> = {
  name: "decoder",
  cases: fc.oneof(...[...operations.keys()].map(casesOf)),
  check,
};
