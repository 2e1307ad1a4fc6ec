/** Types of `mapping.gen.js`. */
import type { Validator } from "../schema.ts";

/** The validator of a mapping. It reports all errors. */
export const validators: { readonly mapping: Validator };
