/**
 * A failure that its reader can do something about: it is told in one line, without a stack.
 * Everything else that is thrown is a defect of the program.
 */
export class UserError extends Error {
  override readonly name = "Failure";
}

/** The message of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
