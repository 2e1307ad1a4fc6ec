/** Types of `files.gen.js`. */
import type { FileKind, Validator } from "../schema.ts";

/** Validators of files, by kind. They report all errors. */
export const validators: Readonly<Record<FileKind, Validator>>;
