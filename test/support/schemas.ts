/** The document's schemas, compiled to check answers and examples. */
import { createAjv } from "../../src/contract/build/compile.ts";
import { document } from "../../src/contract/document.ts";

const documentId = "https://carquet.invalid/openapi.json";

/** Compiles schemas that may refer to the document. */
export const ajv = createAjv().addSchema(document, documentId);

/** Returns a schema that refers to a path in the document. */
export function schemaAt(...path: readonly string[]): { readonly $ref: string } {
  const pointer = path.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).map(encodeURIComponent);
  return { $ref: `${documentId}#/${pointer.join("/")}` };
}
