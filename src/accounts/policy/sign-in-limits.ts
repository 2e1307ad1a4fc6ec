/**
 * Limits failed sign-ins: from one client network, to one account from one network, and to one account from all networks. The last limit
 * is higher, so that a single client cannot lock an account's holder out.
 */
import { FailedAuthentications, type FailureLimits } from "./failed-authentications.ts";

/**
 * Failed sign-ins to one account from one client address, to one account, and from one client address; further attempts are refused. The
 * first also limits wrong current passwords when the password of an account is changed.
 */
export const failedSignInLimits: FailureLimits = { failuresMax: 10, windowMs: 900_000, networksMax: 10_000 };
const limitsOfAccount: FailureLimits = { failuresMax: 100, windowMs: 900_000, networksMax: 10_000 };
const limitsOfNetwork: FailureLimits = { failuresMax: 50, windowMs: 900_000, networksMax: 10_000 };

export interface SignInSource {
  /** The id of the account; for a name that no account has, the name. */
  readonly account: string;
  /** The client's network, as `clientNetwork` returns it. */
  readonly network: string;
}

export class SignInLimits {
  private readonly ofNetwork: FailedAuthentications;
  private readonly ofAccountFromNetwork: FailedAuthentications;
  private readonly ofAccount: FailedAuthentications;

  constructor(nowMs: () => number) {
    this.ofNetwork = new FailedAuthentications(limitsOfNetwork, nowMs);
    this.ofAccountFromNetwork = new FailedAuthentications(failedSignInLimits, nowMs);
    this.ofAccount = new FailedAuthentications(limitsOfAccount, nowMs);
  }

  /** Counts an attempt as failed and returns undefined. Returns the seconds until the next attempt if a limit is reached. */
  count(source: SignInSource): number | undefined {
    const { account, network } = source;
    return (
      this.ofNetwork.count(network) ?? this.ofAccountFromNetwork.count(pairOf(source)) ?? this.ofAccount.count(account)
    );
  }

  /** Takes back the count of an attempt that succeeded. */
  uncount(source: SignInSource): void {
    this.ofNetwork.uncount(source.network);
    this.ofAccountFromNetwork.uncount(pairOf(source));
    this.ofAccount.uncount(source.account);
  }
}

/** A network has no spaces. */
const pairOf = ({ account, network }: SignInSource): string => `${network} ${account}`;
