/** Exits of the program: on a signal, and when standard output or standard error cannot be written. */
import { writeSync } from "node:fs";

/** Ends on a signal as other programs do, until the returned function is called. */
export function exitOnSignals(): () => void {
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, endNow);
  return () => {
    for (const signal of signals) process.off(signal, endNow);
  };
}

/**
 * Ends the process at once by a signal, after temporary files have been removed: those that an `exit` listener removes. `process.exit` would wait for the
 * statement of the engine that runs.
 */
export function endNow(signal: NodeJS.Signals = "SIGKILL"): void {
  process.emit("exit", 1);
  process.kill(process.pid, signal);
}

/** Ends when the service that has started this process does. Does nothing in a process that a person has started. */
export function endWithParent(): void {
  process.once("disconnect", () => endNow());
  // The listener alone would keep the process running.
  process.channel?.unref();
}

/** The exit code that a shell reports for a program that SIGPIPE has ended: 128 + 13. */
const brokenPipeExitCode = 141;

/**
 * Exits when standard output or standard error cannot be written; names any cause but a reader that has gone, as in `carquet sql ... | head`. That ends
 * a command quietly, as SIGPIPE ends other programs; Node.js ignores that signal.
 */
export function exitOnOutputError({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") process.exit(brokenPipeExitCode);
  try {
    writeSync(2, `carquet: Cannot write the output: ${message}.\n`);
  } catch {
    // Standard error is the output that cannot be written.
  }
  process.exit(1);
}
