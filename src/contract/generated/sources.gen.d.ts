/** Types of `sources.gen.js`. */
import type { Validator } from "../schema.ts";

/** The validator of sources. It reports all errors. */
export const validators: { readonly sources: Validator };
