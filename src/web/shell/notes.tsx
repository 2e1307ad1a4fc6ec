/** Notes that any page can have: prices that are old, and an account that is near its monthly limit. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { FreshnessReport } from "../../http/service/freshness.ts";
import type { IngestRecord } from "../../lake/ingest-record.ts";
import { age, time, usd } from "./format.ts";
import type { Visitor } from "./visitor.ts";

/** The note above the verdict when the shown prices are old: how old, why, and what to do. Fresh prices have none. */
interface OldDataProps {
  readonly report: FreshnessReport;
  readonly lastIngest: IngestRecord | undefined;
  readonly nowMs: number;
  readonly visitor: Visitor;
}

export const OldData = (props: OldDataProps): JSX.Element | null => {
  const { status, day } = props.report;
  if (day === null || status === "fresh") return null;
  return (
    <section class="old" aria-label="Age of the prices" role="status">
      <p class="frame">
        <strong>These prices are {age(props.nowMs - Date.parse(day))} old.</strong> {causeOf(props)}
        {props.visitor.identity.cached.account.isOperator ? <a href="/operate">What came</a> : null}
      </p>
    </section>
  );
};

/** Returns why the prices are old. Messages of ingest can name paths: operators alone see them. */
function causeOf({ report: { dueAtMs }, lastIngest, visitor: { identity, isOpen } }: OldDataProps): string {
  const isOwner = identity.cached.account.isOperator || isOpen;
  const reader = "Searches answer as of this day until the next delivery is published.";
  if (lastIngest?.error == null) {
    const due = `No later delivery has been published; one was due by ${time(dueAtMs ?? 0)} UTC.`;
    return `${due} ${isOwner ? "Look whether its files came." : reader} `;
  }
  const failed = `Ingest failed at ${time(Date.parse(lastIngest.at))} UTC`;
  return isOwner
    ? `${failed}: ${lastIngest.error} Correct or remove the delivery; the next \`carquet ingest\` goes on with it. `
    : `${failed}. ${reader} `;
}

/** The share of the monthly limit from which pages warn. */
const warnedShare = 0.9;

/** The warning before an account's monthly limit, where money would be spent. */
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
