/** Every command of the command line, as commander defines it. */
import type { Command, Option } from "commander";
import { accountsCommand } from "../../src/cli/commands/accounts/accounts.ts";
import { creditsCommand } from "../../src/cli/commands/accounts/credits.ts";
import { keysCommand } from "../../src/cli/commands/accounts/keys.ts";
import { ledgerCommand } from "../../src/cli/commands/accounts/ledger.ts";
import { tiersCommand } from "../../src/cli/commands/accounts/tiers.ts";
import { exportCommand } from "../../src/cli/commands/export.ts";
import { fetchCommand } from "../../src/cli/commands/feeds/fetch.ts";
import { mapCommand } from "../../src/cli/commands/feeds/map.ts";
import { qualityCommand } from "../../src/cli/commands/feeds/quality.ts";
import { releaseCommand } from "../../src/cli/commands/feeds/release.ts";
import { runCommand } from "../../src/cli/commands/feeds/run.ts";
import { followCommand } from "../../src/cli/commands/follow.ts";
import { generateCommand } from "../../src/cli/commands/generate.ts";
import { icebergCommand } from "../../src/cli/commands/iceberg.ts";
import { indexCommand } from "../../src/cli/commands/index-lake.ts";
import { ingestCommand } from "../../src/cli/commands/ingest.ts";
import { mcpCommand } from "../../src/cli/commands/mcp.ts";
import { migrateCommand } from "../../src/cli/commands/migrate.ts";
import { pushCommand } from "../../src/cli/commands/push.ts";
import { serveCommand } from "../../src/cli/commands/serve.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { startCommand } from "../../src/cli/commands/start.ts";
import { vacuumCommand } from "../../src/cli/commands/vacuum.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";

/** The commands, in the order of `carquet --help`. */
export const topCommands: readonly Command[] = [
  startCommand(),
  generateCommand(),
  mapCommand(),
  fetchCommand(),
  ingestCommand(),
  qualityCommand(),
  releaseCommand(),
  indexCommand(),
  serveCommand(),
  runCommand(),
  accountsCommand(),
  keysCommand(),
  creditsCommand(),
  tiersCommand(),
  ledgerCommand(),
  sqlCommand(),
  mcpCommand(),
  exportCommand(),
  icebergCommand(),
  followCommand(),
  pushCommand(),
  vacuumCommand(),
  migrateCommand(),
  verifyCommand(),
];

/** A command that can be run, with the words that name it. */
export interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

/** The subcommands that a command's help shows, without former names. */
const visibleCommands = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((subcommand) => subcommand.name() !== "help");

/** All commands that can be run; of a group, its subcommands. */
export function runnableCommands(commands = topCommands, before = ""): readonly NamedCommand[] {
  return commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ name: `${before}${command.name()}`, command }]
      : runnableCommands(visibleCommands(command), `${before}${command.name()} `),
  );
}

/** The options of a command that its help shows, without former names. */
export const shownOptions = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden);
