/** The disk of the accounts file. */
import { fdatasyncSync, writeSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Measurement, timed } from "../report/results.ts";

const writes = 200;
/** A disk, above all a virtual one, may take many times longer when it has been idle, as between the requests of one client. */
const idleMs = 10;

/** Measures writes of 4 KiB with `fdatasync` in a folder, at once and after a pause: the lower bound of a charge's latency. */
export async function measureFdatasync(folder: string): Promise<readonly Measurement[]> {
  const path = join(folder, "synced");
  const file = await open(path, "w");
  try {
    const write = (): number => {
      const startedAtMs = performance.now();
      writeSync(file.fd, Buffer.alloc(4096, 1));
      fdatasyncSync(file.fd);
      return performance.now() - startedAtMs;
    };
    const atOnce = Array.from({ length: writes }, write);
    const afterPauses: number[] = [];
    for (let count = 0; count < writes; count += 1) {
      await sleep(idleMs);
      afterPauses.push(write());
    }
    return [timed("write of 4 KiB", "disk", atOnce), timed(`write of 4 KiB after ${idleMs} ms`, "disk", afterPauses)];
  } finally {
    await file.close();
    await rm(path);
  }
}
