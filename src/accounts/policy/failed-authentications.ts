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

/** Failed sign-ins to one account from one client network; wrong current passwords of an account when it is changed. */
export const failedSignInLimits: FailureLimits = { failuresMax: 10, windowMs: 900_000, networksMax: 10_000 };
const limitsOfAccount: FailureLimits = { failuresMax: 100, windowMs: 900_000, networksMax: 10_000 };
const limitsOfNetwork: FailureLimits = { failuresMax: 50, windowMs: 900_000, networksMax: 10_000 };

type NameOf = (account: string, network: string) => string;

/**
 * Limits failed sign-ins: from one client network, to one account from one network, and to one account from all networks. The last limit is higher,
 * so that a single client cannot lock an account's holder out.
 */
export class SignInLimits {
  private readonly limits: readonly (readonly [FailedAuthentications, NameOf])[];

  constructor(nowMs: () => number) {
    this.limits = [
      [new FailedAuthentications(limitsOfNetwork, nowMs), (_, network) => network],
      [new FailedAuthentications(failedSignInLimits, nowMs), (account, network) => `${network} ${account}`],
      [new FailedAuthentications(limitsOfAccount, nowMs), (account) => account],
    ];
  }

  /**
   * Counts an attempt as failed and returns undefined. Returns the seconds until the next attempt if a limit is reached. `account` is an id or, for a name
   * that no account has, the name; `network` is as `clientNetwork` returns it, without spaces.
   */
  count(account: string, network: string): number | undefined {
    for (const [failures, nameOf] of this.limits) {
      const retryAfterSeconds = failures.count(nameOf(account, network));
      if (retryAfterSeconds !== undefined) return retryAfterSeconds;
    }
    return undefined;
  }

  /** Takes back the count of an attempt that succeeded. */
  uncount(account: string, network: string): void {
    for (const [failures, nameOf] of this.limits) failures.uncount(nameOf(account, network));
  }
}
