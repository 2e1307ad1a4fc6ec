/**
 * Flushes the log of a database to disk, for commits that do not wait for that. A commit is on disk 100 ms later at most: its flush begins after 50 ms, and
 * while an earlier one takes longer, no other commit is admitted. So a loss of power loses what was committed in 100 ms, however slow the disk is.
 */
import { orAborted, withTimeLimit } from "../base/time-limit.ts";

const delayMs = 50;
/** What is admitted by then is committed within 100 ms. */
const admittedMs = 80;
/** How long a commit waits for an overdue flush, or for its own. */
const stalledMs = 5_000;
/** After this time, a flush that has failed is tried again, if no commit does so before. */
const retryMs = 1_000;

export class LogFlusher {
  /** The flush that has not begun, which further callers share. */
  private next: Promise<void> | undefined;
  private running: Promise<void> | undefined;
  private startedAtMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  /** When the oldest commit was noted that no flush has begun for, and the oldest that is being flushed. */
  private notedAtMs: number | undefined;
  private flushingSinceMs: number | undefined;

  /** `sync` writes what is committed to disk. `onError` receives the errors of flushes that no caller waits for. */
  constructor(
    private readonly sync: () => Promise<void>,
    private readonly onError: (thrown: unknown) => void,
  ) {}

  /** Flushes what was committed before the call. Rejects after some seconds, and at once while an earlier flush takes longer than that. */
  async flush(): Promise<void> {
    const next = this.next ?? this.begin();
    this.next = next;
    const error = Object.assign(new Error("The disk is too slow."), { code: "ETIMEDOUT" });
    next.catch(() => undefined);
    if (this.running !== undefined && performance.now() - this.startedAtMs > stalledMs) throw error;
    await withTimeLimit({ ms: stalledMs, error }, (signal) => orAborted(signal, next));
  }

  /** Waits while commits of nearly 100 ms ago are not on disk. */
  async admit(): Promise<void> {
    const oldestMs = this.flushingSinceMs ?? this.notedAtMs;
    if (oldestMs !== undefined && performance.now() - oldestMs > admittedMs) await this.flush();
  }

  /** Notes a commit, which is flushed soon. */
  note(): void {
    this.notedAtMs ??= performance.now();
    this.timer ??= setTimeout(() => this.flush().catch(this.onError), delayMs).unref();
  }

  private async begin(): Promise<void> {
    // At least until `next` is set, so that callers of the same turn share it.
    await (this.running ?? Promise.resolve()).catch(() => undefined);
    this.next = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.retry);
    this.timer = undefined;
    this.flushingSinceMs = this.notedAtMs;
    this.notedAtMs = undefined;
    this.startedAtMs = performance.now();
    this.running = this.sync();
    try {
      await this.running;
    } catch (thrown) {
      this.notedAtMs = this.flushingSinceMs ?? this.notedAtMs;
      if (this.notedAtMs !== undefined)
        this.retry = setTimeout(() => this.flush().catch(this.onError), retryMs).unref();
      throw thrown;
    } finally {
      this.running = undefined;
      this.flushingSinceMs = undefined;
    }
  }
}
