/**
 * Prepares the threads beside the main one. Of libuv's pool, which runs DuckDB queries and file operations: its size, unless the operator has set one, and
 * its priority. Of V8: none helps to collect young objects, because the main thread would wait until its helper has a processor beside the engine.
 *
 * CommonJS, loaded with `--require`: libuv reads the size when the pool is first used, and Node.js uses the pool to load the first ES module.
 */
const { readdirSync, stat } = require("node:fs");
const { getPriority, setPriority } = require("node:os");

require("node:v8").setFlagsFromString("--no-parallel-scavenge");
process.env.UV_THREADPOOL_SIZE ??= "32";
if (process.platform === "linux") lowerPriority();

/**
 * Lowers the priority of the pool's threads, which DuckDB's own inherit, so that the main thread answers light requests while the engine
 * uses all processors. On Linux, each thread has its own priority, and its id stands for a process id.
 */
function lowerPriority() {
  const threads = () => readdirSync("/proc/self/task").map(Number);
  const before = new Set(threads());
  // The first use starts all threads of the pool.
  stat("/", () => undefined);
  // Other processes begin at 10 or 19, so their engines have 19: statements of the service go before them.
  const priority = Math.min(getPriority() + 10, 19);
  try {
    for (const thread of threads()) if (!before.has(thread)) setPriority(thread, priority);
  } catch (error) {
    // A sandbox may forbid it. Everything works without it; light requests wait longer when the engine is busy.
    if (error.info?.code !== "EPERM" && error.info?.code !== "EACCES") throw error;
  }
}
