/**
 * Command-line entry point: runs the command that the arguments name. Errors go to standard error as one line, `carquet: <message>`, or that of a
 * log, with exit code 2 if the arguments or variables are wrong, else 1.
 */
import { CommanderError } from "commander";
import { exitOnOutputError } from "./base/exits.ts";
import { messageOf, pathFaultOf, UsageError, UserError } from "./base/user-error.ts";
import { createProgram, usageErrorCode } from "./cli/program.ts";
import type { ScheduledCommand } from "./cli/scheduled.ts";

/** Commands that a scheduler runs: where standard error is not a terminal, they report errors as JSON. */
const scheduled: readonly ScheduledCommand[] = ["fetch", "ingest", "follow", "push", "vacuum", "verify"];

for (const output of [process.stdout, process.stderr]) output.on("error", exitOnOutputError);
await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<void> {
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exit(thrown.exitCode);
    const message = thrown instanceof UserError ? thrown.message : (pathFaultOf(thrown) ?? stackOf(thrown));
    const command = scheduled.find((name) => args.find((word) => !word.startsWith("-")) === name);
    if (command === undefined || process.stderr.isTTY) process.stderr.write(`carquet: ${message}\n`);
    else (await import("./cli/scheduled.ts")).logCommand(command, "error", { error: message }, "run failed");
    // Threads that the command has started would keep the process running.
    process.exit(thrown instanceof UsageError ? usageErrorCode : 1);
  }
}

/** Returns the stack of a thrown value: an error that is not a UserError is a defect of the program. */
function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
}
