/** The accounts file, as a command has it: open while the command works, whether the service runs or not. */
import { existsSync } from "node:fs";
import { makeAccounts, openAccounts } from "../accounts/file/schema.ts";
import { Failure } from "../base/failure.ts";
import type { Json } from "../base/json.ts";
import type { Database } from "../db/sqlite.ts";
import { printed } from "./print.ts";

/** How long a command waits for a service that is writing. */
const busyMs = 10_000;

/** Does some work on an accounts file that is there. */
export function onAccounts<T>(path: string, work: (database: Database) => T): T {
  if (!existsSync(path)) throw new Failure(`${path}: there is no accounts file; accounts create makes one.`);
  return closing(openAccounts(path, { busyMs }), work);
}

/** Does some work on an accounts file, which is made when there is none. */
export function onNewAccounts<T>(path: string, work: (database: Database) => T): T {
  return closing(makeAccounts(path, { busyMs }), work);
}

function closing<T>(database: Database, work: (database: Database) => T): T {
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
  else process.stdout.write(printed({ columns: Object.keys(rows[0] ?? {}), rows }, "table"));
}

/** Prints what a command has made: as JSON, or the one line that says it. */
export function printMade(made: Readonly<Record<string, Json>>, line: string, isJson: boolean): void {
  process.stdout.write(`${isJson ? JSON.stringify(made) : line}\n`);
}

/** A time as it is printed: UTC, to the second. */
export const timeOf = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
