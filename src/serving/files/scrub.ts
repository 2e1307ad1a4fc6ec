/**
 * Scrub: reads the files of the version in service again and again in the background, at a bounded rate, so that damage is found before a request
 * needs the file. Unchecked files come first, then the least recently checked one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { LakeVersion } from "../lake-version.ts";

export interface ScrubOptions {
  readonly bytesPerHour: number;
  /** Pause after each file, by default a quarter of a second. */
  readonly pauseMs?: number;
}

export class Scrub {
  private readonly stopping = new AbortController();

  constructor(
    private readonly versionInService: () => LakeVersion | undefined,
    private readonly options: ScrubOptions,
  ) {}

  start(): void {
    void this.run();
  }

  stop(): void {
    this.stopping.abort();
  }

  private async run(): Promise<void> {
    const { bytesPerHour, pauseMs = 250 } = this.options;
    const throttle = (bytes: number): Promise<void> => this.pause((bytes / bytesPerHour) * 3_600_000);
    try {
      for (;;) {
        const version = this.versionInService();
        const file = version?.files.leastRecentlyChecked;
        if (file !== undefined) await version?.recheck(file, throttle);
        await this.pause(pauseMs);
      }
    } catch (thrown) {
      if (!this.stopping.signal.aborted) throw thrown;
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal, ref: false });
  }
}
