/** The warning before an account's spend cap, where money would be spent and in the dashboard. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { usd } from "./format.ts";

/** The share of the spend cap from which pages warn. */
const warnedShare = 0.9;

export const CapNotice = ({ account }: { readonly account: Account }): JSX.Element | null => {
  const { capMicros, spentMicros } = account;
  if (capMicros === null || spentMicros < warnedShare * capMicros) return null;
  return (
    <p class="note warn" role="status">
      {spentMicros >= capMicros
        ? `The spend cap of ${usd(capMicros)} is reached: requests that cost money are refused until the month ends in UTC. `
        : `${usd(capMicros - spentMicros)} are left of the spend cap of ${usd(capMicros)}: then requests that cost money are refused. `}
      The dashboard and the docs keep working. <a href="/dashboard#cap">Raise the cap</a>
    </p>
  );
};
