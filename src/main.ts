/** The command line. Each command says what it does, how far it is, and exits non-zero with a one-line reason. */
import { Command, CommanderError } from "commander";
import { Failure, messageOf } from "./base/failure.ts";
import { accountsCommand } from "./commands/accounts.ts";
import { creditsCommand } from "./commands/credits.ts";
import { generateCommand } from "./commands/generate.ts";
import { ingestCommand } from "./commands/ingest.ts";
import { keysCommand } from "./commands/keys.ts";
import { ledgerCommand } from "./commands/ledger.ts";
import { migrateCommand } from "./commands/migrate.ts";
import { serveCommand } from "./commands/serve.ts";
import { sqlCommand } from "./commands/sql.ts";
import { startCommand } from "./commands/start.ts";
import { tiersCommand } from "./commands/tiers.ts";
import { vacuumCommand } from "./commands/vacuum.ts";
import { verifyCommand } from "./commands/verify.ts";

const program = new Command("carquet")
  .description("A Vehicle Listings Data API over a lake of Parquet files.")
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "carquet: ")) });

for (const command of [
  startCommand,
  generateCommand,
  ingestCommand,
  serveCommand,
  accountsCommand,
  keysCommand,
  creditsCommand,
  tiersCommand,
  ledgerCommand,
  sqlCommand,
  vacuumCommand,
  verifyCommand,
  migrateCommand,
]) {
  program.addCommand(command());
}
inherit(program);

/** Gives a command's settings to those below it, and to theirs. */
function inherit(command: Command): void {
  for (const below of command.commands) inherit(below.copyInheritedSettings(command));
}

try {
  await program.parseAsync();
} catch (thrown) {
  if (thrown instanceof CommanderError) process.exit(thrown.exitCode);
  process.stderr.write(thrown instanceof Failure ? `carquet: ${thrown.message}\n` : `carquet: ${stackOf(thrown)}\n`);
  process.exitCode = 1;
}

/** A defect of the program is told with where it happened. */
function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
}
