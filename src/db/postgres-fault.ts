/** Errors of PostgreSQL and of its connections, and the retry of transient ones. */
import type { StatementError } from "./postgres-connection.ts";

const attemptsMax = 5;

/** An error of the server, with its SQLSTATE, or of the connection. */
export class PostgresFault extends Error {
  override readonly name = "PostgresFault";
  /** The SQLSTATE, or the code of a system error. */
  readonly code: string;
  readonly isConnectionLost: boolean;

  constructor({ message, code, isConnectionLost }: StatementError) {
    super(message);
    this.code = code;
    this.isConnectionLost = isConnectionLost;
  }

  /**
   * Returns true if the transaction was rolled back and can be run again at once: in favor of another one (serialization failure, deadlock), or
   * because a migration has changed the columns of a prepared statement, which must be prepared again.
   */
  get isTransient(): boolean {
    return ["40001", "40P01", "0A000"].includes(this.code);
  }
}

/** Runs work, and again while its error is transient, a few times. */
export function repeatTransient<T>(work: () => T): T {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof PostgresFault) || !thrown.isTransient || attempt === attemptsMax) throw thrown;
    }
  }
}
