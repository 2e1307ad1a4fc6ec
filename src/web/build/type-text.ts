/** The type of a value in words, for example `list of whole numbers, 1900 to 2100, at most 100`. */
import { resolve } from "../../contract/document.ts";
import type { Referable, ResponseSchema, Schema } from "../../contract/operations.ts";

/** The most values that are listed in a type. */
export const listedValuesMax = 8;

const words: Readonly<Record<string, string>> = { integer: "whole number", string: "text", boolean: "true or false" };

/** Returns the type of a schema with its alternatives. */
export function typeText(referable: Referable<ResponseSchema>): string {
  const schema = resolve<ResponseSchema>(referable);
  if (schema.const !== undefined) return String(schema.const);
  if (schema.oneOf !== undefined) return [...new Set(schema.oneOf.map(typeText))].join(" or ");
  const [type = "any value", ...others] = [schema.type ?? []].flat();
  return [type === "array" ? listText(schema) : valueText(schema, type), ...others].join(" or ");
}

function listText({ items = {} }: ResponseSchema): string {
  const { enum: values = [], type } = resolve<ResponseSchema>(items);
  if (values.length > listedValuesMax) return "list of values";
  return `list of ${typeText(items)}${values.length === 0 && typeof type === "string" && type !== "array" ? "s" : ""}`;
}

function valueText({ enum: values = [], format }: ResponseSchema, type: string): string {
  const known = values.filter((value) => value !== null);
  if (known.length > listedValuesMax) return `one of ${known.length}`;
  return known.length > 0 ? known.join(", ") : (format ?? words[type] ?? type);
}

/** Returns the type of a value that clients send, with its bounds and default. */
export function constraintText(schema: Schema): string {
  const { items, maxItems, maxLength, default: initial } = schema;
  const { minimum, exclusiveMinimum, maximum } = items ?? schema;
  return [
    typeText(schema),
    maximum === undefined ? [] : `${minimum ?? `above ${exclusiveMinimum}`} to ${maximum}`,
    maxItems === undefined ? [] : `at most ${maxItems}`,
    maxLength === undefined ? [] : `at most ${maxLength} characters`,
    initial === undefined ? [] : `default ${[initial].flat().join(", ")}`,
  ]
    .flat()
    .join(", ");
}

/** What numbers of a parameter count, by its name. */
const units: readonly (readonly [pattern: RegExp, unit: string])[] = [
  [/(^|_)(price|msrp)$/, "dollars"],
  [/^radius$|(^|_)(miles|mileage)$/, "miles"],
  [/^postal_code$/, "ZIP code"],
];

/** Returns the type of a parameter in a few words, as its field shows it. */
export function shortType({ name, schema }: { readonly name: string; readonly schema: Schema }): string {
  const unit = units.find(([pattern]) => pattern.test(name))?.[1];
  if (schema.type === "array") return "list";
  return unit ?? constraintText(schema).replace(/^whole number, /, "");
}
