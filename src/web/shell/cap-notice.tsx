/** The warning before an account's monthly limit, where money would be spent. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { usd } from "./format.ts";

/** The share of the monthly limit from which pages warn. */
const warnedShare = 0.9;

export const CapNotice = ({ account }: { readonly account: Account }): JSX.Element | null => {
  const { capMicros, spentMicros } = account;
  if (capMicros === null || spentMicros < warnedShare * capMicros) return null;
  return (
    <p class="note" role="status">
      {spentMicros >= capMicros
        ? `The monthly limit of ${usd(capMicros)} is reached: requests that cost money are refused until the month ends in UTC. `
        : `${usd(capMicros - spentMicros)} are left of the monthly limit of ${usd(capMicros)}: then requests that cost money are refused. `}
      Your account and the docs keep working. <a href="/account#cap">Raise the limit</a>
    </p>
  );
};
