/** The command line. Each command says what it does, how far it is, and exits non-zero with a one-line reason. */
import { Command, CommanderError } from "commander";
import { hasThreadPool, restart } from "./base/restart.ts";
import { messageOf, UserError } from "./base/user-error.ts";

type Row = readonly [usage: string, summary: string, load: () => Promise<Command>];

/** The commands. Only the one that is run is loaded. */
// biome-ignore format: a table is read by its columns
const commands: readonly Row[] = [
  ["start [options]",         "fill an empty lake with a demo market, then serve",        async () => (await import("./cli/commands/start.ts")).startCommand()],
  ["generate [options]",      "feeds of a made-up market",                                async () => (await import("./cli/commands/generate.ts")).generateCommand()],
  ["ingest [options] <path>", "feeds into the lake",                                      async () => (await import("./cli/commands/ingest.ts")).ingestCommand()],
  ["index [options]",         "build the search index and the row store",                 async () => (await import("./cli/commands/index-lake.ts")).indexCommand()],
  ["serve [options]",         "the API",                                                  async () => (await import("./cli/commands/serve.ts")).serveCommand()],
  ["accounts",                "accounts: create, list, show, state, cap, low, override",  async () => (await import("./cli/commands/accounts/accounts.ts")).accountsCommand()],
  ["keys",                    "keys of accounts: create, list, revoke",                   async () => (await import("./cli/commands/accounts/keys.ts")).keysCommand()],
  ["credits",                 "credits of accounts: add, confirm, adjust, reverse, list", async () => (await import("./cli/commands/accounts/credits.ts")).creditsCommand()],
  ["tiers",                   "usage tiers: review, queue, approve, decline",             async () => (await import("./cli/commands/accounts/tiers.ts")).tiersCommand()],
  ["ledger",                  "the accounts file: backup, restore, verify",               async () => (await import("./cli/commands/accounts/ledger.ts")).ledgerCommand()],
  ["sql [options] [query]",   "DuckDB over the lake's views",                             async () => (await import("./cli/commands/sql.ts")).sqlCommand()],
  ["vacuum [options]",        "remove what no kept version needs",                        async () => (await import("./cli/commands/vacuum.ts")).vacuumCommand()],
  ["migrate [options]",       "upgrade a lake and an accounts file of an older release",  async () => (await import("./cli/commands/migrate.ts")).migrateCommand()],
  ["verify [options]",        "check files against their manifest",                       async () => (await import("./cli/commands/verify.ts")).verifyCommand()],
];

if (hasThreadPool()) await run();
else restart();

/** Runs the command that the arguments name. */
async function run(): Promise<void> {
  const program = new Command("carquet")
    .description("A Vehicle Listings Data API over a lake of Parquet files.")
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "carquet: ")) });
  const named = process.argv.slice(2).find((word) => !word.startsWith("-") && word !== "help");
  const usages = new Map<string, string>();
  for (const [usage, summary, load] of commands) {
    const [name = ""] = usage.split(" ");
    usages.set(name, usage);
    program.addCommand((name === named ? await load() : new Command(name)).summary(summary));
  }
  inherit(program);
  program.configureHelp({ subcommandTerm: (command) => usages.get(command.name()) ?? "help [command]" });
  try {
    await program.parseAsync();
  } catch (thrown) {
    if (thrown instanceof CommanderError) process.exit(thrown.exitCode);
    process.stderr.write(
      thrown instanceof UserError ? `carquet: ${thrown.message}\n` : `carquet: ${stackOf(thrown)}\n`,
    );
    process.exitCode = 1;
  }
}

/** Gives a command's settings to those below it, and to theirs. */
function inherit(command: Command): void {
  for (const below of command.commands) inherit(below.copyInheritedSettings(command));
}

/** A defect of the program is told with where it happened. */
function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
}
