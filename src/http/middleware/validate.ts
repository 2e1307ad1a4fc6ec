/** Decodes and validates the request as the document says, and hands it to the step that comes next. */
import { decoderOf } from "../../contract/decode.ts";
import type { OperationId } from "../../contract/types.ts";
import type { Middleware, ValidatedMiddleware } from "../context.ts";

export function validate<Id extends OperationId>(id: Id, next: ValidatedMiddleware<Id>): Middleware {
  const decode = decoderOf(id);
  return (context) => next(context, decode(context.querystring, context.params ?? {}));
}
