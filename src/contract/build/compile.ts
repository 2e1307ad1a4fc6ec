/** Schema compiler: compiles JSON Schemas to validator code with Ajv. Runs at build time and in tests, never in the service. */
import { _, Ajv2020, type Options } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { codePoints, formats } from "../formats.ts";

/** Returns an Ajv instance with the custom formats. It ignores extension keywords (`x-...`). */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format);
  return ajv;
}

/** The module of the formats, seen from the generated code. */
const formatsModule = "../formats.ts";

/** Ajv run-time functions that generated code requires, and their replacements in `formats.ts`. */
const runtimeReplacements: readonly (readonly [from: string, to: string])[] = [
  ['require("ajv/dist/runtime/ucs2length").default', codePoints.name],
];

/**
 * Returns the text of an ES module that exports `validators`. `table` is an object literal whose leaves are schema ids.
 * Throws a TypeError if a schema needs a format or a run-time function that the generated module cannot import.
 */
export function generateValidatorModule(
  schemas: ReadonlyMap<string, object>,
  table: string,
  options: Options = {},
): string {
  const ajv = createAjv({ ...options, code: { source: true, esm: true, lines: true, formats: _`formats` } });
  for (const [id, schema] of schemas) ajv.addSchema(schema, id);
  const ids = Object.fromEntries([...schemas.keys()].map((id) => [id, id]));
  const code = runtimeReplacements.reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    standalone
      .default(ajv, ids)
      .replace(/^"use strict";/, "")
      .replaceAll(/^export const /gm, "const "),
  );
  const [required] = /require\([^)]*\)/.exec(code) ?? [];
  if (required !== undefined)
    throw new TypeError(`Unsupported ${required}: expected a replacement in src/contract/build/compile.ts.`);
  for (const [, dotted, quoted] of code.matchAll(/\bformats(?:\.(\w+)|\["([^"]+)"\])/g)) {
    const name = dotted ?? quoted ?? "";
    if (!(name in formats)) throw new TypeError(`Unknown format ${name}: expected a row in src/contract/formats.ts.`);
  }
  return `/** Generated. */\nimport { codePoints, formats } from ${JSON.stringify(formatsModule)};\n\n${code}\n\nexport const validators = ${table};\n`;
}
