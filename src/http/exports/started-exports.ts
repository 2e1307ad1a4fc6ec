/**
 * Exports that pages and agents have started: written to the spool in the background, found and stopped by their account alone. Kept in memory, like
 * their files.
 */
import { randomUUID } from "node:crypto";
import { exportUnits, type UsageClass } from "../../accounts/policy/prices.ts";
import type { Refusal } from "../../contract/errors.ts";
import { Abandoned } from "../../db/job.ts";
import { type Caller, clientOfSignal } from "../../operations/caller.ts";
import { loggedRefusalOf } from "../middleware/handle-errors.ts";
import type { SiteServices } from "../service/service-state.ts";
import { type ExportOrder, type ExportPrice, spoolExport } from "./charged-export.ts";

/** A started export, with what its page or task shows besides. */
export interface StartedExport<Details> {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly price: ExportPrice;
  readonly details: Details;
  readonly startedAt: Date;
  /** When its state changed last. */
  changedAt: Date;
  state: "writing" | "written" | "stopped" | "failed";
  /** Rows that are written, or are being written. */
  rows: number;
  bytes: number;
  /** What was charged; while it is written, what stopping would cost. */
  micros: number;
  /** The class of the charge of a written export. */
  usageClass?: UsageClass;
  /** Why it failed. */
  refusal?: Refusal;
}

/** An export to start, whose signal is that of the registry. */
export interface BackgroundOrder extends Omit<ExportOrder, "caller" | "onRows"> {
  readonly caller: Omit<Caller, "client">;
}

/** The most exports of an account that are remembered: those that are written, and the newest others. */
const rememberedMax = 50;

export class StartedExports<Details> {
  private readonly started = new Map<
    string,
    { readonly shown: StartedExport<Details>; readonly work: AbortController }
  >();

  constructor(private readonly services: Pick<SiteServices, "exports" | "exportAdmission">) {}

  /** Starts an export that has been priced. */
  start(order: BackgroundOrder, price: ExportPrice, details: Details): StartedExport<Details> {
    const { exports, exportAdmission } = this.services;
    const { identity, requestId } = order.caller;
    const startedAt = new Date();
    const shown: StartedExport<Details> = {
      id: randomUUID(),
      accountId: identity.key.accountId,
      requestId,
      price,
      details,
      startedAt,
      changedAt: startedAt,
      state: "writing",
      rows: 0,
      bytes: 0,
      micros: 0,
    };
    const work = new AbortController();
    this.remember(shown, work);
    const onRows = (rows: number): void => {
      shown.rows = Math.min(rows, price.rows);
      shown.micros = shown.rows === 0 ? 0 : (price.micros / exportUnits(price.rows)) * exportUnits(shown.rows);
    };
    const end = (outcome: Partial<StartedExport<Details>>): void =>
      void Object.assign(shown, outcome, { changedAt: new Date() });
    const caller = { ...order.caller, client: clientOfSignal(work.signal) };
    spoolExport(exports, exportAdmission, { ...order, caller, onRows }).then(
      (written) => end({ ...written, state: "written" }),
      (thrown: unknown) => {
        if (thrown instanceof Abandoned) return end({ state: "stopped" });
        end({ state: "failed", micros: 0, refusal: loggedRefusalOf(thrown, { requestId, log: order.log }) });
      },
    );
    return shown;
  }

  /** Returns an export of an account; undefined if it has none of this id, or it is forgotten. */
  find(accountId: string, id: string): StartedExport<Details> | undefined {
    const shown = this.started.get(id)?.shown;
    return shown?.accountId === accountId ? shown : undefined;
  }

  /** Ends the writing of an export. */
  stop({ id }: StartedExport<Details>): void {
    this.started.get(id)?.work.abort(new Abandoned("The account has stopped the export."));
  }

  private remember(shown: StartedExport<Details>, work: AbortController): void {
    const own = [...this.started.values()].filter((other) => other.shown.accountId === shown.accountId);
    const oldest = own.find((other) => other.shown.state !== "writing");
    if (own.length >= rememberedMax && oldest !== undefined) this.started.delete(oldest.shown.id);
    this.started.set(shown.id, { shown, work });
  }
}
