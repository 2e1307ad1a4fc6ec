/**
 * Ledger client: the service's proxy for a ledger worker. Tasks that arrive while a batch runs form the next batch, so batches grow
 * with the load. A crashed worker is restarted on the next call. Charges in flight at a crash are looked up by the new worker: those
 * on disk succeed, the others fail. A batch that takes too long fails; charges that reach the disk after that are refunded. While the
 * ledger is unavailable, a probe once a second detects its recovery, also without requests.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { UserError } from "../../base/user-error.ts";
import { startWorker } from "../../base/worker-threads.ts";
import { refuse } from "../../contract/errors.ts";
import type { AccountBalance, ChargeEntry } from "../ledger/charging.ts";
import type { BatchResult, TaskOutcome } from "./group-commit.ts";
import type { WorkerReady, WorkerSettings } from "./ledger-worker.ts";
import type { LedgerTask, TaskInput, TaskName, TaskOutput } from "./tasks.ts";

export interface LedgerClientOptions {
  /** The most tasks in one batch. */
  readonly batchMax: number;
  /** The most queued tasks; more are rejected. */
  readonly waitingMax: number;
  /** A batch that runs longer fails, and so do the queue and all new calls until it ends. */
  readonly stalledMs: number;
  /** The least time between two starts of the worker, and between two probes. */
  readonly restartMs: number;
  readonly refundMs: number;
  /** The task that fails as long as the ledger is unavailable. */
  readonly probe: "probeWrite" | "probeRead";
  readonly workerModule: URL;
  /** Called with the new balances of charged accounts before any call of the batch resolves. */
  readonly onBalances: (balances: readonly AccountBalance[]) => void;
  /** Called when a batch ends, with the time since it was sent. */
  readonly onBatch: (ms: number) => void;
  /** Called when the ledger becomes unavailable, with the reason, and when it recovers. */
  readonly onAvailabilityChange: (isDown: boolean, reason: string) => void;
  /** Called by `close` with the charges of refused requests that may be on disk and are not refunded. */
  readonly onUnrefunded: (charges: readonly ChargeEntry[]) => void;
}

interface PendingCall {
  readonly task: { readonly name: TaskName; readonly input: TaskInput<TaskName> };
  /** Called when the outcome is known, before any call of the batch resolves. */
  readonly beforeSettle: () => void;
  /** Resolves or rejects the call. */
  readonly settle: (outcome: TaskOutcome) => void;
}

type PendingCharge = PendingCall & { readonly task: LedgerTask<"charge"> };

const isCharge = (call: PendingCall): call is PendingCharge => call.task.name === "charge";

const chargesIn = (calls: readonly PendingCall[]): readonly ChargeEntry[] =>
  calls.filter(isCharge).map(({ task }) => task.input);

/** Tasks whose success proves that the ledger is available. */
const proofs: ReadonlySet<TaskName> = new Set(["charge", "findKey", "probeRead", "probeWrite"]);

const tooSlow = "The ledger is too slow.";
const workerExited = "The ledger worker has exited.";
const closed = "The ledger is closed.";

/** A task failed. What a failed charge wrote nevertheless, because its commit came too late, is refunded. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** Fails closed: a request that cannot be metered is refused. */
export function refuseUnmetered(thrown: unknown): never {
  throw thrown instanceof LedgerUnavailable ? refuse("metering_unavailable", {}) : thrown;
}

export class LedgerClient {
  private worker: Worker | undefined;
  private startedAtMs = Number.NEGATIVE_INFINITY;
  private queue: PendingCall[] = [];
  private inFlight: readonly PendingCall[] = [];
  /** The number of charges whose outcome is being looked up. */
  private unresolved = 0;
  private readonly refunds = new Set<readonly ChargeEntry[]>();
  private sentAtMs = 0;
  private stallTimer: NodeJS.Timeout | undefined;
  private isStalled = false;
  private isDown = false;
  private state: "open" | "closing" | "closed" = "open";
  private probeTimer: NodeJS.Timeout | undefined;
  private onIdle: (() => void) | undefined;

  constructor(
    private readonly settings: Omit<WorkerSettings, "createIfMissing">,
    private readonly options: LedgerClientOptions,
  ) {}

  /** Starts the worker, which creates the file if it does not exist. Throws a UserError if the file cannot be opened. */
  async open(): Promise<void> {
    const worker = this.startWorker(true);
    const ready = await new Promise<WorkerReady>((resolve, reject) =>
      worker
        .once("message", (message: string) => resolve(JSON.parse(message)))
        .once("error", reject)
        .once("exit", () => resolve({ isOpen: false, reason: workerExited })),
    );
    if (ready.isOpen) return;
    await this.close();
    throw new UserError(ready.reason);
  }

  /**
   * Runs a task on the worker; resolves with its output when its writes are on disk. Rejects with LedgerUnavailable, and with a UserError if
   * the task refuses its input. Calls `beforeSettle` once in any case.
   */
  call<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    beforeSettle: () => void = () => undefined,
  ): Promise<TaskOutput<Name>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: TaskOutcome): void => {
        if ("error" in outcome) reject(new LedgerUnavailable(outcome.error));
        else if ("refusal" in outcome) reject(new UserError(outcome.refusal));
        // The worker returns the output of the name; the compiler cannot follow that across threads.
        else resolve(outcome.output as TaskOutput<Name>);
      };
      const call: PendingCall = { task: { name, input }, beforeSettle, settle };
      if (this.state === "closed") return this.fail([call], closed);
      if (this.isStalled || this.queue.length >= this.options.waitingMax) return this.fail([call], tooSlow);
      this.queue.push(call);
      this.send();
    });
  }

  get waitingTasks(): number {
    return this.queue.length + this.inFlight.length;
  }

  /** Waits for all calls, and for refunds for a limited time, then stops the worker. Does not resolve while a batch hangs. */
  async close(): Promise<void> {
    this.state = "closing";
    clearTimeout(this.probeTimer);
    const refundTimer = setInterval(() => this.abandonRefunds(), this.options.refundMs);
    await new Promise<void>((resolve) => {
      this.onIdle = resolve;
      this.continue();
    });
    clearInterval(refundTimer);
    this.state = "closed";
    const { worker } = this;
    if (worker === undefined) return;
    this.worker = undefined;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage(JSON.stringify("close"));
    await exited;
  }

  private startWorker(createIfMissing: boolean): Worker {
    const data: WorkerSettings = { ...this.settings, createIfMissing };
    const worker = startWorker(this.options.workerModule, data);
    this.worker = worker;
    this.startedAtMs = performance.now();
    let reason = workerExited;
    worker.on("message", (text: string) => {
      const message: BatchResult | WorkerReady = JSON.parse(text);
      if ("outcomes" in message) this.onBatchResult(message);
    });
    worker.on("error", (error) => {
      reason = error.message;
    });
    worker.on("exit", () => this.worker === worker && this.onWorkerExit(reason));
    return worker;
  }

  /** Sends the queue, unless a batch is in flight: calls that arrive meanwhile share the next one. */
  private send(): void {
    if (this.inFlight.length > 0) return;
    if (this.worker === undefined && performance.now() - this.startedAtMs < this.options.restartMs) {
      this.fail(this.queue.splice(0), workerExited);
      return;
    }
    this.inFlight = this.queue.splice(0, this.options.batchMax);
    this.sentAtMs = performance.now();
    (this.worker ?? this.startWorker(false)).postMessage(JSON.stringify(this.inFlight.map(({ task }) => task)));
    this.stallTimer = this.stallTimer?.refresh() ?? setTimeout(() => this.onStall(), this.options.stalledMs).unref();
  }

  /** Fails the batch in flight, which is overdue, and the queue. All batches share one timer. */
  private onStall(): void {
    if (this.inFlight.length === 0) return;
    this.isStalled = true;
    this.fail([...this.inFlight, ...this.queue.splice(0)], tooSlow);
  }

  private onBatchResult({ outcomes, balances }: BatchResult): void {
    const { batch, isOverdue } = this.takeInFlight();
    this.options.onBatch(performance.now() - this.sentAtMs);
    this.options.onBalances(balances);
    if (isOverdue) void this.refund(chargesIn(batch));
    else {
      for (const { beforeSettle } of batch) beforeSettle();
      for (const [index, { settle }] of batch.entries()) settle(outcomes[index] ?? { error: "No outcome." });
    }
    const failed = outcomes.find((outcome) => "error" in outcome);
    if (failed !== undefined) this.setAvailability(true, failed.error);
    else if (batch.some(({ task }) => proofs.has(task.name))) this.setAvailability(false, "");
    this.continue();
  }

  private onWorkerExit(reason: string): void {
    this.worker = undefined;
    const { batch: lost, isOverdue } = this.takeInFlight();
    const queued = this.queue.splice(0);
    const charges = lost.filter(isCharge);
    if (isOverdue) void this.refund(chargesIn(lost));
    else if (charges.length > 0) void this.resolveLostCharges(charges, reason);
    this.fail([...(isOverdue ? [] : lost.filter((call) => !isCharge(call))), ...queued], reason);
    this.continue();
  }

  /** Settles the charges of a crashed worker: succeeds those on disk, fails the others. */
  private async resolveLostCharges(lost: readonly PendingCharge[], reason: string): Promise<void> {
    this.unresolved += lost.length;
    this.setAvailability(true, reason);
    const onDisk = await this.findCharges(lost.map(({ task }) => task.input.chargeId));
    for (const { beforeSettle } of lost) beforeSettle();
    for (const { task, settle } of lost)
      settle(onDisk?.has(task.input.chargeId) ? { output: null } : { error: reason });
    if (onDisk === undefined) void this.refund(chargesIn(lost));
    this.unresolved -= lost.length;
    this.continue();
  }

  /** Returns those of the charges that are on disk. Retries until a worker answers; returns undefined after `stalledMs`. */
  private async findCharges(chargeIds: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const { stalledMs, restartMs } = this.options;
    const deadlineMs = performance.now() + stalledMs;
    while (performance.now() < deadlineMs) {
      try {
        return new Set(await this.call("findCharges", { chargeIds }));
      } catch {
        await pause(restartMs / 4);
      }
    }
    return undefined;
  }

  /** Refunds those of the refused charges that are on disk. Retries until a worker succeeds or `close` stops waiting. */
  async refund(refused: readonly ChargeEntry[]): Promise<void> {
    if (refused.length === 0) return;
    if (this.state === "closed") return this.options.onUnrefunded(refused);
    this.refunds.add(refused);
    const chargeIds = refused.map(({ chargeId }) => chargeId);
    while (this.refunds.has(refused)) {
      try {
        await this.call("refundCharges", { chargeIds });
        this.refunds.delete(refused);
      } catch {
        await pause(this.options.restartMs);
      }
    }
    this.continue();
  }

  /** Reports the refunds in progress, and the charges of an overdue batch, which would be refunded after it. */
  private abandonRefunds(): void {
    const charges = [...this.refunds, this.isStalled ? chargesIn(this.inFlight) : []].flat();
    this.refunds.clear();
    if (charges.length > 0) this.options.onUnrefunded(charges);
    this.continue();
  }

  private get isIdle(): boolean {
    return this.inFlight.length + this.queue.length + this.unresolved + this.refunds.size === 0;
  }

  /** Ends the batch in flight. An overdue one has already failed. */
  private takeInFlight(): { readonly batch: readonly PendingCall[]; readonly isOverdue: boolean } {
    const batch = this.inFlight;
    const isOverdue = this.isStalled;
    this.inFlight = [];
    this.isStalled = false;
    return { batch, isOverdue };
  }

  /** Sends the queue, or reports that the client is idle, unless a settled call is followed by another one, such as a refund. */
  private continue(): void {
    if (this.queue.length > 0) this.send();
    else setImmediate(() => this.isIdle && this.onIdle?.());
  }

  private fail(calls: readonly PendingCall[], reason: string): void {
    if (calls.length === 0) return;
    for (const { beforeSettle } of calls) beforeSettle();
    for (const { settle } of calls) settle({ error: reason });
    this.setAvailability(true, reason);
    this.continue();
  }

  private setAvailability(isDown: boolean, reason: string): void {
    if (this.isDown !== isDown) this.options.onAvailabilityChange(isDown, reason);
    this.isDown = isDown;
    if (isDown && this.state === "open")
      this.probeTimer ??= setTimeout(() => this.probe(), this.options.restartMs).unref();
  }

  private probe(): void {
    this.probeTimer = undefined;
    if (this.isDown) this.call(this.options.probe, {}).catch(() => undefined);
  }
}
