/** Types of `mapping1.gen.js`. */
import type { Validator } from "../schema.ts";

/** The validator of a mapping of version 1. It reports all errors. */
export const validators: { readonly mapping1: Validator };
