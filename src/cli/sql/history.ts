/** The shell's history: the lines of earlier sessions, in a file that only its user can read. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf, UserError } from "../../base/user-error.ts";

/** Lines that the history keeps. */
export const historyLinesMax = 1_000;

export interface ShellHistory {
  /** The newest lines, newest first. */
  readonly lines: readonly string[];
  add(line: string): void;
}

/** Returns the path of the history file by the XDG base directory specification. */
export const defaultHistoryFile = (): string =>
  join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "carquet", "sql_history");

/** Opens the history in a file; with `none`, keeps nothing. Throws a UserError if the file cannot be used. */
export function openHistory(path: string): ShellHistory {
  if (path === "none") return { lines: [], add: () => undefined };
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    const newest = lines.slice(-historyLinesMax);
    if (newest.length < lines.length || lines.length === 0)
      writeFileSync(path, newest.map((line) => `${line}\n`).join(""), { mode: 0o600 });
    chmodSync(path, 0o600);
    return { lines: newest.reverse(), add: (line) => appendFileSync(path, `${line}\n`, { mode: 0o600 }) };
  } catch (thrown) {
    throw new UserError(`Cannot use the history file ${path}: ${messageOf(thrown)}. --history none turns it off.`);
  }
}
