/**
 * Replicas: services that share accounts in PostgreSQL. Each grants its share of every limit, so that all together grant no more than a
 * single service would, and none has to ask the others.
 */
import type { RateLimits } from "./rate-limiter.ts";

export interface Replica {
  readonly number: number;
  readonly count: number;
}

/** A service without others. */
export const onlyReplica: Replica = { number: 1, count: 1 };

/** Returns a replica's share of a limit. The shares of all replicas add up to the limit; the first ones have the remainder. */
export const shareOf = (limit: number, { number, count }: Replica): number =>
  Math.floor(limit / count) + Number(number <= limit % count);

export const rateLimitShare = ({ per10s, per60s }: RateLimits, replica: Replica): RateLimits => ({
  per10s: shareOf(per10s, replica),
  per60s: shareOf(per60s, replica),
});
