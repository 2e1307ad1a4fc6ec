/**
 * Preloaded into a service (`node --require`): measures how long its event loop is held, and answers over a Unix socket whose path is in
 * `EVENT_LOOP_PROBE` with the longest hold since the last answer, in milliseconds: the time that passed, and the processor time of the thread in it,
 * which does not count a machine that is busy with other processes. Needs Linux.
 */
const { readFileSync } = require("node:fs");
const { createServer } = require("node:net");
const { isMainThread } = require("node:worker_threads");

const path = process.env.EVENT_LOOP_PROBE;
const tickMs = 1;

if (path !== undefined && isMainThread && process.argv.includes("serve")) {
  const processorMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  let last = { atMs: performance.now(), usedMs: processorMs() };
  let longest = { heldMs: 0, processorMs: 0 };
  setInterval(() => {
    const now = { atMs: performance.now(), usedMs: processorMs() };
    longest = {
      heldMs: Math.max(longest.heldMs, now.atMs - last.atMs - tickMs),
      processorMs: Math.max(longest.processorMs, now.usedMs - last.usedMs),
    };
    last = now;
  }, tickMs).unref();
  createServer((socket) => {
    socket.end(JSON.stringify(longest));
    longest = { heldMs: 0, processorMs: 0 };
  })
    .listen(path)
    .unref();
}
