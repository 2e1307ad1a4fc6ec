/**
 * The ledger's thread, ended while it writes: `dying-thread.ts?moment=after-commit&transaction=2` does what the product's thread does until
 * its second transaction with a charge, and exits when that is on the disk, before its message is sent; with `before-commit`, when all of it is
 * written and not committed.
 */
import { isMainThread } from "node:worker_threads";
import { ChargeBatch } from "../../src/accounts/ledger/charging.ts";
import { SqliteDatabase } from "../../src/db/sqlite.ts";

/** When the thread ends. */
export type Moment = "before-commit" | "after-commit";

/** The module of a thread that ends in its transaction of some number, counted from 1; those without a charge do not count. */
export function dyingThread(moment: Moment, transaction: number): URL {
  const module = new URL(import.meta.url);
  module.search = String(new URLSearchParams({ moment, transaction: String(transaction) }));
  return module;
}

if (!isMainThread) {
  const given = new URL(import.meta.url).searchParams;
  const { transaction } = SqliteDatabase.prototype;
  const { add: charge } = ChargeBatch.prototype;
  let left = Number(given.get("transaction"));
  let charges = 0;
  ChargeBatch.prototype.add = function (one) {
    charges += 1;
    return charge.call(this, one);
  };
  const endAt = (moment: Moment): void => {
    if (charges > 0 && left === 1 && given.get("moment") === moment) process.exit(1);
  };
  SqliteDatabase.prototype.transaction = function <T>(this: SqliteDatabase, work: () => T): T {
    const result = transaction.call<SqliteDatabase, [() => T], T>(this, () => {
      const done = work();
      endAt("before-commit");
      return done;
    });
    endAt("after-commit");
    if (charges > 0) left -= 1;
    charges = 0;
    return result;
  };
  await import("../../src/accounts/worker/ledger-worker.ts");
}
