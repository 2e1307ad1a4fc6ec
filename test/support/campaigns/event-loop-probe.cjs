/**
 * Preloaded into a service (`node --require`): measures how long its event loop is held, and answers over a Unix socket whose path is in
 * `EVENT_LOOP_PROBE` with the longest hold since the last answer, in milliseconds: the time that passed, and the processor time of the thread in it,
 * which does not grow with the work of other threads and processes. Needs Linux.
 */
const { readFileSync } = require("node:fs");
const { createServer } = require("node:net");
const { isMainThread } = require("node:worker_threads");

const path = process.env.EVENT_LOOP_PROBE;
const tickMs = 1;

if (path !== undefined && isMainThread && process.argv.includes("serve")) {
  const processorMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  let last = { atMs: performance.now(), usedMs: processorMs() };
  let longest = { heldMs: 0, elapsedMs: 0 };
  setInterval(() => {
    const now = { atMs: performance.now(), usedMs: processorMs() };
    longest = {
      heldMs: Math.max(longest.heldMs, now.usedMs - last.usedMs),
      elapsedMs: Math.max(longest.elapsedMs, now.atMs - last.atMs - tickMs),
    };
    last = now;
  }, tickMs).unref();
  createServer((socket) => {
    socket.end(JSON.stringify(longest));
    longest = { heldMs: 0, elapsedMs: 0 };
  })
    .listen(path)
    .unref();
}
