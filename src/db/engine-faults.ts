/**
 * Classifies errors of DuckDB, SQLite, PostgreSQL and the operating system. All but DuckDB have error codes; DuckDB has only messages, and no
 * other module matches them. `test/db/engine-faults.test.ts` provokes every fault.
 */
import { DamagedFile } from "../base/user-error.ts";
import { InvalidValue } from "./sql.ts";

/**
 * `constraint`: a violated constraint, or a trigger that aborted. `invalid value`: a value that cannot be a parameter, or has another type.
 * `damaged`: the content of a file is not what it must be. `io error`: the system cannot read or write a file, whose content may be intact; a retry can
 * succeed. `missing`: a file that is read does not exist. `out of memory`: a statement needed more than its limit. `unreachable`: no connection to a server.
 * `other`: everything else, including defects of this program.
 */
export type EngineFault =
  | "disk full"
  | "busy"
  | "constraint"
  | "invalid value"
  | "damaged"
  | "engine failed"
  | "io error"
  | "missing"
  | "out of memory"
  | "unreachable"
  | "other";

const systemErrors: Readonly<Record<string, EngineFault>> = {
  ENOSPC: "disk full",
  EDQUOT: "disk full",
  EIO: "io error",
  EREMOTEIO: "io error",
  ESTALE: "io error", // a network file system
  ETIMEDOUT: "busy", // a flush that takes too long
  EACCES: "io error",
  ENOENT: "missing",
  EMFILE: "io error", // too many open files
  ENFILE: "io error",
};

/** Faults by the SQLSTATE of PostgreSQL, or its first characters. */
const sqlStates: readonly (readonly [prefix: string, EngineFault])[] = [
  ["08", "unreachable"],
  ["22", "invalid value"], // data exceptions
  ["23", "constraint"],
  ["40", "busy"], // serialization failure, deadlock
  ["53100", "disk full"],
  ["53200", "out of memory"],
  ["53300", "unreachable"], // too many connections
  ["55P03", "busy"], // lock_timeout
  ["57P", "unreachable"], // shutdown, start-up
  ["P0001", "constraint"], // a trigger that aborted
  ["XX00", "damaged"],
];

/** Faults by the primary result code of SQLite, which is the low byte of an extended code. */
const sqliteErrors: Readonly<Record<number, EngineFault>> = {
  5: "busy", // SQLITE_BUSY
  6: "busy", // SQLITE_LOCKED
  7: "out of memory", // SQLITE_NOMEM
  8: "io error", // SQLITE_READONLY
  10: "io error", // SQLITE_IOERR
  11: "damaged", // SQLITE_CORRUPT
  13: "disk full", // SQLITE_FULL
  14: "io error", // SQLITE_CANTOPEN
  18: "invalid value", // SQLITE_TOOBIG
  19: "constraint", // SQLITE_CONSTRAINT
  20: "invalid value", // SQLITE_MISMATCH
  26: "damaged", // SQLITE_NOTADB
};

/** Faults by a part of DuckDB's message, or of one of another engine that a process has printed. */
const messages: readonly (readonly [part: RegExp, EngineFault])[] = [
  // Intermediate results may take nine tenths of the space that was free when the engine was opened.
  [/[Nn]o space left on device|Disk quota exceeded|failed to offload data block|database or disk is full/, "disk full"],
  [/Could not set lock on file/, "busy"],
  [/Out of Memory Error: /, "out of memory"],
  [/not a valid DuckDB database file|Footer length error|No magic bytes found|Corrupt database file/, "damaged"],
  [/Could not read enough bytes|too small to be a Parquet file|TProtocolException/, "damaged"],
  [/database disk image is malformed|file is not a database/, "damaged"],
  // After an internal error, an instance of the engine answers nothing more.
  [/^FATAL Error: .*database has been invalidated/s, "engine failed"],
  // Statements name the columns of files that this program has written: a file without one has a damaged footer.
  [/^Binder Error: Referenced column/, "damaged"],
  [
    /(Input\/output|i\/o|I\/O) error|Stale file handle|Too many open files|: Permission denied|unable to open database|readonly database/,
    "io error",
  ],
  [/No files found that match the pattern|: [Nn]o such file or directory/, "missing"],
];

/** A change that may be committed or not, because the disk or the connection failed while it was. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
  readonly isOutcomeUnknown = true;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/** Returns true if what threw may have been executed. */
export const isOutcomeUnknown = (thrown: unknown): boolean =>
  thrown instanceof Error && "isOutcomeUnknown" in thrown && thrown.isOutcomeUnknown === true;

/** Returns the fault of an error, or of its `cause`. */
export function classifyFault(thrown: unknown): EngineFault {
  if (!(thrown instanceof Error)) return "other";
  if (thrown instanceof InvalidValue) return "invalid value";
  if (thrown instanceof DamagedFile) return "damaged";
  const fault =
    "code" in thrown && typeof thrown.code === "string" ? byCode(thrown, thrown.code) : byMessage(thrown.message);
  return fault ?? classifyFault(thrown.cause);
}

/** Returns the id of the process that holds the lock, from the `busy` error of a DuckDB file; undefined if the error has none. */
export function lockHolderOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const [, holder] = /Could not set lock on file.*\(PID (\d+)\)/s.exec(thrown.message) ?? [];
  return holder === undefined ? undefined : Number(holder);
}

/** Returns the fault of an SQLSTATE, or of an error of the connection, which has another code or none. */
function postgresFault(code: string): EngineFault {
  const known = sqlStates.find(([prefix]) => code.startsWith(prefix));
  if (known !== undefined) return known[1];
  return /^(\d|F0|HV|P0|XX)/.test(code) ? "other" : "unreachable";
}

function byCode(thrown: Error, code: string): EngineFault | undefined {
  if ("isOutcomeUnknown" in thrown) return postgresFault(code);
  return "errcode" in thrown && typeof thrown.errcode === "number"
    ? sqliteErrors[thrown.errcode & 0xff]
    : systemErrors[code];
}

const byMessage = (message: string): EngineFault | undefined => messages.find(([part]) => part.test(message))?.[1];
