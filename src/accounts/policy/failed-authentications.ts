/**
 * Limits failed authentications per client network, in windows that start with the first failure. Memory is bounded: beyond
 * `networksMax`, the network that failed longest ago is forgotten.
 */
import { LRUCache } from "lru-cache";

export interface FailureLimits {
  readonly failuresMax: number;
  readonly windowMs: number;
  readonly networksMax: number;
}

/** Authentications with invalid API keys from one client address (IPv6: one /64 network); further ones are refused. */
export const failedAuthenticationLimits: FailureLimits = { failuresMax: 100, windowMs: 60_000, networksMax: 10_000 };

interface FailureWindow {
  failures: number;
  readonly endsAtMs: number;
}

export class FailedAuthentications {
  private readonly windows: LRUCache<string, FailureWindow>;

  constructor(
    readonly limits: FailureLimits,
    private readonly nowMs: () => number,
  ) {
    this.windows = new LRUCache({ max: limits.networksMax });
  }

  /**
   * Counts an attempt as failed and returns undefined. Returns the seconds until the end of the window, without counting, if the
   * network has reached its limit.
   */
  count(network: string): number | undefined {
    const nowMs = this.nowMs();
    const known = this.windows.get(network);
    if (known === undefined || known.endsAtMs <= nowMs) {
      this.windows.set(network, { failures: 1, endsAtMs: nowMs + this.limits.windowMs });
      return undefined;
    }
    if (known.failures >= this.limits.failuresMax) return Math.ceil((known.endsAtMs - nowMs) / 1000);
    known.failures += 1;
    return undefined;
  }

  /** Takes back the count of an attempt that turned out to be valid. */
  uncount(network: string): void {
    const known = this.windows.peek(network);
    if (known !== undefined && known.failures > 0) known.failures -= 1;
  }
}
