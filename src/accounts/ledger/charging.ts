/**
 * Posts charges to the ledger, many in one transaction. Each account's funds are read once per batch and then decremented in memory:
 * the transaction is the only writer, so a second read would return the same numbers.
 */
import { sql } from "../../db/sql.ts";
import type { PreparedRun, SqliteDatabase } from "../../db/sqlite.ts";
import { getFunds } from "../account.ts";
import { monthOf } from "../clock.ts";
import { type Funds, type Shortfall, shortfall } from "../policy/billing-state.ts";
import { prices, pricingVersion, type UsageClass } from "../policy/prices.ts";

export interface ChargeEntry {
  /** Idempotency key: a second charge with this id posts nothing. */
  readonly chargeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly usageClass: UsageClass;
  /** How often the price of the class is charged; once by default. */
  readonly units?: number;
  readonly atMs: number;
}

/** An account's balance and monthly spending after its charges. */
export interface AccountBalance {
  readonly accountId: string;
  /** The UTC month (`YYYY-MM`) that `spentMicros` covers. */
  readonly month: string;
  readonly balanceMicros: number;
  readonly spentMicros: number;
}

/** The funds of an account within a batch; each charge decrements them. */
type RunningFunds = Omit<Funds & AccountBalance, "balanceMicros" | "spentMicros"> & {
  balanceMicros: number;
  spentMicros: number;
};

export class ChargeBatch {
  private readonly funds = new Map<string, RunningFunds>();
  private readonly insert: PreparedRun;

  /** Create one per transaction; the transaction must hold the write lock. */
  constructor(private readonly database: SqliteDatabase) {
    this.insert = insertChargeIn(database);
  }

  /** The balances of all accounts in the batch, after the charges so far. */
  get balances(): readonly AccountBalance[] {
    return [...this.funds.values()].map(({ accountId, month, balanceMicros, spentMicros }) => ({
      accountId,
      month,
      balanceMicros,
      spentMicros,
    }));
  }

  /** Posts a charge. Returns undefined if it is in the ledger, else why the account cannot pay. */
  add({ chargeId, accountId, keyId, usageClass, units = 1, atMs }: ChargeEntry): Shortfall | undefined {
    const month = monthOf(atMs);
    const funds = this.fundsOf(accountId, month);
    const micros = prices[usageClass] * units;
    const short = shortfall(funds, micros);
    if (short !== undefined) return hasCharge(this.database, chargeId) ? undefined : short;
    if (this.insert(chargeId, accountId, units, atMs, keyId, pricingVersion, usageClass) === 1) {
      funds.balanceMicros -= micros;
      funds.spentMicros += micros;
    } else if (!hasCharge(this.database, chargeId)) {
      throw new TypeError(`Charge ${chargeId} was not posted: expected a price of ${usageClass} in the price list.`);
    }
    return undefined;
  }

  /** Returns the funds of an account; reads them again if the month differs from the previous charge's. */
  private fundsOf(accountId: string, month: string): RunningFunds {
    const known = this.funds.get(accountId);
    if (known?.month === month) return known;
    const funds = { accountId, month, ...getFunds(this.database, accountId, month) };
    this.funds.set(accountId, funds);
    return funds;
  }
}

/** Posts one charge in its own transaction. Returns undefined if it is in the ledger, else why the account cannot pay. */
export function postCharge(database: SqliteDatabase, charge: ChargeEntry): Shortfall | undefined {
  return database.transaction(() => new ChargeBatch(database).add(charge));
}

/** Returns true if a charge is in the ledger. */
export function hasCharge(database: SqliteDatabase, chargeId: string): boolean {
  return database.one(sql`SELECT 1 FROM entries WHERE entry_id = ${chargeId} AND kind = 'charge'`) !== undefined;
}

const preparedInserts = new WeakMap<SqliteDatabase, PreparedRun>();

/** Returns the statement that inserts a charge, prepared once per database. It inserts nothing if the charge id is taken. */
function insertChargeIn(database: SqliteDatabase): PreparedRun {
  const prepared = preparedInserts.get(database);
  if (prepared !== undefined) return prepared;
  const insert = database.prepareRun(sql`
    INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
    SELECT ?, ?, 'charge', -micros * ?, ?, price, ?
    FROM   prices WHERE pricing_version = ? AND usage_class = ?
    ON CONFLICT (entry_id) DO NOTHING`);
  preparedInserts.set(database, insert);
  return insert;
}
