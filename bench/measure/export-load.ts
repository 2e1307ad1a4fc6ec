/** Exports of all listings beside other requests: their load, and what a service and the processes that write them take meanwhile. */
import type { BenchQuery } from "../queries/query.ts";
import { type Measurement, measured } from "../report/results.ts";
import type { ScriptServer } from "../servers/carquet.ts";
import { exactServer } from "../servers/server.ts";
import { loadInBursts } from "./throughput.ts";

const sorts = ["price", "-price", "miles", "-miles", "year", "-year"] as const;

/** Downloads exports of a search one after the other until it is stopped. Each has another sort, or leaves out another make that none has, so that none is a repeated download. */
export function startExports(url: string, key: string, search = ""): { readonly stop: () => Promise<void> } {
  const controller = new AbortController();
  const download = async (): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const sort = sorts[count % sorts.length];
      const other = count < sorts.length ? "" : `&exclude_make=none${count}`;
      const path = `/v1/exports?format=parquet&sort=${sort}${other}${search === "" ? "" : `&${search}`}`;
      const response = await fetch(`${url}${path}`, {
        headers: { Authorization: `Bearer ${key}` },
        signal: controller.signal,
      });
      if (!response.ok) throw new Error(`${path} returned status ${response.status}: expected 200.`);
      await response.body?.pipeTo(new WritableStream());
    }
  };
  const running = download().then(
    () => undefined,
    (thrown: unknown) => (controller.signal.aborted ? undefined : thrown),
  );
  return {
    stop: async () => {
      controller.abort();
      const failure = await running;
      if (failure !== undefined) throw failure;
    },
  };
}

export const memoryWithExports = "peak memory of the service and of an export";

const pollMs = 100;

/** Measures the mix of 8 clients, and the peak memory, while exports are written. */
export async function measureWithExports(
  server: ScriptServer,
  key: string,
  queries: readonly BenchQuery[],
  isQuick: boolean,
): Promise<readonly Measurement[]> {
  let peakMib = 0;
  const readMemory = (): void => {
    peakMib = Math.max(peakMib, server.memoryMib() || 0);
  };
  const timer = setInterval(readMemory, pollMs);
  const exports = startExports(server.url, key);
  try {
    const load = { clients: 8, repetitions: 1, seconds: isQuick ? 10 : 30 };
    const name = "8 clients, uncached, beside an export";
    const results = await loadInBursts([exactServer("carquet", "", server)], queries, { name, ...load });
    return [...results, ...measured(memoryWithExports, "carquet", { MiB: peakMib })];
  } finally {
    clearInterval(timer);
    await exports.stop();
  }
}
