/**
 * Classifies errors of DuckDB, SQLite and the operating system. SQLite and Node.js have error codes; DuckDB has only messages, and no
 * other module matches them. `test/db/engine-faults.test.ts` provokes every fault.
 */

/**
 * `constraint`: a violated constraint, or a trigger that aborted. `damaged`: the file is not a database, or its content is unreadable.
 * `other`: everything else, including defects of this program.
 */
export type EngineFault = "disk full" | "busy" | "constraint" | "damaged" | "other";

/** Faults by the prefix of an error code. An extended code of SQLite starts with its primary code. */
const codes: readonly (readonly [code: string, EngineFault])[] = [
  ["ENOSPC", "disk full"],
  ["EDQUOT", "disk full"],
  ["SQLITE_FULL", "disk full"],
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_CONSTRAINT", "constraint"],
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_NOTADB", "damaged"],
  ["SQLITE_IOERR", "damaged"],
];

/** Faults by a part of DuckDB's message. */
const messages: readonly (readonly [part: RegExp, EngineFault])[] = [
  [/No space left on device|Disk quota exceeded/, "disk full"],
  [/Could not set lock on file/, "busy"],
  [/not a valid DuckDB database file|Footer length error|No magic bytes found|Corrupt database file/, "damaged"],
];

/** Returns the fault of an error, or of its `cause`. */
export function classifyFault(thrown: unknown): EngineFault {
  if (!(thrown instanceof Error)) return "other";
  const fault = "code" in thrown && typeof thrown.code === "string" ? byCode(thrown.code) : byMessage(thrown.message);
  return fault ?? classifyFault(thrown.cause);
}

/** Returns the id of the process that holds the lock, from the `busy` error of a DuckDB file; undefined if the error has none. */
export function lockHolderOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const [, holder] = /Could not set lock on file.*\(PID (\d+)\)/s.exec(thrown.message) ?? [];
  return holder === undefined ? undefined : Number(holder);
}

const byCode = (code: string): EngineFault | undefined => codes.find(([start]) => code.startsWith(start))?.[1];

const byMessage = (message: string): EngineFault | undefined => messages.find(([part]) => part.test(message))?.[1];
