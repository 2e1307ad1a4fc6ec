/**
 * Ledger worker that exits while it writes. `exiting-worker.ts?moment=after-commit&transaction=2` runs the product's
 * worker until its second transaction with a charge: `after-commit` exits once that is on the disk and before the
 * reply is sent, `before-commit` once all is written and not committed.
 */
import { isMainThread } from "node:worker_threads";
import { ChargeBatch } from "../../src/accounts/ledger/charging.ts";
import { PostgresDatabase } from "../../src/db/postgres.ts";
import type { SqlDatabase } from "../../src/db/sql-database.ts";
import { SqliteDatabase } from "../../src/db/sqlite.ts";

export type ExitMoment = "before-commit" | "after-commit";

/** Returns the module of a worker that exits in its n-th transaction with a charge, counted from 1. */
export function exitingWorker(moment: ExitMoment, transaction: number): URL {
  const module = new URL(import.meta.url);
  module.search = String(new URLSearchParams({ moment, transaction: String(transaction) }));
  return module;
}

if (!isMainThread) {
  const parameters = new URL(import.meta.url).searchParams;
  const { add: charge } = ChargeBatch.prototype;
  let transactionsLeft = Number(parameters.get("transaction"));
  let charges = 0;
  ChargeBatch.prototype.add = function (entry) {
    charges += 1;
    return charge.call(this, entry);
  };
  const exitAt = (moment: ExitMoment): void => {
    if (charges > 0 && transactionsLeft === 1 && parameters.get("moment") === moment) process.exit(1);
  };
  for (const prototype of [SqliteDatabase.prototype, PostgresDatabase.prototype]) {
    const { transaction } = prototype;
    prototype.transaction = function <T>(this: SqlDatabase, work: () => T): T {
      const result = transaction.call<SqlDatabase, [() => T], T>(this, () => {
        const value = work();
        exitAt("before-commit");
        return value;
      });
      exitAt("after-commit");
      if (charges > 0) transactionsLeft -= 1;
      charges = 0;
      return result;
    };
  }
  await import("../../src/accounts/worker/ledger-worker.ts");
}
