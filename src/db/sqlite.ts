/**
 * The only importer of SQLite: one file, `Sql` in and rows out. A transaction that has ended is on the disk, unless a file is made
 * in one go: the write-ahead log with `synchronous=FULL` is set and asserted at each opening, because the driver's own default is weaker.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type Sqlite from "better-sqlite3";
import type { Row } from "../base/json.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Sql, Value } from "./sql.ts";

const hasNodeApi10 = Number(process.versions.napi) >= 10;

/** The driver: Node from 24.19 on aborts under the one that Node 20 needs, which is not made with Node-API. */
export const { default: Engine } = await (hasNodeApi10 ? import("better-sqlite3-napi") : import("better-sqlite3"));

/** How a commit waits for the disk. NORMAL loses what was acknowledged with the power; it is there to prove that FULL does not. */
export type Synchronous = "FULL" | "NORMAL";

export interface SqliteOptions {
  /** How long to wait for another process that is writing. */
  readonly busyMs: number;
  readonly synchronous?: Synchronous;
}

const levels: Readonly<Record<Synchronous, number>> = { NORMAL: 1, FULL: 2 };

/** A prepared query of one parameter: returns the values of the first row, or of all rows, by column. */
export interface PreparedQuery {
  readonly first: (parameter: Parameter) => readonly unknown[] | undefined;
  readonly all: (parameter: Parameter) => readonly (readonly unknown[])[];
}

/** A prepared statement that returns no rows; returns how many it changed, without those of triggers. */
export type PreparedRun = (...parameters: readonly Parameter[]) => number;

type Parameter = string | number | Buffer;

export class SqliteDatabase {
  private readonly statements = new Map<string, Sqlite.Statement<unknown[], Row>>();

  private readonly transact: Sqlite.Transaction<(work: () => void) => void>;

  private constructor(private readonly engine: Sqlite.Database) {
    this.transact = engine.transaction((work) => work());
  }

  /** Opens a file that is there. Fails when it is no database, or does not take the settings that keep it safe. */
  static open(path: string, { busyMs, synchronous = "FULL" }: SqliteOptions): SqliteDatabase {
    return SqliteDatabase.opened(path, { timeout: busyMs }, (engine) => {
      const mode = engine.pragma("journal_mode = WAL", { simple: true });
      engine.pragma(`synchronous = ${synchronous}`);
      engine.pragma("foreign_keys = ON");
      // Without it, a REPLACE removes rows past the triggers that forbid that.
      engine.pragma("recursive_triggers = ON");
      const level = engine.pragma("synchronous", { simple: true });
      if (mode !== "wal" || level !== levels[synchronous])
        throw new UserError(`journal_mode is ${String(mode)} and synchronous ${String(level)}`);
    });
  }

  /** Opens a file that is there to read it, and leaves it as it is. */
  static openToRead(path: string): SqliteDatabase {
    return SqliteDatabase.opened(path, { readonly: true }, (engine) => engine.pragma("schema_version"));
  }

  /** Opens a file that nobody changes any more: what has been read of it is not checked again. Keeps up to 256 KiB of it in memory. */
  static openUnchanging(path: string): SqliteDatabase {
    return SqliteDatabase.opened(path, { readonly: true }, (engine) => {
      engine.pragma("locking_mode = EXCLUSIVE");
      engine.pragma("cache_size = -256");
      engine.pragma("schema_version");
    });
  }

  /**
   * Makes a file, to be filled and closed before anybody is told its name: what the power takes of it until then is made again. Fails
   * when something is there.
   */
  static make(path: string): SqliteDatabase {
    closeSync(openSync(path, "wx"));
    return SqliteDatabase.opened(path, {}, (engine) => {
      engine.pragma("journal_mode = OFF");
      engine.pragma("synchronous = OFF");
    });
  }

  private static opened(path: string, options: Sqlite.Options, set: (engine: Sqlite.Database) => void): SqliteDatabase {
    let engine: Sqlite.Database | undefined;
    try {
      engine = new Engine(path, { fileMustExist: true, ...options });
      set(engine);
      return new SqliteDatabase(engine);
    } catch (thrown) {
      engine?.close();
      throw new UserError(`${path}: cannot be opened as a database: ${messageOf(thrown)}.`, { cause: thrown });
    }
  }

  all(query: Sql): readonly Row[] {
    return this.statement(query).all(...query.values.map(bound));
  }

  one(query: Sql): Row | undefined {
    return this.statement(query).get(...query.values.map(bound));
  }

  /** Prepares a query with one `?` in it. */
  prepare(query: Sql): PreparedQuery {
    const statement = this.engine.prepare<[Parameter], readonly unknown[]>(query.text).raw();
    return { first: (parameter) => statement.get(parameter), all: (parameter) => statement.all(parameter) };
  }

  /** Prepares a statement with any number of `?` in it, which returns no rows. */
  prepareRun(statement: Sql): PreparedRun {
    const prepared = this.engine.prepare<unknown[]>(statement.text);
    return (...parameters) => prepared.run(...parameters).changes;
  }

  /** Runs a statement that answers nothing; gives how many rows it changed. */
  run(query: Sql): number {
    return this.statement(query).run(...query.values.map(bound)).changes;
  }

  /** Does some work in one transaction, as the only writer. It is on the disk when this returns; of what throws, nothing is. */
  transaction<T>(work: () => T): T {
    let result!: T;
    this.transact.immediate(() => {
      result = work();
    });
    return result;
  }

  /** Does some reading in one transaction, which sees one state of the file. */
  reading<T>(work: () => T): T {
    return this.engine.transaction(work).deferred();
  }

  /** Copies this database over another file, in one transaction of that one. */
  async copyInto(path: string): Promise<void> {
    await this.engine.backup(path, { progress: () => 1 << 30 });
  }

  close(): void {
    this.engine.close();
  }

  private statement({ texts }: Sql): Sqlite.Statement<unknown[], Row> {
    const text = texts.join("?");
    const known = this.statements.get(text);
    if (known !== undefined) return known;
    const prepared = this.engine.prepare<unknown[], Row>(text);
    this.statements.set(text, prepared);
    return prepared;
  }
}

function bound(value: Value): string | number | bigint | null {
  if (typeof value === "object" && value !== null) throw new TypeError("A list cannot be bound; bind it as JSON.");
  return typeof value === "boolean" ? Number(value) : value;
}

/** Makes an empty file that only its owner reads, on the disk; does nothing when there is one. */
export function makeFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, "wx", 0o600));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST") return;
    throw new UserError(`${path}: cannot be made: ${messageOf(thrown)}.`);
  }
  syncFile(dirname(path));
}

/** Forces a file, or a folder's entries, to the disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
