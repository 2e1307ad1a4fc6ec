/**
 * What kind of fault an engine or the system reports. SQLite and Node.js have codes; DuckDB has messages only, and this is the one place
 * that matches them. `test/db/engine-faults.test.ts` provokes each one for real.
 */

/**
 * `broken rule` is a constraint or a trigger's refusal; `damaged` a file that is no database, or whose content cannot be read; `other`
 * everything else, defects included.
 */
export type EngineFault = "disk full" | "busy" | "broken rule" | "damaged" | "other";

/** By the code of a system error. */
const systemErrors: Readonly<Record<string, EngineFault>> = { ENOSPC: "disk full", EDQUOT: "disk full" };

/** By the primary result code of SQLite, which is the low byte of an extended one. */
const sqliteErrors: Readonly<Record<number, EngineFault>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  10: "damaged", // SQLITE_IOERR
  11: "damaged", // SQLITE_CORRUPT
  13: "disk full", // SQLITE_FULL
  19: "broken rule", // SQLITE_CONSTRAINT
  26: "damaged", // SQLITE_NOTADB
};

/** What DuckDB's messages contain. */
const messages: readonly (readonly [part: RegExp, EngineFault])[] = [
  [/No space left on device|Disk quota exceeded/, "disk full"],
  [/Could not set lock on file/, "busy"],
  [/not a valid DuckDB database file|Footer length error|No magic bytes found|Corrupt database file/, "damaged"],
];

/** The kind of a fault that was thrown, or of what caused it. */
export function faultOf(thrown: unknown): EngineFault {
  if (!(thrown instanceof Error)) return "other";
  const own =
    "code" in thrown && typeof thrown.code === "string" ? byCode(thrown, thrown.code) : byMessage(thrown.message);
  return own ?? faultOf(thrown.cause);
}

/** The process that holds the lock which a `busy` DuckDB file reports; undefined where the system does not know it. */
export function lockHolderOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const [, holder] = /Could not set lock on file.*\(PID (\d+)\)/s.exec(thrown.message) ?? [];
  return holder === undefined ? undefined : Number(holder);
}

const byCode = (thrown: Error, code: string): EngineFault | undefined =>
  "errcode" in thrown && typeof thrown.errcode === "number" ? sqliteErrors[thrown.errcode & 0xff] : systemErrors[code];

const byMessage = (message: string): EngineFault | undefined => messages.find(([part]) => part.test(message))?.[1];
