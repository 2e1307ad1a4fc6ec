/** The shell's own commands, which begin with a dot. Those for newcomers are understood without it, too. */
import { type Row, textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { literal } from "../../db/sql.ts";
import type { AnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { type ResultFormat, textFormats } from "./result-formats.ts";

export interface ShellState {
  mode: ResultFormat;
  isTimed: boolean;
  /** The file that the next result is written to. */
  outputFile: string | undefined;
  /** Whether a command has ended the shell. */
  isEnded: boolean;
}

interface DotCommand {
  readonly usage: string;
  readonly help: string;
  /** Whether the name is understood without the dot. */
  readonly isWord?: boolean;
  /** Returns the text to print. */
  readonly run: (argument: string, state: ShellState, database: AnalystDatabase) => Promise<string> | string;
}

const commands: readonly DotCommand[] = [
  { usage: ".help", isWord: true, help: "show this text", run: (_, _state, database) => helpText(database) },
  { usage: ".tables", help: "list views, macros and tables", run: (_, _state, database) => listTables(database) },
  {
    usage: ".schema [VIEW]",
    help: "show the columns of a view or table, or of all",
    run: (view, _state, database) => describe(database, view),
  },
  { usage: ".mode FORMAT", help: `print results as ${textFormats.join(", ")}`, run: setMode },
  {
    usage: ".output [FILE]",
    help: "write the next result to a file, in the format of its extension; without FILE, print it after all",
    run: (file, state) => {
      state.outputFile = file === "" ? undefined : file;
      return "";
    },
  },
  { usage: ".timing on|off", help: "show how long statements take", run: setTiming },
  { usage: ".exit", isWord: true, help: "leave the shell, as .quit and Ctrl-D do", run: endShell },
  { usage: ".quit", isWord: true, help: "leave the shell", run: endShell },
];

const nameOf = ({ usage }: DotCommand): string => usage.split(" ")[0] ?? usage;

export const dotCommandNames: readonly string[] = commands.map(nameOf);

const words: readonly string[] = commands.filter(({ isWord }) => isWord).map((command) => nameOf(command).slice(1));

/** Returns true for a line that is a command: one with a dot, or one that is a word such as `exit`. Within a statement, only `.exit` and `.quit` are. */
export function isCommand(line: string, isContinued: boolean): boolean {
  const text = line
    .replace(/[\s;]+$/, "")
    .trimStart()
    .toLowerCase();
  return isContinued ? [".exit", ".quit"].includes(text) : text.startsWith(".") || words.includes(text);
}

/** Runs a command; returns the text to print. Throws a UserError for an unknown command or argument. */
export async function runDotCommand(line: string, state: ShellState, database: AnalystDatabase): Promise<string> {
  const [, name = "", argument = ""] = /^\.?([^\s;]*)\s*(.*?)[\s;]*$/.exec(line.trim()) ?? [];
  const command = commands.find((candidate) => nameOf(candidate) === `.${name.toLowerCase()}`);
  if (command === undefined)
    throw new UserError(`Invalid command .${name}: expected one of ${dotCommandNames.join(", ")}.`);
  return command.run(argument, state, database);
}

async function helpText(database: AnalystDatabase): Promise<string> {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  const lines = commands.map(({ usage, help }) => `${usage.padEnd(width)}  ${help}\n`);
  const { rows } = await database.query("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name");
  const views = rows.map((row) => textIn(row, "view_name")).join(", ");
  return `${lines.join("")}All else is SQL and ends with a semicolon. Ctrl-C cancels a statement.\nViews: ${views}.\n`;
}

function endShell(_: string, state: ShellState): string {
  state.isEnded = true;
  return "";
}

function setMode(format: string, state: ShellState): string {
  const mode = textFormats.find((known) => known === format);
  if (mode === undefined) throw new UserError(`Invalid mode "${format}": expected one of ${textFormats.join(", ")}.`);
  state.mode = mode;
  return "";
}

function setTiming(word: string, state: ShellState): string {
  if (word !== "on" && word !== "off") throw new UserError(`Invalid value "${word}" for .timing: expected on or off.`);
  state.isTimed = word === "on";
  return "";
}

const namesQuery = `
  SELECT view_name AS name FROM duckdb_views() WHERE NOT internal
  UNION SELECT table_name FROM duckdb_tables() WHERE NOT internal
  UNION SELECT function_name || '(' || array_to_string(parameters, ', ') || ')' FROM duckdb_functions()
        WHERE NOT internal AND function_type = 'table_macro'
  ORDER BY name`;

async function listTables(database: AnalystDatabase): Promise<string> {
  const { rows } = await database.query(namesQuery);
  return rows.map((row) => `${textIn(row, "name")}\n`).join("");
}

async function describe(database: AnalystDatabase, view: string): Promise<string> {
  const condition = view === "" ? "NOT internal" : `table_name = ${literal(view).text}`;
  const { rows } = await database.query(
    `SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE ${condition} ORDER BY table_name, column_index`,
  );
  if (rows.length === 0) throw new UserError(`Invalid view "${view}": expected one that .tables lists.`);
  const names = [...new Set(rows.map((row) => textIn(row, "table_name")))];
  return names.map((name) => `${name}\n${columnLines(rows.filter(({ table_name }) => table_name === name))}`).join("");
}

const columnLines = (rows: readonly Row[]): string =>
  rows.map((row) => `  ${textIn(row, "column_name")} ${textIn(row, "data_type")}\n`).join("");
