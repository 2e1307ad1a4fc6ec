/** An error that the user can fix. The command line prints its message without a stack; any other error is a defect. */
export class UserError extends Error {
  override readonly name = "UserError";
}

/** Arguments or variables with which a command cannot run. The command line ends with code 2. */
export class UsageError extends UserError {}

/** A file that is missing, or whose content is not what it must be. */
export class DamagedFile extends UserError {}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns a name from outside as it can be printed in a line: without control characters, and shortened. */
export function printable(name: string, charactersMax = 200): string {
  const line = name.replaceAll(/[\p{Cc}\u2028\u2029]/gu, "\ufffd");
  return line.length > charactersMax ? `${line.slice(0, charactersMax)}...` : line;
}
