/**
 * Limits failed sign-ins: from one client network, to one account from one network, and to one account from all networks. The last limit
 * is higher, so that a single client cannot lock an account's holder out.
 */
import { bounds } from "../../base/bounds.ts";
import { FailedAuthentications } from "./failed-authentications.ts";

/** Where an attempt comes from, and what it tries to sign in to. */
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
    this.ofNetwork = new FailedAuthentications(bounds.failedSignInsOfAddress, nowMs);
    this.ofAccountFromNetwork = new FailedAuthentications(bounds.failedSignIns, nowMs);
    this.ofAccount = new FailedAuthentications(bounds.failedSignInsOfAccount, nowMs);
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
