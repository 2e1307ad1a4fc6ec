/** Every command of the command line, as commander defines it. */
import type { Command, Option } from "commander";
import { loadAll } from "../../src/cli/program.ts";

/** The commands, in the order of `carquet --help`. */
export const topCommands = await loadAll();

/** A command that can be run, with the words that name it. */
export interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

/** The subcommands that a command's help shows. */
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

/** The options of a command that its help shows. */
export const shownOptions = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden);
