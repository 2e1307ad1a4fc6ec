/**
 * Calibration: a constant workload that is timed in turn with everything else. Its time measures the speed of the machine, so that runs
 * of different machines, or of a busy one, can be compared by ratios.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { sql } from "../../src/db/sql.ts";
import { type Measurement, timed } from "../report/results.ts";

export interface Calibration {
  run(): Promise<void>;
  close(): void;
}

/** Opens the workload: a JavaScript loop on one thread, then a DuckDB aggregation on all processors. */
export async function openCalibration(): Promise<Calibration> {
  const database = await DuckDatabase.open();
  const session = await database.connect();
  return {
    async run() {
      countRandomNumbers();
      await session.row(
        sql`SELECT count(*)::INTEGER AS groups FROM (SELECT hash(i) % 5000 AS part, sum(i) FROM range(300000) AS counter(i) GROUP BY part)`,
      );
    },
    close() {
      session.close();
      database.close();
    },
  };
}

function countRandomNumbers(): number {
  let state = 1;
  const counts = new Map<number, number>();
  for (let i = 0; i < 200_000; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const key = state % 1009;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts.size;
}

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
