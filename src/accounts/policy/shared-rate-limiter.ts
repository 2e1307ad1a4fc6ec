/**
 * Rate limiter of services that share accounts in PostgreSQL: requests are counted in the database, so that an account has the same limits on any number of
 * them.
 */
import { LRUCache } from "lru-cache";
import { integerIn, type Row } from "../../base/json.ts";
import { sql } from "../../db/sql.ts";
import type { ServiceAccounts } from "../storage/service-accounts.ts";
import type { RateLimitExcess, RateLimits, RequestCounter } from "./rate-limiter.ts";

const accountsMax = 10_000;

export class SharedRateLimiter implements RequestCounter {
  /** The requests in the windows of accounts, as last counted. */
  private readonly counted = new LRUCache<string, RateLimits>({ max: accountsMax });

  constructor(private readonly store: ServiceAccounts) {}

  async take(accountId: string, limits: RateLimits): Promise<RateLimitExcess | undefined> {
    const row = await this.countRequests(accountId, 1, limits);
    const short = excessIn(row, "wait_10s", limits.per10s, 10);
    const long = excessIn(row, "wait_60s", limits.per60s, 60);
    return (long?.retryAfterSeconds ?? 0) > (short?.retryAfterSeconds ?? 0) ? long : short;
  }

  async add(accountId: string, requests: number): Promise<void> {
    if (requests > 0) await this.countRequests(accountId, requests, { per10s: null, per60s: null });
  }

  remaining(accountId: string, { per10s, per60s }: RateLimits): RateLimits {
    const counted = this.counted.get(accountId);
    return {
      per10s: Math.max(0, per10s - (counted?.per10s ?? 0)),
      per60s: Math.max(0, per60s - (counted?.per60s ?? 0)),
    };
  }

  purge(): Promise<unknown> {
    return this.store.use((database) =>
      database.run(sql`DELETE FROM carquet_requests WHERE slot < (extract(epoch FROM now()) - 61) * 10`),
    );
  }

  private async countRequests(
    accountId: string,
    requests: number,
    { per10s, per60s }: { readonly [Window in keyof RateLimits]: number | null },
  ): Promise<Row> {
    const row = await this.store.use((database) =>
      database.one(sql`SELECT * FROM count_requests(${accountId}, ${requests}, ${per10s}, ${per60s})`),
    );
    this.counted.set(accountId, { per10s: integerIn(row, "in_10s"), per60s: integerIn(row, "in_60s") });
    return row ?? {};
  }
}

function excessIn(row: Row, column: string, limit: number, windowSeconds: number): RateLimitExcess | undefined {
  const wait = row[column];
  if (typeof wait !== "number") return undefined;
  return { limit, windowSeconds, retryAfterSeconds: Math.max(1, Math.ceil(wait)) };
}
