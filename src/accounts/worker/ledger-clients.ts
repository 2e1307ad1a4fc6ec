/**
 * The ledger clients of a service, each with a worker: one writes the ledger, one reads keys and usage, so that charges never wait for
 * look-ups, and one works for pages, so that neither waits for them. The worker for pages starts with its first task.
 */
import type { Synchronous } from "../../db/sqlite.ts";
import { LedgerClient, type LedgerClientOptions } from "./ledger-client.ts";

type LedgerEvents = Pick<LedgerClientOptions, "onBalances" | "onAvailabilityChange" | "onBatch" | "onUnrefunded">;

export interface LedgerClientsOptions extends LedgerEvents {
  readonly synchronous: Synchronous;
  /** The module that the writing worker runs; tests pass one that crashes. */
  readonly workerModule?: URL | undefined;
}

const ledgerWorkerModule = new URL("./ledger-worker.ts", import.meta.url);

/** A service that stops waits for longer than `refundMs`, and then kills itself. */
const limits = { batchMax: 512, waitingMax: 4096, stalledMs: 5_000, restartMs: 1_000, refundMs: 3_000 } as const;
/** How long a worker waits for the lock of another process that writes. */
const busyMs = 2_000;
/**
 * A batch that takes longer has already failed. A batch whose commit has an unknown outcome ends when the outcome is known; its charges are then
 * refunded.
 */
const replyMs = 10_000;
/** How long PostgreSQL keeps a transaction of a worker that hangs: less than others wait for its locks. */
const idleMs = 1_500;

export class LedgerClients {
  readonly ledger: LedgerClient;
  /** Reads keys and usage. */
  readonly reader: LedgerClient;
  /** Reads and changes accounts for pages. Not part of readiness. */
  readonly pages: LedgerClient;
  private readonly outages = new Set<LedgerClientOptions["probe"]>();

  constructor(location: string, { synchronous, workerModule = ledgerWorkerModule, ...events }: LedgerClientsOptions) {
    const settings = { location, busyMs, synchronous, idleMs, replyMs, settleMs: Number.MAX_SAFE_INTEGER };
    const onAvailabilityChange =
      (probe: LedgerClientOptions["probe"]) =>
      (isDown: boolean, reason: string): void => {
        const wasAvailable = this.isAvailable;
        if (isDown) this.outages.add(probe);
        else this.outages.delete(probe);
        if (this.isAvailable !== wasAvailable) events.onAvailabilityChange(isDown, reason);
      };
    const optionsOf = (probe: LedgerClientOptions["probe"], module: URL): LedgerClientOptions => ({
      ...limits,
      ...events,
      probe,
      workerModule: module,
      onAvailabilityChange: onAvailabilityChange(probe),
    });
    this.ledger = new LedgerClient({ ...settings, isReadOnly: false }, optionsOf("probeWrite", workerModule));
    this.reader = new LedgerClient({ ...settings, isReadOnly: true }, optionsOf("probeRead", ledgerWorkerModule));
    this.pages = new LedgerClient(
      { ...settings, isReadOnly: false },
      {
        ...optionsOf("probeRead", ledgerWorkerModule),
        onBatch: () => undefined,
        onAvailabilityChange: () => undefined,
      },
    );
  }

  /** Starts the workers, which create the file if it does not exist. Throws a UserError if it cannot be opened. */
  async open(): Promise<void> {
    await this.ledger.open();
    await this.reader.open();
  }

  get waitingTasks(): number {
    return this.ledger.waitingTasks + this.reader.waitingTasks;
  }

  /** False while charges cannot be written or keys cannot be read. */
  get isAvailable(): boolean {
    return this.outages.size === 0;
  }

  /** Waits for all tasks, then closes the file. Does not resolve while the disk hangs. */
  async close(): Promise<void> {
    await Promise.all([this.ledger.close(), this.reader.close(), this.pages.close()]);
  }
}
