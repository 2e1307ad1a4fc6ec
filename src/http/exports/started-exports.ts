/** Exports that agents have started: written to the spool in the background, found and stopped by their account alone. Kept in memory, like their files. */
import { randomUUID } from "node:crypto";
import type { Refusal } from "../../contract/errors.ts";
import { Abandoned } from "../../db/job.ts";
import type { Usage } from "../../operations/answer.ts";
import { type Caller, clientOfSignal } from "../../operations/caller.ts";
import { loggedRefusalOf } from "../middleware/handle-errors.ts";
import type { ExportOrder } from "./charged-export.ts";
import type { FileSize } from "./writer-process.ts";

export interface StartedExport {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  /** Where its file is downloaded. */
  readonly uri: string;
  readonly startedAt: Date;
  /** When its state changed last. */
  changedAt: Date;
  state: "writing" | "written" | "stopped" | "failed";
  /** What was written and charged. */
  written?: FileSize & Usage;
  /** Why it failed. */
  refusal?: Refusal;
}

/** An export to start, whose signal is that of the registry. */
export interface BackgroundOrder extends Omit<ExportOrder, "caller"> {
  readonly caller: Omit<Caller, "client">;
}

/** The most exports of an account that are remembered: those that are being written, and the newest others. */
const rememberedMax = 50;

export class StartedExports {
  private readonly started = new Map<string, { readonly shown: StartedExport; readonly work: AbortController }>();

  constructor(private readonly write: (order: ExportOrder) => Promise<FileSize & Usage>) {}

  /** Starts an export that has been priced. */
  start(order: BackgroundOrder, uri: string): StartedExport {
    const { identity, requestId } = order.caller;
    const startedAt = new Date();
    const shown: StartedExport = {
      id: randomUUID(),
      accountId: identity.key.accountId,
      requestId,
      uri,
      startedAt,
      changedAt: startedAt,
      state: "writing",
    };
    const work = new AbortController();
    this.remember(shown, work);
    const end = (outcome: Partial<StartedExport>): void =>
      void Object.assign(shown, outcome, { changedAt: new Date() });
    const caller = { ...order.caller, client: clientOfSignal(work.signal) };
    this.write({ ...order, caller }).then(
      (written) => end({ state: "written", written }),
      (thrown: unknown) => {
        if (thrown instanceof Abandoned) return end({ state: "stopped" });
        end({ state: "failed", refusal: loggedRefusalOf(thrown, { requestId, log: order.log }) });
      },
    );
    return shown;
  }

  /** Returns an export of an account; undefined if it has none of this id, or it is forgotten. */
  find(accountId: string, id: string): StartedExport | undefined {
    const shown = this.started.get(id)?.shown;
    return shown?.accountId === accountId ? shown : undefined;
  }

  /** Ends the writing of an export. */
  stop({ id }: StartedExport): void {
    this.started.get(id)?.work.abort(new Abandoned("The account has stopped the export."));
  }

  private remember(shown: StartedExport, work: AbortController): void {
    const own = [...this.started.values()].filter((other) => other.shown.accountId === shown.accountId);
    const oldest = own.find((other) => other.shown.state !== "writing");
    if (own.length >= rememberedMax && oldest !== undefined) this.started.delete(oldest.shown.id);
    this.started.set(shown.id, { shown, work });
  }
}
