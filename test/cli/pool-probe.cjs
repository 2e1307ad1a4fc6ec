/**
 * Loaded with `--require` into a command: when the command has finished, blocks as many threads of libuv's pool as
 * PROBE_FIFOS names FIFOs, then runs one file operation. Writes `free` to standard error if a thread was left to run
 * it.
 */
const { closeSync, openSync } = require("node:fs");
const { open, stat } = require("node:fs/promises");

const fifos = process.env.PROBE_FIFOS?.split(",") ?? [];

process.once("beforeExit", async () => {
  // Opening a FIFO for reading blocks until it is opened for writing.
  const blocked = fifos.map((path) => open(path, "r"));
  await stat(".");
  process.stderr.write("free\n");
  for (const path of fifos) closeSync(openSync(path, "w"));
  for (const handle of await Promise.all(blocked)) await handle.close();
});
