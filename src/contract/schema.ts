/** Data from outside is checked where it enters, and typed from there on. The validators are generated: `npm run generate`. */
import type { ErrorObject } from "ajv";
import { UserError } from "../base/user-error.ts";
import { validators } from "./generated/files.gen.js";

/** A generated validator; `errors` holds what the last call found. */
export interface Validator {
  (value: unknown): boolean;
  readonly errors?: readonly ErrorObject[] | null;
}

/** Files that have a JSON Schema, by the name of that schema: `schemas/manifest.json` is that of a manifest. */
export type FileKind = "manifest" | "mapping";

/** Returns a check that a value is a `T`; it throws a Failure that names the source, the place and the rule. */
export function checker<T>(kind: FileKind): (value: unknown, source: string) => T {
  const validate = validators[kind];
  const isValid = (value: unknown): value is T => validate(value);
  return (value, source) => {
    if (isValid(value)) return value;
    throw new UserError(`${source}: ${(validate.errors ?? []).map(describeSchemaErrors).join("; ")}.`);
  };
}

/** What one rule found, with its place in the value. */
export function describeSchemaErrors(error: ErrorObject): string {
  const place = error.instancePath === "" ? "" : `${error.instancePath.slice(1).replaceAll("/", ".")} `;
  const more = error.keyword === "additionalProperties" ? ` (${String(error.params.additionalProperty)})` : "";
  const allowed = error.keyword === "enum" ? `: ${JSON.stringify(error.params.allowedValues)}` : "";
  return `${place}${error.message ?? error.keyword}${more}${allowed}`;
}
