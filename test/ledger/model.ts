/**
 * Ledger model in plain JavaScript, without a database: it recounts every balance, month and review from the list of
 * all entries. The real ledger must agree after each operation.
 */

export interface ModelEntry {
  readonly id: string;
  readonly account: number;
  readonly kind: "paid" | "promotional" | "charge" | "adjustment" | "chargeback_reversal";
  readonly micros: number;
  readonly atMs: number;
  readonly usageClass?: string;
  readonly credit?: string;
  readonly reference?: string;
}

interface ModelAccount {
  tier: number;
  isSuspended: boolean;
  cap: number | null;
  low: number;
  isQueued: boolean;
  declinedOn: string | null;
}

const cost: Readonly<Record<string, number>> = {
  listing_search: 2000,
  listing_search_historical: 4000,
  listing_search_enriched: 40000,
  vehicle_detail_enriched: 8000,
  dealer_lookup: 1000,
  suggestion: 100,
  listing_changes: 5_000,
};
export const classes = Object.keys(cost);

const isoDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);

export class LedgerModel {
  readonly accounts: ModelAccount[] = [];
  readonly posted: ModelEntry[] = [];
  readonly confirmed = new Map<string, number>();

  openAccount(tier: number): void {
    this.accounts.push({ tier, isSuspended: false, cap: null, low: 5_000_000, isQueued: false, declinedOn: null });
  }

  entriesOf(account: number): readonly ModelEntry[] {
    return this.posted.filter((entry) => entry.account === account);
  }

  balance(account: number): number {
    return this.entriesOf(account).reduce((sum, { micros }) => sum + micros, 0);
  }

  spent(account: number, month: string): number {
    const charges = this.entriesOf(account).filter(
      ({ kind, atMs }) => kind === "charge" && isoDay(atMs).startsWith(month),
    );
    return charges.reduce((sum, { micros }) => sum - micros, 0);
  }

  billing(account: number): string {
    const balance = this.balance(account);
    if (this.accounts[account]?.isSuspended) return "suspended";
    return balance <= 0 ? "exhausted" : balance < (this.accounts[account]?.low ?? 0) ? "low_balance" : "active";
  }

  /** Charges an account; returns `charged` or the code of the refusal. */
  charge(id: string, account: number, usageClass: string, atMs: number): string {
    if (this.posted.some((entry) => entry.id === id)) return "charged";
    const price = cost[usageClass] ?? Number.NaN;
    const { isSuspended, cap } = this.accounts[account] ?? { isSuspended: true, cap: null };
    if (isSuspended || this.balance(account) < price) return "billing_state_blocked";
    if (cap !== null && this.spent(account, isoDay(atMs).slice(0, 7)) + price > cap)
      return "monthly_spend_cap_exceeded";
    this.posted.push({ id, account, kind: "charge", micros: -price, atMs, usageClass });
    return "charged";
  }

  /** Returns whether a payment with this reference was posted. */
  isKnown(reference: string | undefined): boolean {
    return reference !== undefined && this.posted.some((entry) => entry.reference === reference);
  }

  isReversed(credit: string): boolean {
    return this.posted.some((entry) => entry.kind === "chargeback_reversal" && entry.credit === credit);
  }

  usage(account: number): readonly string[] {
    const rows = new Map<string, [number, number]>();
    for (const { kind, atMs, usageClass, micros } of this.entriesOf(account)) {
      if (kind !== "charge") continue;
      const row = rows.get(`${isoDay(atMs)} ${usageClass}`) ?? [0, 0];
      rows.set(`${isoDay(atMs)} ${usageClass}`, [row[0] + 1, row[1] - micros]);
    }
    return [...rows].map(([key, [requests, charged]]) => `${key} ${requests} ${charged}`).sort();
  }

  /** Reviews all accounts; returns one line per raised or queued account. */
  review(day: string): readonly string[] {
    return this.accounts.flatMap((account, index) => {
      const needs = { 1: [25, 7], 2: [150, 14], 3: [500, 30] }[account.tier];
      if (needs === undefined) return [];
      const [usd = 0, days = 0] = needs;
      const reversedOn = (id: string) =>
        this.posted
          .filter(({ kind, credit }) => kind === "chargeback_reversal" && credit === id)
          .map(({ atMs }) => isoDay(atMs))[0];
      const credits = this.entriesOf(index).filter(({ kind }) => kind === "paid");
      const confirmedCredits = credits.flatMap(({ id, micros }) => {
        const confirmedAt = this.confirmed.get(id);
        const reversed = reversedOn(id);
        if (confirmedAt === undefined || isoDay(confirmedAt) > day || (reversed !== undefined && reversed <= day))
          return [];
        return [{ micros, on: isoDay(confirmedAt) }];
      });
      const paid = confirmedCredits.reduce((sum, { micros }) => sum + micros, 0);
      const first = confirmedCredits.map(({ on }) => on).sort()[0];
      if (paid < usd * 1_000_000 || first === undefined || daysBetween(first, day) < days) return [];
      if (account.declinedOn !== null && daysBetween(account.declinedOn, day) < 30) return [];
      if (account.tier === 3) {
        if (account.isQueued) return [];
        account.isQueued = true;
        return [`${index} 3 4 queued`];
      }
      const hasRecent = credits.some(({ id }) => {
        const reversed = reversedOn(id);
        return reversed !== undefined && reversed <= day && daysBetween(reversed, day) < 90;
      });
      if (account.isSuspended || this.balance(index) <= 0 || hasRecent) return [];
      account.tier += 1;
      return [`${index} ${account.tier - 1} ${account.tier} automatic`];
    });
  }
}
