/** The operator's first page: the health of the service, and the tier reviews that wait for a decision. */
import type { JSX } from "preact";
import type { QueuedReview } from "../../accounts/policy/tier-reviews.ts";
import { UserError } from "../../base/user-error.ts";
import type { Readiness } from "../../http/service/health.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Figures, Notice, ScrollingTable } from "../account/dashboard-page.tsx";
import { count, day as dayText } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { operatorPage } from "./operator-page.tsx";

export const servicePage =
  ({ accounts, current, readiness }: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const reviews = await accounts.administration.call("queuedReviews", {});
    const statements = current.statements;
    const work = { running: statements.running, waiting: statements.waiting, ledger: accounts.waitingTasks };
    return operatorPage(
      "/operator",
      "Service",
      <>
        <Notice text={query.get("changed") === "review" ? "The review is decided." : undefined} />
        <Health report={readiness().report} work={work} />
        <Reviews reviews={reviews} visitor={visitor} />
      </>,
    );
  };

interface HealthProps {
  readonly report: Readiness["report"];
  /** Statements of the query engine, and tasks of the ledger. */
  readonly work: { readonly running: number; readonly waiting: number; readonly ledger: number };
}

const Health = ({ report, work }: HealthProps): JSX.Element => {
  return (
    <>
      <Figures
        figures={[
          {
            name: "Status",
            value: report.status,
            note: report.reasons.length === 0 ? "Nothing is damaged" : undefined,
          },
          { name: "Statements running", value: count(work.running), note: `${count(work.waiting)} waiting` },
          { name: "Ledger tasks waiting", value: count(work.ledger), note: "charges and look-ups of keys" },
        ]}
      />
      {report.reasons.length === 0 ? null : (
        <ul class="bullets message alert">
          {report.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      <Facts report={report} />
    </>
  );
};

const Facts = ({ report: { version, serving, lake, answers } }: Pick<HealthProps, "report">): JSX.Element => {
  const used = [serving.index ? "search index" : "", serving.rows ? "row store" : ""].filter((part) => part !== "");
  return (
    <dl class="facts">
      <dt>Version</dt>
      <dd>
        <code>{version ?? "none"}</code>
      </dd>
      <dt>Served from</dt>
      <dd>{used.length === 0 ? "Parquet files" : used.join(" and ")}</dd>
      <dt>Files checked</dt>
      <dd>
        {count(lake.checked)} of {count(lake.files)}, {count(lake.damages)} found damaged since the start
      </dd>
      <dt>Response cache</dt>
      <dd>
        {count(answers.hits)} hits, {count(answers.misses)} misses, {count(Math.round(answers.bytes / 2 ** 20))} MiB
      </dd>
    </dl>
  );
};

interface ReviewsProps {
  readonly reviews: readonly QueuedReview[];
  readonly visitor: Visitor;
}

const Reviews = ({ reviews, visitor }: ReviewsProps): JSX.Element => (
  <section class="block" aria-labelledby="reviews">
    <h2 id="reviews">Tier reviews</h2>
    {reviews.length === 0 ? <p class="muted">No review waits for a decision.</p> : null}
    {reviews.length === 0 ? null : (
      <ScrollingTable label="Tier reviews">
        <thead>
          <tr>
            <th>Account</th>
            <th>Queued</th>
            <th>Promotion</th>
            <th>Decision</th>
          </tr>
        </thead>
        <tbody>
          {reviews.map((review) => (
            <ReviewRow key={review.accountId} review={review} visitor={visitor} />
          ))}
        </tbody>
      </ScrollingTable>
    )}
  </section>
);

interface ReviewRowProps {
  readonly review: QueuedReview;
  readonly visitor: Visitor;
}

const ReviewRow = ({ review: { accountId, email, day, from, to }, visitor }: ReviewRowProps): JSX.Element => (
  <tr>
    <td>
      <a href={`/operator/accounts/${accountId}`}>{email}</a>
    </td>
    <td class="time">{dayText(day)}</td>
    <td>
      tier {from} to {to}
    </td>
    <td>
      <Form visitor={visitor} action={`/operator/reviews/${accountId}`} class="inline">
        <button type="submit" name="decision" value="approve">
          Approve
        </button>
        <button type="submit" name="decision" value="decline">
          Decline
        </button>
      </Form>
    </td>
  </tr>
);

export const decideQueuedReview =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "" }, fields }: VisitorForm) => {
    const decision = fields.get("decision");
    if (decision !== "approve" && decision !== "decline")
      throw new UserError("Invalid decision: expected approve or decline.");
    await administration.change(visitor.identity.key.accountId, `tiers ${decision}`, { accountId });
    return { location: "/operator?changed=review" };
  };
