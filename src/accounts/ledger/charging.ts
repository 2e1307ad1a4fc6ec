/**
 * Charges within one transaction. What an account has is read once, when its first charge comes, and counted down in memory: the
 * transaction is the only writer, so that is what a second read would return.
 */
import { sql } from "../../db/sql.ts";
import type { PreparedRun, SqliteDatabase } from "../../db/sqlite.ts";
import { fundsAt } from "../account.ts";
import { monthOf } from "../clock.ts";
import { type Funds, type Shortfall, shortfall } from "../policy/billing-state.ts";
import { prices, pricingVersion, type UsageClass } from "../policy/prices.ts";

export interface ChargeEntry {
  /** Names the charge: a second one of the same name is the same one. */
  readonly chargeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly usageClass: UsageClass;
  readonly atMs: number;
}

/** What an account has after its charges. */
export interface ChargeResult {
  readonly accountId: string;
  /** The UTC month that `spentMicros` is of. */
  readonly month: string;
  readonly balanceMicros: number;
  readonly spentMicros: number;
}

/** What an account has, counted down by its charges. */
type Counted = Omit<Funds & ChargeResult, "balanceMicros" | "spentMicros"> & {
  balanceMicros: number;
  spentMicros: number;
};

export class ChargeBatch {
  private readonly funds = new Map<string, Counted>();
  private readonly insert: PreparedRun;

  /** Within a transaction of the database, which has to be the only writer. */
  constructor(private readonly database: SqliteDatabase) {
    this.insert = insertOf(database);
  }

  /** The accounts that charges were for, as they are now. */
  get charged(): readonly ChargeResult[] {
    return [...this.funds.values()].map(({ accountId, month, balanceMicros, spentMicros }) => ({
      accountId,
      month,
      balanceMicros,
      spentMicros,
    }));
  }

  /** Charges an account; returns why it cannot pay, or undefined when it has been charged. */
  add({ chargeId, accountId, keyId, usageClass, atMs }: ChargeEntry): Shortfall | undefined {
    const month = monthOf(atMs);
    const funds = this.fundsOf(accountId, month);
    const micros = prices[usageClass];
    const short = shortfall(funds, micros);
    if (short !== undefined) return hasCharge(this.database, chargeId) ? undefined : short;
    if (this.insert(chargeId, accountId, atMs, keyId, pricingVersion, usageClass) === 1) {
      funds.balanceMicros -= micros;
      funds.spentMicros += micros;
    } else if (!hasCharge(this.database, chargeId)) {
      throw new TypeError(`Charge ${chargeId} was not written: no price of ${usageClass} in the price list.`);
    }
    return undefined;
  }

  /** What an account has now; read again when a charge of another month comes. */
  private fundsOf(accountId: string, month: string): Counted {
    const known = this.funds.get(accountId);
    if (known?.month === month) return known;
    const funds = { accountId, month, ...fundsAt(this.database, accountId, month) };
    this.funds.set(accountId, funds);
    return funds;
  }
}

/** Charges an account; returns why it cannot pay, or undefined when it has been charged. */
export function postCharge(database: SqliteDatabase, one: ChargeEntry): Shortfall | undefined {
  return database.transaction(() => new ChargeBatch(database).add(one));
}

/** Returns whether a charge is in the ledger. */
export function hasCharge(database: SqliteDatabase, chargeId: string): boolean {
  return database.one(sql`SELECT 1 FROM entries WHERE entry_id = ${chargeId} AND kind = 'charge'`) !== undefined;
}

const inserts = new WeakMap<SqliteDatabase, PreparedRun>();

/** The statement that adds an entry, prepared once for a database; adds none when the charge is there already. */
function insertOf(database: SqliteDatabase): PreparedRun {
  const known = inserts.get(database);
  if (known !== undefined) return known;
  const insert = database.prepareRun(sql`
    INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
    SELECT ?, ?, 'charge', -micros, ?, price, ?
    FROM   prices WHERE pricing_version = ? AND usage_class = ?
    ON CONFLICT (entry_id) DO NOTHING`);
  inserts.set(database, insert);
  return insert;
}
