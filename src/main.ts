/**
 * Command-line entry point: parses the arguments, loads the named command and runs it. Loads no other command. Errors go to standard
 * error as one line, `carquet: <message>`, or that of a log, with a non-zero exit code.
 */
import { Command, CommanderError, Option } from "commander";
import { exitOnOutputError } from "./base/exits.ts";
import { textIn } from "./base/json.ts";
import { projectText } from "./base/project-files.ts";
import { messageOf, UserError } from "./base/user-error.ts";
import type { ScheduledCommand } from "./cli/scheduled.ts";

type CommandRow = readonly [usage: string, summary: string, load: () => Promise<Command>];

/** All commands, in the order of the help. */
// biome-ignore format: a table is read by its columns
const commands: readonly CommandRow[] = [
  ["start [options]",         "fill an empty lake with a demo market, then serve",      async () => (await import("./cli/commands/start.ts")).startCommand()],
  ["generate [options]",      "write the feeds of a generated market",                  async () => (await import("./cli/commands/generate.ts")).generateCommand()],
  ["ingest [options] [path]", "ingest feeds and publish a version for each day",        async () => (await import("./cli/commands/ingest.ts")).ingestCommand()],
  ["index [options]",         "build the search index and the row store",               async () => (await import("./cli/commands/index-lake.ts")).indexCommand()],
  ["serve [options]",         "serve the API",                                          async () => (await import("./cli/commands/serve.ts")).serveCommand()],
  ["accounts <command>",      "create and change accounts",                             async () => (await import("./cli/commands/accounts/accounts.ts")).accountsCommand()],
  ["keys <command>",          "create, list and revoke API keys",                       async () => (await import("./cli/commands/accounts/keys.ts")).keysCommand()],
  ["credits <command>",       "add, confirm, adjust, reverse and list credits",         async () => (await import("./cli/commands/accounts/credits.ts")).creditsCommand()],
  ["tiers <command>",         "review accounts for higher usage tiers",                 async () => (await import("./cli/commands/accounts/tiers.ts")).tiersCommand()],
  ["ledger <command>",        "back up, restore and verify the accounts file",          async () => (await import("./cli/commands/accounts/ledger.ts")).ledgerCommand()],
  ["sql [options] [query]",   "query the lake in SQL (DuckDB)",                         async () => (await import("./cli/commands/sql.ts")).sqlCommand()],
  ["mcp [options]",           "serve the tools for agents over standard input and output", async () => (await import("./cli/commands/mcp.ts")).mcpCommand()],
  ["export [options] [parameters...]", "write all listings of a search to a file",  async () => (await import("./cli/commands/export.ts")).exportCommand()],
  ["iceberg [options]",       "rewrite the lake's Iceberg metadata",                 async () => (await import("./cli/commands/iceberg.ts")).icebergCommand()],
  ["follow [options] <source>", "keep a lake equal to a published one",                 async () => (await import("./cli/commands/follow.ts")).followCommand()],
  ["push [options] <target>", "copy the published version to a folder or a bucket",     async () => (await import("./cli/commands/push.ts")).pushCommand()],
  ["vacuum [options]",        "remove old days, versions and their files",              async () => (await import("./cli/commands/vacuum.ts")).vacuumCommand()],
  ["migrate [options]",       "upgrade a lake and an accounts file from an older release", async () => (await import("./cli/commands/migrate.ts")).migrateCommand()],
  ["verify [options]",        "check the published version against its manifest",       async () => (await import("./cli/commands/verify.ts")).verifyCommand()],
];

/** Commands that a scheduler runs: where standard error is not a terminal, they report errors as JSON. */
const scheduled: readonly ScheduledCommand[] = ["ingest", "follow", "push", "vacuum"];

for (const output of [process.stdout, process.stderr]) output.on("error", exitOnOutputError);
await run();

async function run(): Promise<void> {
  const program = new Command("carquet")
    .description("Vehicle Listings Data API over a lake of Parquet files.")
    .addOption(new Option("-V, --version", "print the version"))
    .on("option:version", printVersion)
    .configureOutput({ outputError: (text, write) => write(formatUsageError(text)) });
  const requested = process.argv.slice(2).find((word) => !word.startsWith("-") && word !== "help");
  const usages = new Map<string, string>();
  for (const [usage, summary, load] of commands) {
    const [name = ""] = usage.split(" ");
    usages.set(name, usage);
    program.addCommand((name === requested ? await load() : new Command(name)).summary(summary));
  }
  inheritSettings(program);
  program.configureHelp({ subcommandTerm: (command) => usages.get(command.name()) ?? "help [command]" });
  try {
    await program.parseAsync();
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exit(thrown.exitCode);
    process.exitCode = 1;
    const message = thrown instanceof UserError ? thrown.message : stackOf(thrown);
    const command = scheduled.find((name) => name === requested);
    if (command === undefined || process.stderr.isTTY) process.stderr.write(`carquet: ${message}\n`);
    else (await import("./cli/scheduled.ts")).logCommand(command, "error", { message }, "run failed");
  }
}

/** Copies the settings of a command to all commands below it. */
function inheritSettings(command: Command): void {
  for (const subcommand of command.commands) inheritSettings(subcommand.copyInheritedSettings(command));
}

/** Prints the version of `package.json` and exits. */
function printVersion(): never {
  process.stdout.write(`${textIn(JSON.parse(projectText("package.json")), "version")}\n`);
  process.exit(0);
}

/** Formats an error of the argument parser, `error: <problem>` with an optional suggestion in parentheses, as one line. */
function formatUsageError(text: string): string {
  const [problem = "", ...suggestions] = text
    .trim()
    .replace(/^error: /, "")
    .split("\n");
  const expected = problem.startsWith("unknown command") ? ": expected a command listed by --help." : "";
  return `carquet: ${[`${problem[0]?.toUpperCase()}${problem.slice(1)}${expected}`, ...suggestions].join(" ")}\n`;
}

/** Returns the stack of a thrown value: an error that is not a UserError is a defect of the program. */
function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
}
