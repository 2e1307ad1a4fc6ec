/** Rate limits in the dashboard: the tier, the remaining requests of both windows, and the requirements of the next tier. */
import type { JSX } from "preact";
import { dayOf } from "../../accounts/clock.ts";
import type { TierProgress } from "../../accounts/policy/tier-reviews.ts";
import { tierLimits, tiers } from "../../accounts/policy/tiers.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Block, DataTable, Figures } from "../shell/blocks.tsx";
import { count } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { dashboardPage } from "./dashboard-page.tsx";

export const limitsPage =
  ({ accounts }: SiteServices): PageHandler =>
  async ({ visitor: { identity } }) => {
    const { administration } = accounts;
    const { accountId } = identity.key;
    const progress = await administration.call("tierProgress", { accountId, day: dayOf(administration.nowMs) });
    const { limits, remaining } = accounts.limits(identity);
    const { tier, rateLimitOverride } = identity.cached.account;
    const tierNote =
      rateLimitOverride === null ? "Limits of the tier apply" : "The operator has set other limits for this account";
    return dashboardPage(
      "/dashboard/limits",
      "Limits",
      <>
        <Figures
          figures={[
            ["Tier", String(tier), tierNote],
            ["Left in 10 seconds", count(remaining.per10s), `of ${count(limits.per10s)} requests`],
            ["Left in 60 seconds", count(remaining.per60s), `of ${count(limits.per60s)} requests`],
          ]}
        />
        <p class="sub">A page of the explorer counts as one request, however many API requests it sends.</p>
        <NextTier progress={progress} />
        <Block id="tiers" title="All tiers">
          <DataTable
            label="Limits of all tiers"
            columns={["Tier", "#Requests in 10 s", "#Requests in 60 s"]}
            rows={tiers.map((one) => [one, count(tierLimits[one].per10s), count(tierLimits[one].per60s)])}
            current={tiers.indexOf(tier)}
          />
        </Block>
      </>,
    );
  };

const NextTier = ({ progress }: { readonly progress: TierProgress | null }): JSX.Element | null => {
  if (progress === null || progress.tier === 4) return null;
  const { tier, isQueued, missing } = progress;
  return (
    <Block id="next-tier" title={`Tier ${tier + 1}`}>
      {isQueued ? <p>The account qualifies. The promotion waits for the operator.</p> : null}
      {!isQueued && missing.length === 0 ? <p>The account qualifies. The next daily review promotes it.</p> : null}
      {missing.length === 0 ? null : (
        <>
          <p>Still missing:</p>
          <ul class="bullets">
            {missing.map((requirement) => (
              <li key={requirement}>{requirement}</li>
            ))}
          </ul>
        </>
      )}
    </Block>
  );
};
