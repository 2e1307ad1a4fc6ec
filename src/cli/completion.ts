/**
 * `carquet completion`: prints a script by which a shell completes commands, options and their values. It is derived from the definitions of all
 * commands, so that a completion starts no process.
 */
import { Argument, Command, type Option } from "commander";

/** What a word can be: a path, one of some words, or a text that cannot be completed. */
type Completed = "files" | "folders" | "text" | readonly string[];

interface CompletedOption {
  readonly flags: readonly string[];
  readonly help: string;
  /** Undefined if the option needs no value. */
  readonly value?: Completed;
}

interface CompletedCommand {
  /** The words that name it, separated by spaces; empty for the program. */
  readonly path: string;
  readonly subcommands: readonly (readonly [name: string, summary: string])[];
  readonly options: readonly CompletedOption[];
  readonly argument: Completed;
}

/** Placeholders of options and names of arguments that are paths. */
const pathNames: Readonly<Record<string, "files" | "folders">> = {
  dir: "folders",
  ...Object.fromEntries(["file", "path", "source", "target", "location", "from", "to"].map((name) => [name, "files"])),
};

const scripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Creates the command; `loadAll` returns all commands of the program. */
export const completionCommand = (loadAll: () => Promise<readonly Command[]>): Command =>
  new Command("completion")
    .description(
      "Print a script that completes commands, options and paths in a shell. For example, in ~/.bashrc: source <(carquet completion bash)",
    )
    .addArgument(new Argument("<shell>", "shell that reads the script").choices(Object.keys(scripts)))
    .action(async (shell: string, _: unknown, { parent }: Command) => {
      const commands = (await loadAll()).flatMap((command) => completedCommands(command, command.name()));
      const program = parent === null ? [] : completedCommands(parent, "").slice(0, 1);
      process.stdout.write(scripts[shell]?.([...program, ...commands]) ?? "");
    });

/** Returns a command and those below it, as far as its help shows them. */
function completedCommands(command: Command, path: string): readonly CompletedCommand[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const [argument] = command.registeredArguments;
  const completed = {
    path,
    subcommands: visible.map((known) => [known.name(), help.subcommandDescription(known)] as const),
    options: help.visibleOptions(command).map(completedOption),
    argument: argument === undefined ? "text" : completedValue(argument.name(), argument.argChoices),
  } as const;
  const below = visible.filter((known) => known.name() !== "help");
  return [completed, ...below.flatMap((known) => completedCommands(known, `${path} ${known.name()}`))];
}

function completedOption({ short, long, flags, description, required, argChoices }: Option): CompletedOption {
  const named = { flags: [short, long].filter((flag) => flag !== undefined), help: description };
  return required ? { ...named, value: completedValue(/<(.*)>/.exec(flags)?.[1] ?? "", argChoices) } : named;
}

const completedValue = (name: string, choices: readonly string[] | undefined): Completed =>
  choices ?? pathNames[name] ?? "text";

/** Quotes a text for any of the three shells; an apostrophe becomes a typographic one. */
const quote = (text: string): string => `'${text.replaceAll("'", "’").replaceAll("\\", "/").replaceAll(/\s+/g, " ")}'`;

/** The words that can follow a command: subcommands and options, with what they do. */
const wordsOf = ({ subcommands, options }: CompletedCommand): readonly (readonly [word: string, help: string])[] => [
  ...subcommands,
  ...options.flatMap(({ flags, help }) => flags.map((flag) => [flag, help] as const)),
];

/** Patterns of `<command so far> <word>` whose word belongs to the command. */
const commandPatterns = (commands: readonly CompletedCommand[]): readonly string[] =>
  commands.flatMap(({ path }) => (path === "" ? [] : quote(path.includes(" ") ? path : ` ${path}`)));

/** The syntax that bash and zsh share: `command` becomes the command of the line, then its branch completes a value or its words. */
function commandCases(
  commands: readonly CompletedCommand[],
  [words, complete, known]: readonly [
    words: string,
    complete: (value: Completed) => string,
    known: (command: CompletedCommand) => string,
  ],
): string {
  const branches = commands.map((command) => {
    const values = command.options.flatMap(({ flags, value }) =>
      value === undefined ? [] : `        (${flags.join("|")}) ${complete(value)}; return ;;\n`,
    );
    const argument = command.argument === "text" ? "" : `      [[ $current == -* ]] || ${complete(command.argument)}\n`;
    return `    (${quote(command.path)})\n      case $previous in\n${values.join("")}      esac\n      ${known(command)}\n${argument}      ;;\n`;
  });
  return `  for word in "\${${words}}"; do
    case "$command $word" in
      (${commandPatterns(commands).join("|")}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command" in
${branches.join("")}  esac
}
`;
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const add = (words: readonly string[]): string => `_carquet_add -W $'${words.join("\\n")}'`;
  const complete = (value: Completed): string => {
    if (typeof value !== "string") return add(value);
    return value === "text" ? ":" : `_carquet_paths ${value === "files" ? "-f" : "-d"}`;
  };
  const known = (command: CompletedCommand): string => add(wordsOf(command).map(([word]) => word));
  return `# Completes carquet in bash: source <(carquet completion bash)
_carquet_add() { local IFS=$'\\n'; COMPREPLY+=($(compgen "$@" -- "$current")); }
_carquet_paths() { compopt -o filenames 2>/dev/null; _carquet_add "$1"; }
_carquet() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' word
  COMPREPLY=()
  if [[ $current == = ]]; then current=''; elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
${commandCases(commands, ["COMP_WORDS[@]:1:COMP_CWORD-1", complete, known])}complete -F _carquet carquet
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const complete = (value: Completed): string => {
    if (typeof value !== "string") return `compadd -- ${value.join(" ")}`;
    return { files: "_files", folders: "_files -/", text: ":" }[value];
  };
  const known = (command: CompletedCommand): string => {
    const described = wordsOf(command).map(([word, help]) => quote(`${word}:${help}`));
    return `described=(${described.join(" ")}); _describe carquet described`;
  };
  return `#compdef carquet
# Completes carquet in zsh: source <(carquet completion zsh), after compinit
_carquet() {
  local current=$PREFIX previous=$words[CURRENT-1] command='' word
  local -a described
  if [[ $PREFIX == --*=* ]]; then previous=\${PREFIX%%=*}; compset -P '*='; fi
${commandCases(commands, ["(@)words[2,CURRENT-1]", complete, known])}compdef _carquet carquet
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const at = `complete -c carquet -n '__carquet_at "${command.path}"'`;
    return [
      ...command.subcommands.map(([name, summary]) => `${at} -a ${name} -d ${quote(summary)}`),
      ...command.options.map(
        ({ flags, help, value }) => `${at} ${fishFlags(flags)} -d ${quote(help)}${fishValue(value)}`,
      ),
      ...(command.argument === "text" ? [] : [at + fishValue(command.argument).replace(/^ -[rx]/, "")]),
    ];
  });
  return `# Completes carquet in fish: carquet completion fish | source
function __carquet_at
    set -l command ''
    for word in (commandline -opc)[2..]
        switch "$command $word"
            case ${commandPatterns(commands).join(" ")}
                set command (string trim -- "$command $word")
        end
    end
    test "$command" = "$argv[1]"
end
complete -c carquet -f
${lines.join("\n")}
`;
}

const fishFlags = (flags: readonly string[]): string =>
  flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(" ");

/** The arguments of `complete` for the values of an option. */
function fishValue(value: Completed | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return ` -x -a ${quote(value.join(" "))}`;
  return { files: " -r -F", folders: " -x -a '(__fish_complete_directories)'", text: " -x" }[value];
}
