/** The disk of the accounts file. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Measurement, timed } from "../report/results.ts";

/** Measures writes of 4 KiB with `fdatasync` in a folder: the lower bound of a charge's latency. */
export function measureFdatasync(folder: string): Measurement {
  const path = join(folder, "synced");
  const file = openSync(path, "w");
  const times: number[] = [];
  try {
    for (let i = 0; i < 200; i += 1) {
      const startedAtMs = performance.now();
      writeSync(file, Buffer.alloc(4096, i));
      fdatasyncSync(file);
      times.push(performance.now() - startedAtMs);
    }
  } finally {
    closeSync(file);
    rmSync(path);
  }
  return timed("write of 4 KiB", "disk", times);
}
