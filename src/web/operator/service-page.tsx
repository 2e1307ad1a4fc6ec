/** The service in the operator's view: its health, what runs, the lake on the disk, accounts at their limits, and tier reviews. */
import type { JSX } from "preact";
import type { QueuedReview } from "../../accounts/policy/tier-reviews.ts";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { accuracyOf } from "../../query/valuation/estimate.ts";
import { diskOf, type KeptVersion, keptVersions } from "../../serving/kept-versions.ts";
import { ageBandNames, priceBandNames, rules } from "../../valuation/rules.ts";
import { Block, DataTable, Facts, Figures, Notice } from "../shell/blocks.tsx";
import { age, amountOf, count, day as dayText, share, size, time } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { AccountLink, operatorPage } from "./operator-page.tsx";

const shownVersions = 14;

export const servicePage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { lake } = services.exports;
    const reviews = await services.accounts.administration.call("queuedReviews", {});
    const [[versions, kept], disk, accuracy] = await Promise.all([
      keptVersions(lake, shownVersions),
      diskOf(lake),
      services.current.version === undefined ? [] : services.current.use(accuracyOf),
    ]);
    return operatorPage(
      "/operator/service",
      "Service",
      <>
        <Notice text={query.get("changed") === "review" ? "The review is decided." : undefined} />
        <Health services={services} />
        <Work services={services} />
        <Lake versions={versions} kept={kept} disk={disk} />
        <Values accuracy={accuracy} />
        <Reviews reviews={reviews} visitor={visitor} />
      </>,
    );
  };

interface OfServiceProps {
  readonly services: SiteServices;
}

const Health = ({ services: { readiness, current, accounts } }: OfServiceProps): JSX.Element => {
  const { status, reasons, version, serving, lake, response_cache: cache } = readiness().report;
  const used = [...(serving.index ? ["search index"] : []), ...(serving.rows ? ["row store"] : [])];
  return (
    <>
      <Figures
        figures={[
          ["Status", status, reasons.length === 0 ? "Nothing is damaged" : ""],
          ["Statements running", count(current.statements.running), `${count(current.statements.waiting)} waiting`],
          ["Ledger tasks waiting", count(accounts.waitingTasks), "charges and look-ups of keys"],
        ]}
      />
      {reasons.length === 0 ? null : (
        <ul class="bullets note warn">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <section class="sheet pad" aria-label="Service">
        <Facts
          facts={[
            ["Version", version ?? "none"],
            ["Served from", used.join(" and ") || "Parquet files"],
            ["Files", `${count(lake.files)}, ${count(lake.damages)} found damaged since the start`],
            ["Response cache", `${count(cache.hits)} hits, ${count(cache.misses)} misses, ${size(cache.bytes)}`],
          ]}
        />
      </section>
    </>
  );
};

const Work = ({ services: { current, accounts } }: OfServiceProps): JSX.Element => (
  <>
    <Block id="statements" title="Running statements">
      <DataTable
        label="Running statements"
        columns={["Account", "#Running for"]}
        rows={current.runningStatements.map(({ account, ms }) => [
          account === "" ? "the service" : <AccountLink id={account} />,
          count(ms, " ms"),
        ])}
      />
    </Block>
    <Block id="limited" title="Accounts at their rate limits">
      <DataTable
        label="Accounts at their rate limits"
        columns={["Account", "#Refused requests", "Last one"]}
        rows={accounts.limited.map(({ accountId, refusals, agoMs }) => [
          <AccountLink id={accountId} />,
          count(refusals),
          `${age(agoMs)} ago`,
        ])}
      />
      <code class="cmd">{"carquet accounts rate-limit --account <id> --per10s <n> --per60s <n>"}</code>
    </Block>
  </>
);

interface LakeProps {
  readonly versions: readonly KeptVersion[];
  readonly kept: number;
  readonly disk: Awaited<ReturnType<typeof diskOf>>;
}

const Lake = ({ versions, kept, disk }: LakeProps): JSX.Element => (
  <Block id="versions" title="Lake">
    <p class="muted">
      {size(disk.freeBytes)} of {size(disk.bytes)} are free. The lake keeps {amountOf(kept, "version")}, which share
      most files.
    </p>
    <DataTable
      label="Versions"
      columns={["@Version", "Published, UTC", "#Files", "#Size"]}
      rows={versions.map(({ version, publishedAtMs, files, bytes }) => [
        version,
        time(publishedAtMs),
        count(files),
        size(bytes),
      ])}
    />
    <code class="cmd">carquet verify</code>
    <code class="cmd">carquet vacuum --versions 14</code>
  </Block>
);

function groupOf({ step, band, price_band }: Row): string {
  if (step !== null) return `by ${step}`;
  const names = band !== null ? ageBandNames : priceBandNames;
  return names[Number(band ?? price_band ?? -1)] ?? "all";
}

/** How far values are from prices that their fit has not seen. */
const Values = ({ accuracy }: { readonly accuracy: readonly Row[] }): JSX.Element => (
  <Block id="values" title="Accuracy of values">
    <p class="muted">
      By listings that were held out of the fit of the published day. The interval is to contain {100 * rules.coverage}{" "}
      % of prices.
    </p>
    <DataTable
      label="Accuracy of values"
      columns={["Cars", "Group", "#Listings", "#Median error", "#In the interval"]}
      rows={accuracy.map((one) => [
        `${one.is_new === true ? "new" : "used"}${one.is_described === true ? ", described" : ""}`,
        groupOf(one),
        count(Number(one.listings)),
        share(Number(one.error), 1),
        share(Number(one.inside), 1),
      ])}
    />
  </Block>
);

interface ReviewsProps {
  readonly reviews: readonly QueuedReview[];
  readonly visitor: Visitor;
}

const Reviews = ({ reviews, visitor }: ReviewsProps): JSX.Element => (
  <Block id="reviews" title="Tier reviews">
    <DataTable
      label="Tier reviews"
      columns={["Account", "Queued", "Promotion", "Decision"]}
      rows={reviews.map(({ accountId, email, day, from, to }) => [
        <a href={`/operator/accounts/${accountId}`}>{email}</a>,
        dayText(day),
        `tier ${from} to ${to}`,
        <Form visitor={visitor} action={`/operator/reviews/${accountId}`} class="inline">
          <button type="submit" name="decision" value="approve">
            Approve
          </button>
          <button type="submit" name="decision" value="decline">
            Decline
          </button>
        </Form>,
      ])}
    />
    <code class="cmd">{"carquet tiers approve --account <id>"}</code>
  </Block>
);

export const decideQueuedReview =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "" }, fields }: VisitorForm) => {
    const decision = fields.get("decision");
    if (decision !== "approve" && decision !== "decline")
      throw new UserError("Invalid decision: expected approve or decline.");
    await administration.change(visitor.identity.key.accountId, `tiers ${decision}`, { accountId });
    return { location: "/operator/service?changed=review" };
  };
