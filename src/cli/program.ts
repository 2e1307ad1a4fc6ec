/**
 * The program: a table of its commands, of which it loads the requested one only.
 */
import { Command, CommanderError, Option } from "commander";
import { textIn } from "../base/json.ts";
import { projectText } from "../base/project-files.ts";

/** A command: its heading in the help, its words, its summary and its module. */
type CommandRow = readonly [group: string, usage: string, summary: string, load: () => Promise<Command>];

/** All commands, in the order of the help, which lists those of a group together. */
// biome-ignore format: a table is read by its columns
const commands: readonly CommandRow[] = [
  ["Serve",    "start [options]",                  "fill an empty lake with a demo market, then serve",         async () => (await import("./commands/start.ts")).startCommand()],
  ["Serve",    "serve [options]",                  "serve the API",                                             async () => (await import("./commands/serve.ts")).serveCommand()],
  ["Serve",    "run [options]",                    "serve, fetch and ingest, as one process",                   async () => (await import("./commands/feeds/run.ts")).runCommand()],
  ["Serve",    "check [options]",                  "check what a service needs, before it starts",              async () => (await import("./commands/check.ts")).checkCommand()],
  ["Serve",    "mcp [options]",                    "serve the tools for agents over standard input and output", async () => (await import("./commands/mcp.ts")).mcpCommand()],
  ["Feeds",    "generate [options]",               "write the feeds of a generated market",                     async () => (await import("./commands/generate.ts")).generateCommand()],
  ["Feeds",    "map [options] [file]",             "propose a mapping of a file, or check one",                 async () => (await import("./commands/feeds/map.ts")).mapCommand()],
  ["Feeds",    "fetch [options]",                  "fetch feeds from their sources into a queue",               async () => (await import("./commands/feeds/fetch.ts")).fetchCommand()],
  ["Feeds",    "ingest [options] [path]",          "ingest feeds and publish a version for each day",           async () => (await import("./commands/ingest.ts")).ingestCommand()],
  ["Feeds",    "quality [options] [day]",          "report the quality of each dealer's feed of a day",         async () => (await import("./commands/feeds/quality.ts")).qualityCommand()],
  ["Feeds",    "release [options] <dealer> [day]", "release a feed that is held",                               async () => (await import("./commands/feeds/release.ts")).releaseCommand()],
  ["Feeds",    "reject [options] <dealer> [day]",  "reject a feed that is held",                                async () => (await import("./commands/feeds/release.ts")).rejectCommand()],
  ["Feeds",    "correct [options] <dealer> [day]", "correct a feed that is held by another file",               async () => (await import("./commands/feeds/release.ts")).correctCommand()],
  ["Analysis", "sql [options] [query]",            "query the lake in SQL (DuckDB)",                            async () => (await import("./commands/sql.ts")).sqlCommand()],
  ["Analysis", "export [options] [parameters...]", "write all listings of a search to a file",                  async () => (await import("./commands/export.ts")).exportCommand()],
  ["Accounts", "accounts <command>",               "create and change accounts",                                async () => (await import("./commands/accounts/accounts.ts")).accountsCommand()],
  ["Accounts", "keys <command>",                   "create, list and revoke API keys",                          async () => (await import("./commands/accounts/keys.ts")).keysCommand()],
  ["Accounts", "credits <command>",                "add, confirm, adjust, reverse and list credits",            async () => (await import("./commands/accounts/credits.ts")).creditsCommand()],
  ["Accounts", "tiers <command>",                  "review accounts for higher usage tiers",                    async () => (await import("./commands/accounts/tiers.ts")).tiersCommand()],
  ["Accounts", "ledger <command>",                 "back up, restore and verify the accounts file",             async () => (await import("./commands/accounts/ledger.ts")).ledgerCommand()],
  ["Lake",     "index [options]",                  "build the search index and the row store",                  async () => (await import("./commands/index-lake.ts")).indexCommand()],
  ["Lake",     "iceberg [options]",                "rewrite the lake's Iceberg metadata",                       async () => (await import("./commands/iceberg.ts")).icebergCommand()],
  ["Lake",     "verify [options]",                 "check the published version against its manifest",          async () => (await import("./commands/verify.ts")).verifyCommand()],
  ["Lake",     "vacuum [options]",                 "remove old days, versions and their files",                 async () => (await import("./commands/vacuum.ts")).vacuumCommand()],
  ["Copies",   "follow [options] <source>",        "keep a lake equal to a published one",                      async () => (await import("./commands/follow.ts")).followCommand()],
  ["Copies",   "push [options] <target>",          "copy the published version to a folder or a bucket",        async () => (await import("./commands/push.ts")).pushCommand()],
  ["Shell",    "completion <shell>",               "print the script that completes commands in a shell",       async () => (await import("./completion.ts")).completionCommand(loadAll)],
];

/** Returns all commands, with their summaries. */
export const loadAll = (): Promise<readonly Command[]> =>
  Promise.all(commands.map(async ([, , summary, load]) => (await load()).summary(summary)));

/** The exit code after an error of arguments or variables. */
export const usageErrorCode = 2;

/** Returns the program with the requested command of some arguments. Errors of its arguments are thrown as `CommanderError`, after they are printed in one line. */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command("carquet")
    .description("Vehicle Listings Data API over a lake of Parquet files.")
    .addOption(new Option("-V, --version", "print the version"))
    .on("option:version", printVersion)
    .configureOutput({ outputError: (text, write) => write(formatUsageError(text)) })
    .hook("preAction", async () => (await import("./variables.ts")).checkVariables(Object.keys(process.env)))
    .exitOverride(({ exitCode, code, message }) => {
      throw new CommanderError(exitCode === 0 ? 0 : usageErrorCode, code, message);
    });
  const requested = args.find((word) => !word.startsWith("-") && word !== "help");
  const usages = new Map<string, string>();
  for (const [group, usage, summary, load] of commands) {
    const [name = ""] = usage.split(" ");
    usages.set(name, usage);
    const command = name === requested ? await load() : new Command(name);
    program.commandsGroup(`${group}:`).addCommand(command.summary(summary));
  }
  inheritSettings(program);
  return program.configureHelp({ subcommandTerm: (command) => usages.get(command.name()) ?? "help [command]" });
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
