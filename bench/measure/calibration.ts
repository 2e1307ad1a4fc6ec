/**
 * Work that never changes, done in turn with everything else: what it takes tells how fast the machine was meanwhile, so that runs can be
 * compared by ratios.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { sql } from "../../src/db/sql.ts";
import { type Timing, timingOf } from "./measure.ts";

export interface Calibration {
  run(): Promise<void>;
  close(): void;
}

/** A loop in JavaScript, and a query of the engine on all processors. */
export async function calibration(): Promise<Calibration> {
  const database = await DuckDatabase.open();
  const session = await database.connect();
  return {
    async run() {
      loop();
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

function loop(): number {
  let state = 1;
  const counts = new Map<number, number>();
  for (let i = 0; i < 200_000; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const key = state % 1009;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts.size;
}

/** How long it takes until a small write is on disk: the least that a metered answer costs. */
export function syncTiming(folder: string): Timing {
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
  return timingOf(times);
}
