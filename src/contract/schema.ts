/** JSON Schemas compiled once: data from outside is checked where it enters, and typed from there on. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isDay } from "../base/day.ts";
import { Failure } from "../base/failure.ts";

/** One compiler for all schemas; extensions (`x-...`) are ours to read and its to ignore. */
export const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, useDefaults: true });
formats.default(ajv);
// What the format of the package also takes, `urn:uuid:...`, is no dealer's id.
ajv.addFormat("uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);

// A day, or a time with a zone, that the calendar has.
ajv.addFormat(
  "day-or-time",
  (text) => isDay(text.slice(0, 10)) && (text.length === 10 || !Number.isNaN(Date.parse(text))),
);

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
