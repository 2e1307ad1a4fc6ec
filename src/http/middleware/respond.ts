/** Responds to a metered operation over HTTP, in the negotiated format. A request whose preconditions do not ask for the response is free. */
import { document, type Operation, operation } from "../../contract/document.ts";
import type { RequestOf } from "../../contract/types.ts";
import type { TableEncoder } from "../../formats/table-encoder.ts";
import { type FormatName, pageFormats } from "../../formats/table-formats.ts";
import { answererOf, type OperationServices, type Presenter } from "../../operations/answer.ts";
import type { EndpointId } from "../../operations/caller.ts";
import { type ComputedResult, keyTextOf } from "../../operations/response-cache.ts";
import { type Result, resultTable } from "../../operations/result.ts";
import { callerOf, type Middleware, type RequestContext, requireConnected, setUsageHeaders } from "../context.ts";
import {
  contentTypeOf,
  entityTag,
  hasFormats,
  isDecidedByExistence,
  isNotModified,
  negotiateFormat,
  preconditionOf,
  setFileName,
  setPageHeaders,
} from "../responses/headers.ts";

/** Distinguishes releases whose responses to the same request differ. */
const documentTag = entityTag(JSON.stringify(document));

interface Response {
  readonly format: FormatName;
  readonly content: Buffer;
  readonly pagination: Result["pagination"];
}

export function respond<Id extends EndpointId>(
  id: Id,
  services: OperationServices & { encoder: TableEncoder },
): Middleware {
  const answer = answererOf(services);
  const definition = operation(id);
  return async (context) => {
    const { querystring, params } = context;
    const caller = callerOf(context);
    const isFree = isDecidedByExistence(context);
    const answered = await answer(
      isFree ? { ...caller, isFree, idempotencyKey: undefined } : caller,
      { id, querystring, params },
      (request) => presenterOf(id, request, context, services.encoder),
    );
    context.set("Cache-Control", "private, no-cache");
    if (answered === undefined || (isFree && isNotModified(context, context.response.get("ETag")))) {
      context.status = 304;
      return;
    }
    const { format, content, pagination } = answered.body;
    if (hasFormats(definition) && pagination !== undefined && "total" in pagination)
      setPageHeaders(context, pagination);
    setUsageHeaders(context, answered.usage, services.accounts);
    // Before the body: Koa looks up a media type when a body is set without one.
    context.set("Content-Type", contentTypeOf(format));
    context.body = content;
  };
}

function presenterOf<Id extends EndpointId>(
  id: Id,
  request: RequestOf<Id>,
  context: RequestContext,
  encoder: TableEncoder,
): Presenter<Response> {
  const definition: Operation = operation(id);
  const { format: requested, csv_raw: isRaw }: { readonly format?: FormatName; readonly csv_raw?: boolean } =
    request.query;
  const format = hasFormats(definition) ? negotiateFormat(context, pageFormats, requested) : "json";
  return {
    isKnown: ({ meta: { data_version, as_of } }) => {
      context.set("Carquet-Version", data_version);
      const key = keyTextOf({ version: data_version, operation: id, request });
      const tag = entityTag(`${documentTag} ${format} ${key}`);
      context.set("ETag", tag);
      // Only the computed answer can say whether a resource exists.
      if (!isDecidedByExistence(context) && preconditionOf(context, tag) === "not modified") return true;
      if (requested !== undefined && format !== "json") setFileName(context, definition, format, as_of);
      return false;
    },
    bodyOf: async (computed) => {
      const content = await contentOf(computed);
      requireConnected(context);
      return { format, content, pagination: computed.result.pagination };
    },
  };

  async function contentOf({ result, json }: ComputedResult): Promise<Buffer> {
    return format === "json" ? json : encoder.encode(format, await resultTable(id, request.query, result), isRaw);
  }
}
