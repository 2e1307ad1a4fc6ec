/** Warms servers up before they are measured: fills the page cache and lets JIT compilers run. */
import type { BenchQuery } from "../queries/query.ts";
import type { Server } from "./server.ts";

/** Returns the duration of a warm-up; a JVM takes seconds to compile hot code. */
export const warmUpMs = (isQuick: boolean): number => (isQuick ? 4000 : 20_000);

/** Sends queries in rotation to one server after another, each for `durationMs` and at least `requestsMin` requests. */
export async function warmUp(
  servers: readonly Pick<Server<string>, "send">[],
  queries: readonly BenchQuery[],
  { durationMs, requestsMin }: { readonly durationMs: number; readonly requestsMin: number },
): Promise<void> {
  for (const { send } of servers) {
    const startedAtMs = performance.now();
    for (let requests = 0; requests < requestsMin || performance.now() < startedAtMs + durationMs; requests += 1) {
      const query = queries[requests % queries.length];
      if (query === undefined) return;
      await send(query);
    }
  }
}
