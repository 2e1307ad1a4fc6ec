/** The document's schemas, compiled: what a test checks answers and examples with. */
import { createAjv } from "../../src/contract/build/compile.ts";
import { document } from "../../src/contract/document.ts";

const documentId = "https://carquet.invalid/openapi.json";

/** Compiles schemas that may refer into the document. */
export const ajv = createAjv().addSchema(document, documentId);

/** A schema that refers into the document by a path of names. */
export function refer(...path: readonly string[]): { readonly $ref: string } {
  const pointer = path.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).map(encodeURIComponent);
  return { $ref: `${documentId}#/${pointer.join("/")}` };
}
