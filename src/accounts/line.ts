/**
 * The line to the thread that writes the ledger. What is asked while a batch is being done waits and makes the next one, so that
 * batches grow with the load. A thread that has ended is started again when somebody asks.
 */
import type { Worker } from "node:worker_threads";
import { Failure } from "../base/failure.ts";
import { startThread } from "../base/threads.ts";
import type { Account } from "./account.ts";
import type { Done, Opened, Outcome, Task, TaskName, Tasks, ThreadSettings } from "./tasks.ts";

export interface LineOptions {
  /** The most tasks that are done in one transaction, and that may wait for the next ones. */
  readonly batchMost: number;
  readonly waitingMost: number;
  /** When a batch takes longer, what waits is refused, and so is what comes, until it is done. */
  readonly stalledMs: number;
  /** A thread that ended is not started again sooner than so long after it was started. */
  readonly restartMs: number;
  /** Called with accounts as they are after they were charged, before anybody is told of it. */
  readonly onCharged: (accounts: readonly Account[]) => void;
  /** Called when the ledger cannot be written any more, and when it can again. */
  readonly onChange: (isDown: boolean, why: string) => void;
}

/** A task was not done: nothing of it has been written, or its thread has ended and nobody knows. */
export class Undone extends Error {
  override readonly name = "Undone";
}

interface Waiting {
  readonly task: Task;
  /** Called when what came of the task is known, before anybody is told of any task of the batch. */
  readonly settle: () => void;
  readonly tell: (outcome: Outcome) => void;
}

export class Line {
  private thread: Worker | undefined;
  private startedAtMs = 0;
  private waiting: Waiting[] = [];
  private sent: readonly Waiting[] = [];
  private isSendingSoon = false;
  private stallTimer: NodeJS.Timeout | undefined;
  private isStalled = false;
  private isDown = false;
  private becameIdle: (() => void) | undefined;

  constructor(
    private readonly settings: Omit<ThreadSettings, "isNew">,
    private readonly options: LineOptions,
  ) {}

  /** Starts the thread, which makes the file when there is none; fails when the file cannot be opened. */
  async open(): Promise<void> {
    const thread = this.start(true);
    const opened = await new Promise<Opened>((told, failed) => thread.once("message", told).once("error", failed));
    if (opened.isOpen) return;
    await this.close();
    throw new Failure(opened.why);
  }

  /** What a task is answered, when that is on the disk. Fails with `Undone` when it could not be done. */
  ask<Name extends TaskName>(
    task: Name,
    asked: Tasks[Name]["asked"],
    settle: () => void = () => undefined,
  ): Promise<Tasks[Name]["answered"]> {
    return new Promise((answer, fail) => {
      // The thread answers each task with what the table of tasks has for it; the compiler cannot follow that across threads.
      const tell = (outcome: Outcome): void =>
        "failed" in outcome ? fail(new Undone(outcome.failed)) : answer(outcome.answered as Tasks[Name]["answered"]);
      const waiting: Waiting = { task: { task, asked } as Task, settle, tell };
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
    if (this.sent.length + this.waiting.length > 0) {
      await new Promise<void>((idle) => {
        this.becameIdle = idle;
      });
    }
    const { thread } = this;
    if (thread === undefined) return;
    this.thread = undefined;
    const ended = new Promise((end) => thread.once("exit", end));
    thread.postMessage("close");
    await ended;
  }

  private start(isNew: boolean): Worker {
    const thread = startThread(new URL("./thread.ts", import.meta.url), {
      ...this.settings,
      isNew,
    } satisfies ThreadSettings);
    this.thread = thread;
    this.startedAtMs = performance.now();
    let why = "its thread has ended";
    thread.on("message", (message: Done | Opened) => "outcomes" in message && this.done(message));
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
    (this.thread ?? this.start(false)).postMessage(this.sent.map(({ task }) => task));
    this.stallTimer = setTimeout(() => {
      this.isStalled = true;
      this.fail(this.waiting.splice(0), "the ledger is too slow");
    }, this.options.stalledMs);
  }

  private done({ outcomes, charged }: Done): void {
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
    this.fail([...this.take(), ...this.waiting.splice(0)], why);
    this.goOn();
  }

  private take(): readonly Waiting[] {
    const batch = this.sent;
    this.sent = [];
    clearTimeout(this.stallTimer);
    this.isStalled = false;
    return batch;
  }

  private goOn(): void {
    if (this.waiting.length > 0) this.sendSoon();
    else this.becameIdle?.();
  }

  private fail(batch: readonly Waiting[], why: string): void {
    if (batch.length === 0) return;
    for (const { settle } of batch) settle();
    for (const { tell } of batch) tell({ failed: why });
    this.note(true, why);
    if (this.sent.length + this.waiting.length === 0) this.becameIdle?.();
  }

  private note(isDown: boolean, why: string): void {
    if (this.isDown !== isDown) this.options.onChange(isDown, why);
    this.isDown = isDown;
  }
}
