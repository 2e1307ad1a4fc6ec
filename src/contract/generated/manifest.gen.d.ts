/** Types of `manifest.gen.js`. */
import type { Validator } from "../schema.ts";

/** The validator of a manifest. It reports the first error. */
export const validators: { readonly manifest: Validator };
