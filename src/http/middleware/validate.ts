/** Decodes and validates a request against the document, and passes it to the next middleware. */
import { decoderOf } from "../../contract/decode.ts";
import type { OperationId } from "../../contract/types.ts";
import type { OperationStep, ValidatedMiddleware } from "../context.ts";

export function validate<Id extends OperationId>(id: Id, next: ValidatedMiddleware<Id>): OperationStep {
  const decode = decoderOf(id);
  return (context) => next(context, decode(context.querystring, context.params ?? {}));
}
