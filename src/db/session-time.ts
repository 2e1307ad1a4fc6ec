/** Session time: how long statements have held sessions, added up over concurrent ones, in milliseconds. */
export class SessionTime {
  private endedMs = 0;
  private startsMs = 0;
  private runningCount = 0;

  /** Starts from an amount of time that counts as used. */
  constructor(private readonly baseMs = 0) {}

  get running(): number {
    return this.runningCount;
  }

  /** Returns the time used until now, running statements included. */
  at(nowMs: number): number {
    return this.baseMs + this.endedMs + this.runningCount * nowMs - this.startsMs;
  }

  start(nowMs: number): void {
    this.runningCount += 1;
    this.startsMs += nowMs;
  }

  /** Ends a statement that started at `startedAtMs`. */
  end(startedAtMs: number, nowMs: number): void {
    this.runningCount -= 1;
    this.startsMs -= startedAtMs;
    this.endedMs += nowMs - startedAtMs;
  }
}
