/** Waits for what other processes and threads do. */
import { setTimeout as sleep } from "node:timers/promises";

/** Polls until a condition holds; throws after `withinMs`, which is long enough for a busy machine. */
export async function eventually(what: string, condition: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const lastMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > lastMs) throw new Error(`Timed out after ${withinMs} ms: ${what}.`);
    await sleep(10);
  }
}
