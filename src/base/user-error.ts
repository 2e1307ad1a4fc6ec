/** An error that the user can fix. The command line prints its message without a stack; any other error is a defect. */
export class UserError extends Error {
  override readonly name = "UserError";
}

/** Returns the message of a thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
