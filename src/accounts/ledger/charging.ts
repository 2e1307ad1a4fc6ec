/**
 * Posts charges to the ledger, many in one transaction. What decides a charge is read once per batch: the funds of the accounts and the
 * idempotency keys. The accounts are locked, so a second read would return the same. Each charge is decided in memory; those that are paid
 * are inserted together.
 */
import { textIn } from "../../base/json.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { Columns, SqlDatabase } from "../../db/sql-database.ts";
import { isOneOf, listFunds, lockAccounts, unknownAccountError } from "../account.ts";
import { monthOf } from "../clock.ts";
import { formatUsd } from "../money.ts";
import { type Funds, type Shortfall, shortfall } from "../policy/billing-state.ts";
import { prices, pricingVersion, type UsageClass } from "../policy/prices.ts";
import { type IdempotentRequest, type Repetition, UsedIdempotencyKeys } from "./idempotency.ts";
import { refundCharge, refundReference } from "./ledger.ts";

export interface ChargeEntry {
  /** Idempotency key: a second charge with this id posts nothing. */
  readonly chargeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly usageClass: UsageClass;
  /** How often the price of the class is charged; once by default. */
  readonly units?: number;
  readonly atMs: number;
  /** The idempotency key of the request, if it has one. */
  readonly request?: IdempotentRequest;
}

const microsOf = ({ usageClass, units = 1 }: Pick<ChargeEntry, "usageClass" | "units">): number =>
  prices[usageClass] * units;

/** Returns the options of `carquet credits adjust` that refund a charge, which the service would refund by the same reference. */
export const adjustmentOf = (charge: ChargeEntry): { account: string; usd: string; reference: string } => ({
  account: charge.accountId,
  usd: formatUsd(microsOf(charge)),
  reference: refundReference(charge.chargeId),
});

export interface AccountBalance {
  readonly accountId: string;
  /** The UTC month (`YYYY-MM`) that `spentMicros` covers. */
  readonly month: string;
  readonly balanceMicros: number;
  readonly spentMicros: number;
}

/** The funds of an account within a batch, which charges and refunds change. */
interface RunningFunds {
  readonly limits: Omit<Funds, "balanceMicros" | "spentMicros">;
  balanceMicros: number;
  month: string;
  /** By month. */
  readonly spentMicros: Map<string, number>;
}

export class ChargeBatch {
  private readonly paid: ChargeEntry[] = [];
  /** The ids of charges that are in the ledger, when they have been read, or will be posted. */
  private readonly known = new Set<string>();
  private areKnownRead = false;

  private constructor(
    private readonly database: SqlDatabase,
    private readonly charges: readonly ChargeEntry[],
    private readonly funds: Map<string, RunningFunds>,
    private readonly usedKeys: UsedIdempotencyKeys,
  ) {}

  /** Locks the accounts of charges and reads what decides them. */
  static load(database: SqlDatabase, charges: readonly ChargeEntry[]): ChargeBatch {
    if (charges.length > 0) lockAccounts(database, [...new Set(charges.map(({ accountId }) => accountId))]);
    return new ChargeBatch(
      database,
      charges,
      loadFunds(database, charges),
      UsedIdempotencyKeys.load(database, charges),
    );
  }

  readKnown(): void {
    if (this.areKnownRead) return;
    this.areKnownRead = true;
    const chargeIds = this.charges.map(({ chargeId }) => chargeId);
    for (const chargeId of listKnownCharges(this.database, chargeIds)) this.known.add(chargeId);
  }

  get balances(): readonly AccountBalance[] {
    return [...this.funds].map(([accountId, { month, balanceMicros, spentMicros }]) => ({
      accountId,
      month,
      balanceMicros,
      spentMicros: spentMicros.get(month) ?? 0,
    }));
  }

  /** Decides a charge. Returns undefined if it is in the ledger or will be posted, else why not. */
  add(charge: ChargeEntry): Shortfall | Repetition | undefined {
    const { chargeId, accountId, atMs } = charge;
    const repetition = this.usedKeys.find(charge);
    if (repetition !== undefined) return repetition;
    const running = this.funds.get(accountId);
    if (running === undefined) throw unknownAccountError(accountId);
    const month = monthOf(atMs);
    running.month = month;
    if (this.known.has(chargeId)) return undefined;
    const micros = microsOf(charge);
    const spentMicros = running.spentMicros.get(month) ?? 0;
    const short = shortfall({ ...running.limits, balanceMicros: running.balanceMicros, spentMicros }, micros);
    if (short !== undefined) {
      this.readKnown();
      return this.known.has(chargeId) ? undefined : short;
    }
    running.balanceMicros -= micros;
    running.spentMicros.set(month, spentMicros + micros);
    this.known.add(chargeId);
    this.usedKeys.add(charge);
    this.paid.push(charge);
    return undefined;
  }

  /** Refunds those of some charges that are in the ledger. */
  refund(chargeIds: readonly string[]): void {
    const refunded = chargeIds.flatMap((chargeId) => refundCharge(this.database, chargeId) ?? []);
    for (const { accountId, micros, atMs } of refunded) {
      const running = this.funds.get(accountId);
      if (running === undefined) continue;
      running.balanceMicros += micros;
      const spentMicros = running.spentMicros.get(monthOf(atMs));
      if (spentMicros !== undefined) running.spentMicros.set(monthOf(atMs), spentMicros - micros);
    }
    const others = refunded.filter(({ accountId }) => !this.funds.has(accountId));
    for (const [accountId, running] of loadFunds(this.database, others)) this.funds.set(accountId, running);
  }

  /**
   * Queues the charges that are paid, in the order in which they were added, with their idempotency keys. A charge that is in the ledger fails
   * them as a violated constraint.
   */
  post(): void {
    if (this.paid.length === 0) return;
    const charges = this.paid.splice(0).map(({ chargeId, accountId, keyId, usageClass, atMs, ...charge }) => ({
      charge_id: chargeId,
      account_id: accountId,
      key_id: keyId,
      usage_class: usageClass,
      at_ms: atMs,
      micros: -microsOf({ usageClass, ...charge }),
    }));
    this.database.queueOver(chargeColumns, charges, insertCharges);
    this.usedKeys.post();
  }
}

const chargeColumns: Columns = {
  charge_id: "text",
  account_id: "text",
  key_id: "text",
  usage_class: "text",
  at_ms: "integer",
  micros: "integer",
};

const insertCharges = (items: Sql): Sql => sql`
  INSERT INTO entries (entry_id, account_id, kind, micros, at_ms, price, key_id)
  SELECT charge_id, account_id, 'charge', micros, at_ms,
         (SELECT price FROM prices WHERE pricing_version = ${pricingVersion} AND prices.usage_class = items.usage_class), key_id
  FROM   ${items}`;

/** Returns the funds of the accounts of charges, with the spending of all months in which they are charged. */
function loadFunds(
  database: SqlDatabase,
  charges: readonly Pick<ChargeEntry, "accountId" | "atMs">[],
): Map<string, RunningFunds> {
  const accountIdsByMonth = new Map<string, Set<string>>();
  for (const { accountId, atMs } of charges) {
    const known = accountIdsByMonth.get(monthOf(atMs)) ?? new Set();
    accountIdsByMonth.set(monthOf(atMs), known.add(accountId));
  }
  const all = new Map<string, RunningFunds>();
  for (const [month, accountIds] of accountIdsByMonth)
    for (const [accountId, { balanceMicros, spentMicros, ...limits }] of listFunds(database, [...accountIds], month)) {
      const known = all.get(accountId) ?? { limits, balanceMicros, month, spentMicros: new Map() };
      known.spentMicros.set(month, spentMicros);
      all.set(accountId, known);
    }
  return all;
}

/**
 * Runs work in a transaction with a batch of charges, which it adds; then posts them. Which of them are in the ledger is not read, because
 * repeated charges are rare: if a constraint is violated, runs the work again and reads it.
 */
export function withCharges<T>(
  database: SqlDatabase,
  charges: readonly ChargeEntry[],
  work: (batch: ChargeBatch) => T,
): T {
  const attempt = (readsKnown: boolean): T =>
    database.transaction(() => {
      const batch = ChargeBatch.load(database, charges);
      if (readsKnown) batch.readKnown();
      const result = work(batch);
      batch.post();
      return result;
    });
  try {
    return attempt(false);
  } catch (thrown) {
    if (charges.length > 0 && classifyFault(thrown) === "constraint") return attempt(true);
    throw thrown;
  }
}

export function listKnownCharges(database: SqlDatabase, chargeIds: readonly string[]): readonly string[] {
  if (chargeIds.length === 0) return [];
  const rows = database.all(sql`
    SELECT entry_id FROM entries WHERE ${isOneOf(database, sql`entry_id`, chargeIds)} AND kind = 'charge'`);
  return rows.map((row) => textIn(row, "entry_id"));
}
