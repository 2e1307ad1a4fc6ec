/** The service: its health, its sources and their faults, what runs, the lake on the disk, the accuracy of values, and tier reviews. */
import type { JSX } from "preact";
import { type QueuedReview, queuedReviews } from "../../accounts/policy/tier-reviews.ts";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { DayStatus, FetchStatus, SourceStatus } from "../../ingest/fetch-status.ts";
import { accuracyOf } from "../../query/valuation/estimate.ts";
import { keptVersions } from "../../serving/kept-versions.ts";
import { ageBandNames, priceBandNames, rules } from "../../valuation/rules.ts";
import { Button } from "../components/button.tsx";
import { Note, Sheet, Spec } from "../components/sheet.tsx";
import { serviceNote, serviceTitle } from "../sentences/operate.ts";
import { age, amountOf, count, day as dayText, share, size, time } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { healthOf } from "./morning-page.tsx";
import { AccountLink, operatePage, TableSheet } from "./operate-page.tsx";

const path = "/operate/service";
const shownVersions = 7;

export const servicePage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { lake } = services.exports;
    // Before the page's own statements run.
    const health = await healthOf(services);
    const { waiting } = services.current.statements;
    const [reviews, [versions, kept], accuracy] = await Promise.all([
      visitor.isOpen ? [] : services.accounts.administration.call(queuedReviews),
      keptVersions(lake, shownVersions),
      services.current.version === undefined ? [] : services.current.use(accuracyOf),
    ]);
    return operatePage({
      path,
      title: "Service",
      visitor,
      judgement: {
        sentence: [...serviceTitle(health), "."],
        context: [serviceNote(health)],
        facts: [
          { value: [count(health.running)], label: ["statements running"] },
          { value: [count(waiting)], label: ["statements waiting"] },
        ],
      },
      children: (
        <>
          {query.get("changed") === "review" ? <Note>The review is decided.</Note> : null}
          {services.readiness().report.reasons.map((reason) => (
            <Note key={reason} isAlert>
              {reason}
            </Note>
          ))}
          <Freshness services={services} />
          <Sources fetch={services.freshness.lastFetch} />
          <Requests services={services} />
          {visitor.isOpen ? null : <Reviews reviews={reviews} visitor={visitor} />}
          <div class="two">
            <TableSheet
              id="versions"
              title={`The lake keeps ${amountOf(kept, "version")}`}
              of="They share most files. carquet vacuum removes old ones."
              label="Versions"
              rows={versions}
              columns={[
                { title: "Version", value: ({ version }) => version },
                { title: "Published, UTC", value: ({ publishedAtMs }) => time(publishedAtMs) },
                { title: "Files", value: ({ files }) => files, format: count },
                { title: "Size", value: ({ bytes }) => bytes, format: size },
              ]}
            />
            <Values accuracy={accuracy} isWhole={!query.has("values")} />
          </div>
        </>
      ),
    });
  };

const timeText = (at: string | number | null): string =>
  at === null ? "never" : `${time(new Date(at).getTime())} UTC`;

interface OfServiceProps {
  readonly services: SiteServices;
}

const Freshness = ({ services: { readiness, freshness } }: OfServiceProps): JSX.Element => {
  const { status, version, serving, lake, response_cache: cache } = readiness().report;
  const { day, publishedAtMs, dueAtMs, ...report } = freshness.report;
  const used = [...(serving.index ? ["search index"] : []), ...(serving.rows ? ["row store"] : [])];
  return (
    <Sheet
      id="freshness"
      title={day === null ? "Nothing is published yet" : `Prices of ${dayText(day)} are ${report.status}`}
    >
      <Spec
        facts={[
          ["State of the service", status],
          ["Version", version ?? "none"],
          ["Published", timeText(publishedAtMs)],
          ["Next delivery overdue from", timeText(dueAtMs)],
          ["Last ingest", timeText(freshness.lastIngest?.at ?? null)],
          ["Served from", used.join(" and ") || "Parquet files"],
          ["Files", `${count(lake.files)}, ${count(lake.damages)} found damaged since the start`],
          ["Response cache", `${count(cache.hits)} hits, ${count(cache.misses)} misses, ${size(cache.bytes)}`],
        ]}
      />
    </Sheet>
  );
};

const stateOf = ({ failedSince, quarantined, changed }: SourceStatus): string => {
  if (failedSince !== null) return `fails since ${timeText(failedSince)}`;
  return Object.keys(quarantined).length + changed.length > 0 ? "has faulty files" : "works";
};

const reasonsOf = ({ error, quarantined, changed }: SourceStatus): readonly string[] => [
  ...(error === null ? [] : [error]),
  ...Object.entries(quarantined).map(([file, reason]) => `${file}: ${reason}`),
  ...changed,
];

const Sources = ({ fetch }: { readonly fetch: FetchStatus | undefined }): JSX.Element => {
  const newFeed = <Button href="/operate/feeds">Map a new feed</Button>;
  if (fetch === undefined) {
    const why = "Sources are fetched by carquet run, which reads sources.yaml.";
    return <Sheet id="sources" title="No source is fetched" of={why} end={newFeed} />;
  }
  const sources = Object.entries(fetch.sources);
  const faulty = sources.filter(([, source]) => stateOf(source) !== "works").length;
  const days = [
    ...fetch.waiting.map((day) => `${dayText(day.day)} waits until ${timeText(day.deadline)}${missingIn(day)}.`),
    ...(fetch.completed === null ? [] : [`${dayText(fetch.completed.day)} is complete${missingIn(fetch.completed)}.`]),
  ];
  const all = amountOf(sources.length, "source");
  return (
    <TableSheet
      id="sources"
      title={faulty === 0 ? `All ${all} work` : `${count(faulty)} of ${all} ${faulty === 1 ? "has" : "have"} faults`}
      of={[`Last fetch: ${timeText(fetch.at)}.`, ...days].join(" ")}
      end={newFeed}
      label="Sources"
      rows={sources}
      columns={[
        { title: "Source", value: ([name]) => name },
        { title: "State", value: ([, source]) => stateOf(source) },
        { title: "Last success", value: ([, { succeededAt }]) => timeText(succeededAt) },
        { title: "Files waiting", value: ([, { waiting }]) => waiting, format: count },
        { title: "Reasons", value: ([, source]) => reasonsOf(source).join("; ") },
      ]}
    >
      {[...(fetch.error === null ? [] : [`The last fetch failed: ${fetch.error}`]), ...fetch.warnings].map((text) => (
        <Note key={text} isAlert>
          {text}
        </Note>
      ))}
    </TableSheet>
  );
};

/** Says what a day lacks: `; missing acme: inventory.csv`. */
const missingIn = ({ missing }: DayStatus): string =>
  Object.entries(missing)
    .map(([source, what]) => `; missing ${source}: ${what}`)
    .join("");

const Requests = ({ services: { current, accounts } }: OfServiceProps): JSX.Element => (
  <div class={accounts.isOpen ? "stack" : "two"}>
    <TableSheet
      id="statements"
      title="Running statements"
      rows={current.runningStatements}
      empty="No statement is running."
      columns={[
        {
          title: "Account",
          cell: ({ account }) => (account === "" ? "the service" : <AccountLink id={account} />),
        },
        { title: "Running for, ms", value: ({ ms }) => ms, format: count },
      ]}
    />
    {accounts.isOpen ? null : (
      <TableSheet
        id="limited"
        title="Accounts at their rate limits"
        rows={accounts.limited}
        empty="No account is refused requests."
        columns={[
          { title: "Account", cell: ({ accountId }) => <AccountLink id={accountId} /> },
          { title: "Refused requests", value: ({ refusals }) => refusals, format: count },
          { title: "Last one", value: ({ agoMs }) => agoMs, format: (ms) => `${age(ms)} ago` },
        ]}
      />
    )}
  </div>
);

function groupOf({ step, band, price_band }: Row): string {
  if (step !== null) return `by ${step}`;
  const names = band !== null ? ageBandNames : priceBandNames;
  return names[Number(band ?? price_band ?? -1)] ?? "all";
}

interface ValuesProps {
  readonly accuracy: readonly Row[];
  /** Whether groups of cars are left out. */
  readonly isWhole: boolean;
}

const shareText = (part: number): string => share(part, 1);

/** How far values are from prices that their fit has not seen: of all cars, and by group. */
const Values = ({ accuracy, isWhole }: ValuesProps): JSX.Element => (
  <TableSheet
    id="values"
    title="Accuracy of values"
    of={`By listings that were held out of the fit of the published day. The interval is to contain ${100 * rules.coverage} % of prices.`}
    tools={isWhole ? <a href={`${path}?values=all#values`}>By age, price, model and trim</a> : undefined}
    rows={accuracy.filter((one) => !isWhole || groupOf(one) === "all")}
    columns={[
      {
        title: "Cars",
        value: (one) => `${one.is_new === true ? "new" : "used"}${one.is_described === true ? ", described" : ""}`,
      },
      { title: "Group", value: groupOf },
      { title: "Listings", value: ({ listings }) => Number(listings), format: count },
      { title: "Median error", value: ({ error }) => Number(error), format: shareText },
      {
        title: "In the interval",
        value: ({ inside }) => Number(inside),
        format: shareText,
      },
    ]}
  />
);

const Reviews = ({ reviews, visitor }: { readonly reviews: readonly QueuedReview[]; readonly visitor: Visitor }) => (
  <TableSheet
    id="reviews"
    title={
      reviews.length === 0
        ? "No tier review waits"
        : `${amountOf(reviews.length, "tier review")} ${reviews.length === 1 ? "waits" : "wait"}`
    }
    label="Tier reviews"
    empty="An account that meets the conditions of its next tier is queued here."
    rows={reviews}
    columns={[
      { title: "Account", cell: ({ accountId, email }) => <AccountLink id={accountId} text={email} /> },
      { title: "Queued", value: ({ day }) => dayText(day) },
      { title: "Promotion", value: ({ fromTier, toTier }) => `tier ${fromTier} to tier ${toTier}` },
      {
        title: "Decision",
        cell: ({ accountId }) => (
          <Form visitor={visitor} action={`/operate/reviews/${accountId}`} class="line">
            <Button isSmall look="main" name="decision" value="approve">
              Approve
            </Button>
            <Button isSmall name="decision" value="decline">
              Decline
            </Button>
          </Form>
        ),
      },
    ]}
  />
);

export const decideQueuedReview =
  ({ accounts: { administration } }: SiteServices) =>
  async ({ visitor, params: { accountId = "" }, fields }: VisitorForm) => {
    const decision = fields.get("decision");
    if (decision !== "approve" && decision !== "decline")
      throw new UserError("Invalid decision: expected approve or decline.");
    await administration.change(visitor.identity.key.accountId, `tiers ${decision}`, { accountId });
    return { location: `${path}?changed=review` };
  };
