/**
 * Computes the response of a metered operation in the negotiated format, or takes it from the response cache, and charges for it before it is
 * sent. A client that has the response already gets a 304, which is neither computed nor charged.
 */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import { document, type Operation, operation } from "../../contract/document.ts";
import type { FormatName, TableEncoder } from "../../formats/table-formats.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { type ChargeRequest, jobOf, type PricedMiddleware } from "../context.ts";
import { type Endpoint, endpoints, jsonBody } from "../endpoints.ts";
import { entityTag, matchesEntityTag } from "../etag.ts";
import { contentTypeOf, setFileName, setPageHeaders } from "../formats/headers.ts";
import { hasFormats, negotiateFormat } from "../formats/negotiate.ts";
import { resultTable } from "../formats/tables.ts";
import { keyTextOf, type ResponseCache } from "../response-cache.ts";

/** Distinguishes releases whose responses to the same request differ. */
const documentTag = entityTag(JSON.stringify(document));

export interface RespondServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
  readonly encoder: TableEncoder;
}

export function respond<Id extends MeteredId>(
  id: Id,
  { current, responseCache, encoder }: RespondServices,
  charge: ChargeRequest,
): PricedMiddleware<Id> {
  const [endpoint, definition]: readonly [Endpoint<Id>, Operation] = [endpoints[id], operation(id)];
  return async (context, request, hold) => {
    const { format: requested }: { readonly format?: FormatName } = request.query;
    const format = hasFormats(definition) ? negotiateFormat(context, requested) : "json";
    const job = jobOf(context);
    const response = await job.race(
      current.use(async (version) => {
        const key = { version: version.manifest.version, operation: id, format, request };
        context.set("X-Data-Version", key.version);
        if (matchesEntityTag(context, entityTag(`${documentTag} ${keyTextOf(key)}`))) return undefined;
        if (requested !== undefined && format !== "json") setFileName(context, definition, format, version.meta.as_of);
        return responseCache.getOrCompute(key, job, async (sharedJob) => {
          const result = await endpoint(request, version.withJob(sharedJob));
          const body =
            format === "json"
              ? Buffer.from(jsonBody(result))
              : await encoder.encode(format, resultTable(id, request.query, result));
          return { body, pagination: result.pagination };
        });
      }),
    );
    context.set("Cache-Control", "private, no-cache");
    if (response === undefined) {
      context.status = 304;
      return;
    }
    if (hasFormats(definition) && response.pagination !== undefined) setPageHeaders(context, response.pagination);
    await charge(context, hold);
    // Before the body: Koa looks up a media type when a body is set without one.
    context.set("Content-Type", contentTypeOf(format));
    context.body = response.body;
  };
}
