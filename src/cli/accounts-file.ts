/** The accounts file, as a command has it: open while the command works, whether the service runs or not. */
import { existsSync } from "node:fs";
import { createAccountsFile, openAccountsFile } from "../accounts/file/schema.ts";
import type { Json } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import type { SqliteDatabase } from "../db/sqlite.ts";
import { formatRows } from "./print.ts";

/** How long a command waits for a service that is writing. */
const busyMs = 10_000;

/** Does some work on an accounts file that is there. */
export function withAccounts<T>(path: string, work: (database: SqliteDatabase) => T): T {
  if (!existsSync(path)) throw new UserError(`${path}: there is no accounts file; accounts create makes one.`);
  return closing(openAccountsFile(path, { busyMs }), work);
}

/** Does some work on an accounts file, which is made when there is none. */
export function withNewAccounts<T>(path: string, work: (database: SqliteDatabase) => T): T {
  return closing(createAccountsFile(path, { busyMs }), work);
}

function closing<T>(database: SqliteDatabase, work: (database: SqliteDatabase) => T): T {
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Prints rows as a table, or as a JSON list. */
export function printRows(rows: readonly Readonly<Record<string, Json>>[], isJson: boolean): void {
  if (isJson) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) process.stdout.write("(0 rows)\n");
  else process.stdout.write(formatRows({ columns: Object.keys(rows[0] ?? {}), rows }, "table"));
}

/** Prints what a command has made: as JSON, or the one line that says it. */
export function printCreated(made: Readonly<Record<string, Json>>, line: string, isJson: boolean): void {
  process.stdout.write(`${isJson ? JSON.stringify(made) : line}\n`);
}

/** A time as it is printed: UTC, to the second. */
export const timeOf = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
