/** Types of `parameters.gen.js`. */
import type { Parameter } from "../operations.ts";
import type { Validator } from "../schema.ts";
import type { OperationId } from "../types.ts";

/** Validators of parameters and of the properties of bodies, by operation, location and name. They stop at the first error. */
export const validators: Readonly<
  Record<OperationId, Readonly<Record<Parameter["in"] | "body", Readonly<Record<string, Validator>>>>>
>;
