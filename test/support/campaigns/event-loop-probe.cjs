/**
 * Preloaded into a service (`node --require`): measures how long its event loop is held, and answers over a Unix socket whose path is in
 * `EVENT_LOOP_PROBE` with the longest hold since the last answer, in milliseconds: the time that passed, and the same without the time for which the
 * thread waited for a processor, which the work of other threads and processes takes. Needs Linux.
 */
const { readFileSync } = require("node:fs");
const { createServer } = require("node:net");
const { isMainThread } = require("node:worker_threads");

const path = process.env.EVENT_LOOP_PROBE;
const tickMs = 1;

if (path !== undefined && isMainThread && process.argv.includes("serve")) {
  const waitedMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  let last = { atMs: performance.now(), waitedMs: waitedMs() };
  let longest = { heldMs: 0, elapsedMs: 0 };
  setInterval(() => {
    const now = { atMs: performance.now(), waitedMs: waitedMs() };
    const elapsedMs = now.atMs - last.atMs - tickMs;
    longest = {
      heldMs: Math.max(longest.heldMs, elapsedMs - (now.waitedMs - last.waitedMs)),
      elapsedMs: Math.max(longest.elapsedMs, elapsedMs),
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
