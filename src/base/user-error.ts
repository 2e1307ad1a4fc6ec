/** An error that the user can fix. The command line prints its message without a stack; any other error is a defect. */
export class UserError extends Error {
  override readonly name = "UserError";
}

/** Arguments or variables with which a command cannot run. The command line ends with code 2. */
export class UsageError extends UserError {}

/** A file that is missing, or whose content is not what it must be. */
export class DamagedFile extends UserError {}

/** Returns what is wrong with a path that leads to a file instead of a folder, or the reverse, without a path that is named already; undefined for other errors. */
export function pathFaultOf(thrown: unknown, named?: string): string | undefined {
  const { code, path }: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error();
  if (code !== "EISDIR" && code !== "ENOTDIR") return undefined;
  const fault = code === "EISDIR" ? "a folder where a file is expected" : "a file where a folder is expected";
  return path === undefined || path === named ? fault : `${path}: ${fault}`;
}

export function messageOf(thrown: unknown, named?: string): string {
  return pathFaultOf(thrown, named) ?? (thrown instanceof Error ? thrown.message : String(thrown));
}

/** Returns a name from outside as it can be printed in a line: without control characters, and shortened. */
export function printable(name: string, charactersMax = 200): string {
  const line = name.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "\ufffd");
  return line.length > charactersMax ? `${line.slice(0, charactersMax)}...` : line;
}
