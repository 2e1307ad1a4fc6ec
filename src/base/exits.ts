/** Exits of the program: on a signal, and when standard output or standard error cannot be written. */
import { writeSync } from "node:fs";

/** Exits on a signal as other programs do, after temporary files have been removed: those that an `exit` listener removes. */
export function exitOnSignals(): void {
  const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };
  for (const [signal, number] of Object.entries(signals)) process.once(signal, () => process.exit(128 + number));
}

/** Exits when the service that has started this process ends. Does nothing in a process that a person has started. */
export function endWithParent(): void {
  process.once("disconnect", () => process.exit(1));
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
