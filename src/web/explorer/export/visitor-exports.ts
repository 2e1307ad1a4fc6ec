/** Exports that visitors start on a page: written in the background, polled, stopped, and downloaded from the spool. Kept in memory, like their files. */
import { randomUUID } from "node:crypto";
import { v7 as uuidV7 } from "uuid";
import { exportUnits } from "../../../accounts/policy/prices.ts";
import { Abandoned } from "../../../db/job.ts";
import type { RequestContext } from "../../../http/context.ts";
import { type ExportOrder, type ExportPrice, priceExport, spoolExport } from "../../../http/exports/charged-export.ts";
import { loggedRefusalOf } from "../../../http/middleware/handle-errors.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { type Caller, type CountedPage, queryString, type TextParameters } from "../../../operations/caller.ts";
import type { Visitor } from "../../shell/visitor.ts";

/** An export, as its page shows it. */
export interface VisitorExport {
  readonly id: string;
  readonly accountId: string;
  readonly query: TextParameters;
  /** The published version that it is written from. */
  readonly version: string;
  readonly price: ExportPrice;
  state: "writing" | "written" | "stopped" | "failed";
  /** Rows that are written, or are being written. */
  rows: number;
  bytes: number;
  /** What was charged; while it is written, what stopping would cost. */
  micros: number;
  /** Why it failed. */
  reason: string;
}

type ExportSiteServices = Pick<SiteServices, "exports" | "exportAdmission" | "current">;

/** The most exports of an account that are remembered, the newest. */
const rememberedMax = 50;

export class VisitorExports {
  private readonly started = new Map<string, { readonly shown: VisitorExport; readonly work: AbortController }>();

  constructor(private readonly services: ExportSiteServices) {}

  /** Returns the rows and the price of an export on a page. Throws the Refusal of the API. */
  price(context: RequestContext, visitor: Visitor, query: TextParameters, page: CountedPage): Promise<ExportPrice> {
    const { exports, exportAdmission } = this.services;
    const { signal } = new AbortController();
    return priceExport(exports, exportAdmission, orderOf(context, visitor, query, { signal, page }));
  }

  /** Starts an export as a visitor. Throws the Refusal of the API before it starts. */
  async start(context: RequestContext, visitor: Visitor, query: TextParameters): Promise<VisitorExport> {
    const { exports, exportAdmission, current } = this.services;
    const version = await current.use(async ({ manifest }) => manifest.version);
    const page = { isCounted: false };
    const price = await this.price(context, visitor, query, page);
    const work = new AbortController();
    const shown: VisitorExport = {
      id: randomUUID(),
      accountId: visitor.identity.key.accountId,
      query,
      version,
      price,
      state: "writing",
      rows: 0,
      bytes: 0,
      micros: 0,
      reason: "",
    };
    const onRows = (rows: number): void => {
      shown.rows = Math.min(rows, price.rows);
      shown.micros = shown.rows === 0 ? 0 : (price.micros / exportUnits(price.rows)) * exportUnits(shown.rows);
    };
    this.remember(shown, work);
    const order = { ...orderOf(context, visitor, query, { signal: work.signal, page }), onRows };
    const { requestId, log } = context.state;
    spoolExport(exports, exportAdmission, order).then(
      ({ rows, bytes, micros }) => Object.assign(shown, { state: "written", rows, bytes, micros }),
      (thrown: unknown) => {
        if (thrown instanceof Abandoned) return Object.assign(shown, { state: "stopped" });
        const { message: reason } = loggedRefusalOf(thrown, { requestId, log });
        return Object.assign(shown, { state: "failed", micros: 0, reason });
      },
    );
    return shown;
  }

  /** Returns an export of an account; undefined if it has none of this id, or it is forgotten. */
  find(accountId: string, id: string): VisitorExport | undefined {
    const shown = this.started.get(id)?.shown;
    return shown?.accountId === accountId ? shown : undefined;
  }

  /** Ends the writing of an export. */
  stop({ id }: VisitorExport): void {
    this.started.get(id)?.work.abort(new Abandoned("The visitor has stopped the export."));
  }

  private remember(shown: VisitorExport, work: AbortController): void {
    const own = [...this.started.values()].filter((other) => other.shown.accountId === shown.accountId);
    const [oldest] = own;
    if (own.length >= rememberedMax && oldest !== undefined) this.started.delete(oldest.shown.id);
    this.started.set(shown.id, { shown, work });
  }
}

const orderOf = (
  { state: { log } }: RequestContext,
  { identity }: Visitor,
  query: TextParameters,
  called: Pick<Caller, "signal" | "page">,
): ExportOrder => ({
  queryString: queryString(query),
  log,
  caller: { identity, requestId: uuidV7(), arrivedAtMs: performance.now(), ...called },
});
