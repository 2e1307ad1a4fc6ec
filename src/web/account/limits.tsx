/** What an account may spend in a month, and how many requests it may send: its limit, its tier, and what the next tier needs. */
import type { JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import { readForm } from "../../accounts/administration/change-fields.ts";
import { type ChangeInput, changes } from "../../accounts/administration/changes.ts";
import type { RateLimits } from "../../accounts/policy/rate-limiter.ts";
import type { TierProgress } from "../../accounts/policy/tier-reviews.ts";
import { tierLimits, tiers } from "../../accounts/policy/tiers.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { count } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface LimitProps {
  readonly account: Account;
  readonly limits: { readonly limits: RateLimits; readonly remaining: RateLimits };
  readonly progress: TierProgress | undefined;
  readonly visitor: Visitor;
}

export const LimitSheet = ({ account, limits: { limits, remaining }, progress, visitor }: LimitProps): JSX.Element => (
  <Sheet id="cap" title="Monthly limit" of="Beyond it requests are refused, not charged.">
    <Form visitor={visitor} action="/account/cap" class="line grow">
      <Field
        label="Dollars a month"
        name="cap"
        inputMode="decimal"
        value={account.capMicros === null ? "" : String(account.capMicros / 1_000_000)}
        placeholder="none"
      />
      <Button>Set</Button>
    </Form>
    <p class="more small" id="tier">
      {`Tier ${account.tier}: ${count(limits.per10s)} requests in 10 seconds, ${count(limits.per60s)} in 60; ${count(remaining.per10s)} and ${count(remaining.per60s)} are left now. A page counts as one. `}
      {account.rateLimitOverride === null ? "" : "The operator has set these limits for this account. "}
      {progress === undefined || progress.tier === 4 ? "" : nextTierText(progress)}
    </p>
  </Sheet>
);

export const setCap =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const { accountId } = visitor.identity.key;
    const sent = new URLSearchParams({ capMicros: fields.get("cap")?.trim() || "none" });
    // The fields of the change have the types of its input.
    const input = readForm(changes["accounts cap"].fields, sent) as Pick<ChangeInput<"accounts cap">, "capMicros">;
    await administration.change(accountId, "accounts cap", { accountId, ...input });
    return { location: "/account#cap" };
  };

/** Says what the next tier has, and what is missing for it. */
function nextTierText({ tier, isQueued, missing }: TierProgress): string {
  const next = tiers.find((one) => one > tier) ?? tier;
  const { per10s, per60s } = tierLimits[next];
  const state = isQueued
    ? "The account qualifies: the promotion waits for the operator."
    : missing.length === 0
      ? "The account qualifies: the next daily review promotes it."
      : `Still missing: ${missing.join("; ")}.`;
  return `Tier ${next} has ${count(per10s)} in 10 seconds, ${count(per60s)} in 60. ${state}`;
}
