/** JSON Schemas compiled once: data from outside is checked where it enters, and typed from there on. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { Failure } from "../base/failure.ts";

/** One compiler for all schemas; extensions (`x-...`) are ours to read and its to ignore. */
export const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, useDefaults: true });
formats.default(ajv);

/** A check that a value is a `T`, or a failure that names the source, the place and the rule. */
export function checker<T>(schema: object): (value: unknown, source: string) => T {
  const validate: ValidateFunction<T> = ajv.compile<T>(schema);
  return (value, source) => {
    if (validate(value)) return value;
    throw new Failure(`${source}: ${(validate.errors ?? []).map(explained).join("; ")}.`);
  };
}

/** What one rule found, with its place in the value. */
export function explained(error: ErrorObject): string {
  const place = error.instancePath === "" ? "" : `${error.instancePath.slice(1).replaceAll("/", ".")} `;
  const more = error.keyword === "additionalProperties" ? ` (${String(error.params.additionalProperty)})` : "";
  const allowed = error.keyword === "enum" ? `: ${JSON.stringify(error.params.allowedValues)}` : "";
  return `${place}${error.message ?? error.keyword}${more}${allowed}`;
}
