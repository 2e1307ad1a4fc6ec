/**
 * Which operations of pages are free: all of them, if the explorer is free; else those that the account has paid for in the last half hour, in the same
 * version. Another order, other columns, another page size and earlier pages of a paid search are free; a later page is charged, and one beyond the last
 * pays for no other. Bounded, and in memory: each of several services that share accounts charges once, and so does a restarted one.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { CallableId, OperationRequest } from "../operations/caller.ts";

const paidMs = 30 * 60_000;
const searchesMax = 20_000;

/** The parameters that choose what is shown of the same listings. */
const shownParameters = ["sort", "offset", "limit", "fields"] as const;

export class PageCharges {
  /** The greatest offset that was paid, by the hash of account, version and search. */
  private readonly paid: LRUCache<string, number>;

  constructor(
    private readonly isExplorerFree: boolean,
    nowMs: () => number,
  ) {
    this.paid = new LRUCache({ max: searchesMax, ttl: paidMs, ttlResolution: 0, perf: { now: nowMs } });
  }

  /** Returns whether an operation of a page is free, and a function to call with its data once it is charged. */
  check(accountId: string, version: string | undefined, { path, querystring }: OperationRequest<CallableId>) {
    const query = new URLSearchParams(querystring);
    const offset = Number(query.get("offset") ?? 0);
    for (const name of shownParameters) query.delete(name);
    const search = JSON.stringify([accountId, version, path, query.toString()]);
    const hash = createHash("sha256").update(search).digest("base64");
    const isFree = this.isExplorerFree || offset <= (this.paid.get(hash) ?? -1);
    const addCharge = (data: unknown): void => {
      const isBeyondLast = offset > 0 && Array.isArray(data) && data.length === 0;
      if (!isBeyondLast) this.paid.set(hash, offset);
    };
    return { isFree, addCharge };
  }
}
