/** Types of `files.gen.js`. */
import type { FileKind, Validator } from "../schema.ts";

/** Validators of files, by their kind. */
export const validators: Readonly<Record<FileKind, Validator>>;
