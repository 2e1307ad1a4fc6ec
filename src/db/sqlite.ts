/**
 * The only importer of SQLite: one file, `Sql` in and rows out. A transaction that has ended is on disk, except in files opened with
 * `synchronous=NORMAL`, whose log the caller flushes: the mode of the log is set and asserted at each opening, because the driver's default is weaker.
 *
 * The driver declares Node 22, but its binaries need Node-API 8 only, which Node 20 has; its line for Node 20 (1.2) leaves a closed file open until
 * its statements are collected, and omits the code of an error in `all`.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from "@photostructure/sqlite";
import type { Row } from "../base/json.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Sql, Value } from "./sql.ts";
import { scalarOf } from "./sql-database.ts";

/** The driver, for tests that need a connection with other settings. */
export const SqliteEngine = DatabaseSync;

/** How a commit waits for the disk. NORMAL does not: the log survives a kill of the process, and a power cut once it is flushed. */
type Synchronous = "FULL" | "NORMAL";

export interface SqliteOptions {
  /** How long to wait for another process that is writing. */
  readonly busyMs: number;
  readonly synchronous?: Synchronous;
}

const defaultBusyMs = 5000;

/** How a file is opened: for reading and writing, or for reading. */
type Mode = "rw" | "ro";

/** A transaction in progress. */
interface OpenTransaction {
  commit(): void;
  rollBack(): void;
}

export class SqliteDatabase {
  private readonly statements = new Map<string, StatementSyncInstance>();
  /** The texts of a statement without fragments are the same object each time. */
  private readonly statementsByTexts = new WeakMap<readonly string[], StatementSyncInstance>();

  private constructor(private readonly engine: DatabaseSyncInstance) {}

  /** Opens an existing file. Fails if it is no database, or rejects the settings that make it durable. With NORMAL, the caller writes checkpoints. */
  static open(path: string, { busyMs, synchronous = "FULL" }: SqliteOptions): SqliteDatabase {
    return SqliteDatabase.opened(path, "rw", busyMs, (engine) => {
      const mode = pragma(engine, "journal_mode = WAL");
      // Without recursive triggers, a REPLACE removes rows past the triggers that forbid that.
      engine.exec(`
        PRAGMA synchronous = ${synchronous};
        PRAGMA foreign_keys = ON;
        PRAGMA recursive_triggers = ON`);
      if (synchronous === "NORMAL") engine.exec("PRAGMA wal_autocheckpoint = 0");
      const level = pragma(engine, "synchronous");
      if (mode !== "wal" || level !== (synchronous === "NORMAL" ? 1 : 2))
        throw new UserError(`journal_mode is ${String(mode)} and synchronous ${String(level)}`);
    });
  }

  static openToRead(path: string): SqliteDatabase {
    return SqliteDatabase.opened(path, "ro", defaultBusyMs);
  }

  private static opened(
    path: string,
    mode: Mode,
    busyMs: number,
    set: (engine: DatabaseSyncInstance) => void = () => {},
  ): SqliteDatabase {
    let engine: DatabaseSyncInstance | undefined;
    try {
      engine = new SqliteEngine(uriOf(path, mode), { readOnly: mode !== "rw", timeout: busyMs });
      engine.exec("PRAGMA cache_size = -16000");
      // Reads the file for the first time.
      pragma(engine, "schema_version");
      set(engine);
      return new SqliteDatabase(engine);
    } catch (thrown) {
      engine?.close();
      throw new UserError(`${path}: cannot be opened as a database: ${messageOf(thrown)}.`, { cause: thrown });
    }
  }

  all(query: Sql): readonly Row[] {
    return this.statement(query).all(...query.values.map(parameterOf));
  }

  one(query: Sql): Row | undefined {
    return this.statement(query).get(...query.values.map(parameterOf));
  }

  /** Runs a statement that returns nothing; returns how many rows an INSERT, UPDATE or DELETE changed, without those of triggers. */
  run(query: Sql): number {
    return this.statement(query).run(...query.values.map(parameterOf)).changes;
  }

  /** Runs work in one transaction, as the only writer. Commits it to disk, or rolls back if it throws. */
  transaction<T>(work: () => T): T {
    const transaction = this.begin("IMMEDIATE");
    try {
      const result = work();
      transaction.commit();
      return result;
    } catch (thrown) {
      transaction.rollBack();
      throw thrown;
    }
  }

  /** Begins a transaction, as the only writer or to read one state of the file. */
  begin(mode: "IMMEDIATE" | "DEFERRED"): OpenTransaction {
    this.engine.exec(`BEGIN ${mode}`);
    return {
      commit: () => this.engine.exec("COMMIT"),
      // On a full disk, SQLite may have rolled back already.
      rollBack: () => this.engine.isTransaction && this.engine.exec("ROLLBACK"),
    };
  }

  /** Closes the file; does nothing if it is closed. */
  close(): void {
    if (this.engine.isOpen) this.engine.close();
  }

  private statement({ texts }: Sql): StatementSyncInstance {
    const known = this.statementsByTexts.get(texts);
    if (known !== undefined) return known;
    const text = texts.join("?");
    const prepared = this.statements.get(text) ?? this.engine.prepare(text);
    this.statements.set(text, prepared);
    this.statementsByTexts.set(texts, prepared);
    return prepared;
  }
}

/** The address of an existing file: opened by its path, a missing file would be created. */
function uriOf(path: string, mode: Mode): URL {
  const uri = pathToFileURL(path);
  uri.search = `mode=${mode}`;
  return uri;
}

function pragma(engine: DatabaseSyncInstance, text: string): unknown {
  const [value]: readonly unknown[] = engine.prepare(`PRAGMA ${text}`, { returnArrays: true }).get() ?? [];
  return value;
}

function parameterOf(value: Value): string | number | bigint | null {
  const parameter = scalarOf(value);
  return typeof parameter === "boolean" ? Number(parameter) : parameter;
}

/** Creates an empty file that only its owner can read, and syncs it to disk. Does nothing if the file exists. */
export function createPrivateFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return;
    throw new UserError(`${path}: cannot be created: ${messageOf(thrown)}.`);
  }
  syncFile(dirname(path));
}

/** Syncs a file, or a folder's entries, to disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
