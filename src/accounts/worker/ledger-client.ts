/**
 * The line to the thread that writes the ledger. What is asked while a batch is being done waits and makes the next one, so that
 * batches grow with the load. A thread that has ended is started again when somebody asks. When it ended with charges in flight, the
 * next one looks up which of them are on the disk: those are answered, the others fail.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { UserError } from "../../base/user-error.ts";
import { startWorker } from "../../base/worker-threads.ts";
import type { ChargeResult } from "../ledger/charging.ts";
import type {
  BatchResult,
  LedgerTask,
  LedgerTaskName,
  LedgerTasks,
  TaskOutcome,
  WorkerReady,
  WorkerSettings,
} from "./messages.ts";

export interface LedgerClientOptions {
  /** The most tasks that are done in one transaction, and that may wait for the next ones. */
  readonly batchMost: number;
  readonly waitingMost: number;
  /** When a batch takes longer, what waits is refused, and so is what comes, until it is done. */
  readonly stalledMs: number;
  /** A thread that ended is not started again sooner than so long after it was started. */
  readonly restartMs: number;
  /** The module that the thread runs. */
  readonly thread: URL;
  /** Called with what accounts have after they were charged, before anybody is told of it. */
  readonly onCharged: (charged: readonly ChargeResult[]) => void;
  /** Called when the ledger cannot be written any more, and when it can again. */
  readonly onChange: (isDown: boolean, why: string) => void;
}

/**
 * A task was not done, and nothing of it has been written. A charge whose thread has ended fails with this too when no thread could look
 * it up within `stalledMs`; it may then be on the disk.
 */
export class LedgerUnavailable extends Error {
  override readonly name = "Undone";
}

interface Waiting {
  readonly task: LedgerTask;
  /** Called when what came of the task is known, before anybody is told of any task of the batch. */
  readonly settle: () => void;
  readonly tell: (outcome: TaskOutcome) => void;
}

interface Charging extends Waiting {
  readonly task: Extract<LedgerTask, { readonly task: "charge" }>;
}

const isCharging = (one: Waiting): one is Charging => one.task.task === "charge";

export class LedgerClient {
  private thread: Worker | undefined;
  private startedAtMs = 0;
  private waiting: Waiting[] = [];
  private sent: readonly Waiting[] = [];
  /** How many charges were in flight when their thread ended, and are being looked up. */
  private unsettled = 0;
  private isSendingSoon = false;
  private stallTimer: NodeJS.Timeout | undefined;
  private isStalled = false;
  private isDown = false;
  private becameIdle: (() => void) | undefined;

  constructor(
    private readonly settings: Omit<WorkerSettings, "isNew">,
    private readonly options: LedgerClientOptions,
  ) {}

  /** Starts the thread, which makes the file when there is none; fails when the file cannot be opened. */
  async open(): Promise<void> {
    const thread = this.start(true);
    const opened = await new Promise<WorkerReady>((told, failed) =>
      thread
        .once("message", (message: string) => told(JSON.parse(message)))
        .once("error", failed)
        .once("exit", () => told({ isOpen: false, why: "the ledger's thread has ended" })),
    );
    if (opened.isOpen) return;
    await this.close();
    throw new UserError(opened.why);
  }

  /** What a task is answered, when that is on the disk. Fails with `Undone` when it could not be done. */
  ask<Name extends LedgerTaskName>(
    task: Name,
    asked: LedgerTasks[Name]["asked"],
    settle: () => void = () => undefined,
  ): Promise<LedgerTasks[Name]["answered"]> {
    return new Promise((answer, fail) => {
      // The thread answers each task with what the table of tasks has for it; the compiler cannot follow that across threads.
      const tell = (outcome: TaskOutcome): void =>
        "failed" in outcome
          ? fail(new LedgerUnavailable(outcome.failed))
          : answer(outcome.answered as LedgerTasks[Name]["answered"]);
      const waiting: Waiting = { task: { task, asked } as LedgerTask, settle, tell };
      if (this.isStalled || this.waiting.length >= this.options.waitingMost) {
        this.fail([waiting], "the ledger is too slow");
        return;
      }
      this.waiting.push(waiting);
      this.sendSoon();
    });
  }

  /** Waits until all that was asked is done, then ends the thread. */
  async close(): Promise<void> {
    if (!this.isIdle) {
      await new Promise<void>((idle) => {
        this.becameIdle = idle;
      });
    }
    const { thread } = this;
    if (thread === undefined) return;
    this.thread = undefined;
    const ended = new Promise((end) => thread.once("exit", end));
    thread.postMessage(JSON.stringify("close"));
    await ended;
  }

  private start(isNew: boolean): Worker {
    const thread = startWorker(this.options.thread, {
      ...this.settings,
      isNew,
    } satisfies WorkerSettings);
    this.thread = thread;
    this.startedAtMs = performance.now();
    let why = "its thread has ended";
    thread.on("message", (text: string) => {
      const message: BatchResult | WorkerReady = JSON.parse(text);
      if ("outcomes" in message) this.done(message);
    });
    thread.on("error", (error) => {
      why = error.message;
    });
    thread.on("exit", () => this.thread === thread && this.ended(why));
    return thread;
  }

  /** Sends what waits when the events that are due have been taken, so that they go together. */
  private sendSoon(): void {
    if (this.isSendingSoon || this.sent.length > 0) return;
    this.isSendingSoon = true;
    setImmediate(() => {
      this.isSendingSoon = false;
      this.send();
    });
  }

  private send(): void {
    if (this.thread === undefined && performance.now() - this.startedAtMs < this.options.restartMs) {
      this.fail(this.waiting.splice(0), "its thread has ended");
      return;
    }
    this.sent = this.waiting.splice(0, this.options.batchMost);
    (this.thread ?? this.start(false)).postMessage(JSON.stringify(this.sent.map(({ task }) => task)));
    this.stallTimer = this.stallTimer?.refresh() ?? setTimeout(() => this.stall(), this.options.stalledMs).unref();
  }

  /** Refuses what waits when the batch that was sent last is still being done. The timer is one for all batches. */
  private stall(): void {
    if (this.sent.length === 0) return;
    this.isStalled = true;
    this.fail(this.waiting.splice(0), "the ledger is too slow");
  }

  private done({ outcomes, charged }: BatchResult): void {
    const batch = this.take();
    this.options.onCharged(charged);
    for (const { settle } of batch) settle();
    for (const [index, { tell }] of batch.entries()) tell(outcomes[index] ?? { failed: "no outcome" });
    const failed = outcomes.find((outcome) => "failed" in outcome);
    if (failed !== undefined) this.note(true, failed.failed);
    else if (batch.some(({ task }) => task.task === "charge")) this.note(false, "");
    this.goOn();
  }

  private ended(why: string): void {
    this.thread = undefined;
    const lost = this.take();
    const waiting = this.waiting.splice(0);
    const charges = lost.filter(isCharging);
    if (charges.length > 0) void this.lookUp(charges, why);
    this.fail([...lost.filter((one) => !isCharging(one)), ...waiting], why);
    this.goOn();
  }

  /** Settles charges whose thread ended before it said what came of them, by what is on the disk. */
  private async lookUp(lost: readonly Charging[], why: string): Promise<void> {
    this.unsettled += lost.length;
    this.note(true, why);
    const onDisk = await this.chargesOf(lost.map(({ task }) => task.asked.chargeId));
    for (const { settle } of lost) settle();
    for (const { task, tell } of lost) tell(onDisk.has(task.asked.chargeId) ? { answered: null } : { failed: why });
    this.unsettled -= lost.length;
    this.goOn();
  }

  /** Which of some charges are on the disk, tried until the ledger answers; none when it does not within `stalledMs`. */
  private async chargesOf(chargeIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { stalledMs, restartMs } = this.options;
    const untilMs = performance.now() + stalledMs;
    while (performance.now() < untilMs) {
      try {
        return new Set(await this.ask("charged", { chargeIds }));
      } catch {
        await pause(restartMs / 4);
      }
    }
    return new Set();
  }

  private get isIdle(): boolean {
    return this.sent.length + this.waiting.length + this.unsettled === 0;
  }

  private take(): readonly Waiting[] {
    const batch = this.sent;
    this.sent = [];
    this.isStalled = false;
    return batch;
  }

  private goOn(): void {
    if (this.waiting.length > 0) this.sendSoon();
    else if (this.isIdle) this.becameIdle?.();
  }

  private fail(batch: readonly Waiting[], why: string): void {
    if (batch.length === 0) return;
    for (const { settle } of batch) settle();
    for (const { tell } of batch) tell({ failed: why });
    this.note(true, why);
    if (this.isIdle) this.becameIdle?.();
  }

  private note(isDown: boolean, why: string): void {
    if (this.isDown !== isDown) this.options.onChange(isDown, why);
    this.isDown = isDown;
  }
}
