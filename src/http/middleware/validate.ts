/** Decodes and validates the request as the document says, and hands it to the step that comes next. */
import { decoderOf } from "../../contract/decode.ts";
import type { OperationId } from "../../contract/types.ts";
import type { RequestStep, Step } from "../context.ts";

export function validate<Id extends OperationId>(id: Id, next: RequestStep<Id>): Step {
  const decode = decoderOf(id);
  return (exchange) => next(exchange, decode(exchange.querystring, exchange.params ?? {}));
}
