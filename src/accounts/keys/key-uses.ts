/** Collects when keys were used, and writes that soon after a key's first use and once a minute while it is in use. */
import type { KeyUses } from "./keys.ts";

const [writeDelayMs, resolutionMs, keysMax] = [500, 60_000, 10_000];

export class KeyUseRecorder {
  private readonly recordedAtMs = new Map<string, number>();
  private readonly pending = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (uses: KeyUses) => Promise<unknown>) {}

  add(keyId: string, atMs: number): void {
    if (atMs - (this.recordedAtMs.get(keyId) ?? 0) < resolutionMs) return;
    if (this.recordedAtMs.size >= keysMax) this.recordedAtMs.clear();
    this.recordedAtMs.set(keyId, atMs);
    this.pending.set(keyId, atMs);
    this.timer ??= setTimeout(() => void this.flush(), writeDelayMs).unref();
  }

  /** Writes the pending uses. Drops uses that cannot be written: the next use is recorded again. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = [...this.pending];
    this.pending.clear();
    if (uses.length === 0) return;
    await this.write(uses).catch(() => {
      for (const [keyId] of uses) this.recordedAtMs.delete(keyId);
    });
  }
}
