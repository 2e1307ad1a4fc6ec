/** Exports that visitors price and start on a page. */
import { v7 as uuidV7 } from "uuid";
import type { RequestContext } from "../../http/context.ts";
import { type ExportPrice, priceExport } from "../../http/exports/charged-export.ts";
import { type BackgroundOrder, type StartedExport, StartedExports } from "../../http/exports/started-exports.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { type CountedPage, queryString, type TextParameters } from "../../operations/caller.ts";
import type { Visitor } from "../shell/visitor.ts";

interface PageDetails {
  readonly query: TextParameters;
  /** The published version that the export is written from. */
  readonly version: string;
}

export type VisitorExport = StartedExport<PageDetails>;

export class VisitorExports extends StartedExports<PageDetails> {
  constructor(private readonly site: Pick<SiteServices, "exports" | "exportAdmission" | "current">) {
    super(site);
  }

  /** Returns the rows and the price of an export on a page. Throws the Refusal of the API. */
  price(context: RequestContext, visitor: Visitor, query: TextParameters, page: CountedPage): Promise<ExportPrice> {
    const { caller, ...order } = orderOf(context, visitor, query, page);
    const { signal } = new AbortController();
    return priceExport(this.site.exports, this.site.exportAdmission, { ...order, caller: { ...caller, signal } });
  }

  /** Starts an export as a visitor. Throws the Refusal of the API before it starts. */
  async startFor(context: RequestContext, visitor: Visitor, query: TextParameters): Promise<VisitorExport> {
    const version = await this.site.current.use(async ({ manifest }) => manifest.version);
    const page = { isCounted: false };
    const price = await this.price(context, visitor, query, page);
    return this.start(orderOf(context, visitor, query, page), price, { query, version });
  }
}

const orderOf = (
  { state: { log } }: RequestContext,
  { identity }: Visitor,
  query: TextParameters,
  page: CountedPage,
): BackgroundOrder => ({
  queryString: queryString(query),
  log,
  caller: { identity, requestId: uuidV7(), arrivedAtMs: performance.now(), page },
});
