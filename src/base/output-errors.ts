/**
 * Errors of standard output and standard error. A reader that has gone, as in `carquet sql ... | head`, ends a command quietly, as SIGPIPE
 * ends other programs; Node.js ignores that signal.
 */
import { writeSync } from "node:fs";

/** The exit code that a shell reports for a program that SIGPIPE has ended: 128 + 13. */
const brokenPipeExitCode = 141;

/** Exits when standard output or standard error cannot be written; names any cause but a reader that has gone. */
export function exitOnOutputError({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") process.exit(brokenPipeExitCode);
  try {
    writeSync(2, `carquet: Cannot write the output: ${message}.\n`);
  } catch {
    // Standard error is the output that cannot be written.
  }
  process.exit(1);
}
