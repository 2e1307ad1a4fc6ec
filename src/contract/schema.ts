/** File validation: checks parsed files against the JSON Schemas of `schemas/` with validators that `bin/generate.cjs` writes. */
import type { ErrorObject } from "ajv";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { validators as manifest } from "./generated/manifest.gen.js";
import { validators as mapping } from "./generated/mapping.gen.js";
import { validators as sources } from "./generated/sources.gen.js";

/** A generated validator. `errors` holds the errors of the last call. */
export interface Validator {
  (value: unknown): boolean;
  readonly errors?: readonly ErrorObject[] | null;
}

export type FileKind = "manifest" | "mapping" | "sources";

const validators: Readonly<Record<FileKind, Validator>> = { ...manifest, ...mapping, ...sources };

/** Returns a function that checks and types a parsed file. It throws a UserError with the source and the violations. */
export function checker<T>(kind: FileKind): (value: unknown, source: string) => T {
  const validate = validators[kind];
  const isValid = (value: unknown): value is T => validate(value);
  return (value, source) => {
    if (isValid(value)) return value;
    throw new UserError(`${source}: ${(validate.errors ?? []).map(describeSchemaError).join("; ")}.`);
  };
}

/** Describes one schema violation: path, message and the offending or accepted values; accepted properties, if the validator is verbose. */
export function describeSchemaError(error: ErrorObject): string {
  const path = error.instancePath === "" ? "" : `${error.instancePath.slice(1).replaceAll("/", ".")} `;
  const property = error.keyword === "additionalProperties" ? ` (${String(error.params.additionalProperty)})` : "";
  const accepted = error.keyword === "enum" ? `: ${JSON.stringify(error.params.allowedValues)}` : "";
  const { properties } = error.parentSchema ?? {};
  const known = property !== "" && isObject(properties) ? `: expected ${Object.keys(properties).join(", ")}` : "";
  return `${path}${error.message ?? error.keyword}${property}${accepted}${known}`;
}
