/** The service: its health, its sources and their faults, what runs, the lake on the disk, the accuracy of values, and tier reviews. */
import type { ComponentChildren, JSX } from "preact";
import type { QueuedReview } from "../../accounts/policy/tier-reviews.ts";
import type { Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { DayStatus, FetchStatus, SourceStatus } from "../../ingest/fetch-status.ts";
import { accuracyOf } from "../../query/valuation/estimate.ts";
import { diskOf, type KeptVersion, keptVersions } from "../../serving/kept-versions.ts";
import { ageBandNames, priceBandNames, rules } from "../../valuation/rules.ts";
import { Button } from "../components/button.tsx";
import { Note, Sheet, Spec } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { serviceNote, serviceTitle } from "../sentences/operate.ts";
import { age, amountOf, count, day as dayText, share, size, time } from "../shell/format.ts";
import { Form, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { AccountLink } from "./log-page.tsx";
import { healthOf } from "./morning-page.tsx";
import { operatePage } from "./operate-page.tsx";

const path = "/operate/service";
const shownVersions = 14;

export const servicePage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { lake } = services.exports;
    // Before the page's own statements run.
    const health = await healthOf(services);
    const { waiting } = services.current.statements;
    const [reviews, [versions, kept], disk, accuracy] = await Promise.all([
      visitor.isOpen ? [] : services.accounts.administration.call("queuedReviews", {}),
      keptVersions(lake, shownVersions),
      diskOf(lake),
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
          <Faults services={services} />
          <Freshness services={services} />
          <Sources fetch={services.freshness.lastFetch} />
          <div class="two">
            <Statements services={services} />
            {visitor.isOpen ? null : <Limited services={services} />}
          </div>
          {visitor.isOpen ? null : <Reviews reviews={reviews} visitor={visitor} />}
          <div class="two">
            <Lake versions={versions} kept={kept} disk={disk} />
            <Values accuracy={accuracy} />
          </div>
        </>
      ),
    });
  };

interface OfServiceProps {
  readonly services: SiteServices;
}

const Faults = ({ services }: OfServiceProps): JSX.Element => (
  <>
    {services.readiness().report.reasons.map((reason) => (
      <Note key={reason} isAlert>
        {reason}
      </Note>
    ))}
  </>
);

const timeText = (at: string | null): string => (at === null ? "never" : `${time(Date.parse(at))} UTC`);

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
          ["Published", publishedAtMs === null ? "never" : `${time(publishedAtMs)} UTC`],
          ["Next delivery overdue from", dueAtMs === null ? "never" : `${time(dueAtMs)} UTC`],
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

const newFeed = <Button href="/operate/feeds">Map a new feed</Button>;

const Sources = ({ fetch }: { readonly fetch: FetchStatus | undefined }): JSX.Element => {
  if (fetch === undefined)
    return (
      <Sheet
        id="sources"
        title="No source is fetched"
        of="Sources are fetched by carquet run, which reads sources.yaml."
        end={newFeed}
      />
    );
  const sources = Object.entries(fetch.sources);
  const faulty = sources.filter(([, source]) => stateOf(source) !== "works").length;
  const days: readonly (readonly [DayStatus, string])[] = [
    ...fetch.waiting.map((day) => [day, "waits"] as const),
    ...(fetch.completed === null ? [] : [[fetch.completed, "complete"] as const]),
  ];
  return (
    <Sheet
      id="sources"
      title={
        faulty === 0
          ? `All ${amountOf(sources.length, "source")} work`
          : `${count(faulty)} of ${amountOf(sources.length, "source")} ${faulty === 1 ? "has" : "have"} faults`
      }
      of={`Last fetch: ${timeText(fetch.at)}.`}
      end={newFeed}
    >
      {[...(fetch.error === null ? [] : [`The last fetch failed: ${fetch.error}`]), ...fetch.warnings].map((text) => (
        <Note key={text} isAlert>
          {text}
        </Note>
      ))}
      <SourceTable sources={sources} />
      <DayTable days={days} />
    </Sheet>
  );
};

const SourceTable = ({ sources }: { readonly sources: readonly (readonly [string, SourceStatus])[] }): JSX.Element => (
  <DataTable
    label="Sources"
    rows={sources}
    columns={[
      { title: "Source", cell: ([name]) => name },
      { title: "State", cell: ([, source]) => stateOf(source) },
      { title: "Last success", cell: ([, { succeededAt }]) => timeText(succeededAt) },
      { title: "Files waiting", isNumber: true, cell: ([, { waiting }]) => count(waiting) },
      { title: "Reasons", cell: ([, source]) => reasonsOf(source).join("; ") },
    ]}
  />
);

const DayTable = ({ days }: { readonly days: readonly (readonly [DayStatus, string])[] }): JSX.Element => (
  <DataTable
    label="Days"
    rows={days}
    columns={[
      { title: "Day", cell: ([{ day }]) => dayText(day) },
      { title: "State", cell: ([, state]) => state },
      { title: "Deadline", cell: ([{ deadline }]) => timeText(deadline) },
      {
        title: "Missing",
        cell: ([{ missing }]) =>
          Object.entries(missing)
            .map(([source, what]) => `${source}: ${what}`)
            .join("; "),
      },
    ]}
  />
);

const Statements = ({ services: { current } }: OfServiceProps): JSX.Element => (
  <Sheet id="statements" title="Running statements">
    <DataTable
      label="Running statements"
      rows={current.runningStatements}
      empty="No statement is running."
      columns={[
        {
          title: "Account",
          cell: ({ account }): ComponentChildren => (account === "" ? "the service" : <AccountLink id={account} />),
        },
        { title: "Running for", isNumber: true, cell: ({ ms }) => count(ms, " ms") },
      ]}
    />
  </Sheet>
);

const Limited = ({ services: { accounts } }: OfServiceProps): JSX.Element => (
  <Sheet
    id="limited"
    title="Accounts at their rate limits"
    tools={<code>{"carquet accounts rate-limit --account <id> --per10s <n> --per60s <n>"}</code>}
  >
    <DataTable
      label="Accounts at their rate limits"
      rows={accounts.limited}
      empty="No account is refused requests."
      columns={[
        { title: "Account", cell: ({ accountId }) => <AccountLink id={accountId} /> },
        { title: "Refused requests", isNumber: true, cell: ({ refusals }) => count(refusals) },
        { title: "Last one", isNumber: true, cell: ({ agoMs }) => `${age(agoMs)} ago` },
      ]}
    />
  </Sheet>
);

interface LakeProps {
  readonly versions: readonly KeptVersion[];
  readonly kept: number;
  readonly disk: Awaited<ReturnType<typeof diskOf>>;
}

const Lake = ({ versions, kept, disk }: LakeProps): JSX.Element => (
  <Sheet
    id="versions"
    title={`The lake keeps ${amountOf(kept, "version")}`}
    of={`They share most files. ${size(disk.freeBytes)} of ${size(disk.bytes)} are free.`}
    tools={
      <>
        <code>carquet verify</code>
        <code>carquet vacuum --versions 14</code>
      </>
    }
  >
    <DataTable
      label="Versions"
      rows={versions}
      columns={[
        { title: "Version", cell: ({ version }) => version },
        { title: "Published, UTC", cell: ({ publishedAtMs }) => time(publishedAtMs) },
        { title: "Files", isNumber: true, cell: ({ files }) => count(files) },
        { title: "Size", isNumber: true, cell: ({ bytes }) => size(bytes) },
      ]}
    />
  </Sheet>
);

function groupOf({ step, band, price_band }: Row): string {
  if (step !== null) return `by ${step}`;
  const names = band !== null ? ageBandNames : priceBandNames;
  return names[Number(band ?? price_band ?? -1)] ?? "all";
}

/** How far values are from prices that their fit has not seen: of all cars, and by group. */
const Values = ({ accuracy }: { readonly accuracy: readonly Row[] }): JSX.Element => {
  const isWhole = ({ step, band, price_band }: Row): boolean => step === null && band === null && price_band === null;
  return (
    <Sheet
      id="values"
      title="Accuracy of values"
      of={`By listings that were held out of the fit of the published day. The interval is to contain ${100 * rules.coverage} % of prices.`}
    >
      <AccuracyTable accuracy={accuracy.filter(isWhole)} />
      <details>
        <summary>By age, price, model and trim</summary>
        <AccuracyTable accuracy={accuracy.filter((one) => !isWhole(one))} />
      </details>
    </Sheet>
  );
};

const AccuracyTable = ({ accuracy }: { readonly accuracy: readonly Row[] }): JSX.Element => (
  <DataTable
    label="Accuracy of values"
    rows={accuracy}
    columns={[
      {
        title: "Cars",
        cell: (one) => `${one.is_new === true ? "new" : "used"}${one.is_described === true ? ", described" : ""}`,
      },
      { title: "Group", cell: groupOf },
      { title: "Listings", isNumber: true, cell: ({ listings }) => count(Number(listings)) },
      { title: "Median error", isNumber: true, cell: ({ error }) => share(Number(error), 1) },
      { title: "In the interval", isNumber: true, cell: ({ inside }) => share(Number(inside), 1) },
    ]}
  />
);

interface ReviewsProps {
  readonly reviews: readonly QueuedReview[];
  readonly visitor: Visitor;
}

const Reviews = ({ reviews, visitor }: ReviewsProps): JSX.Element => (
  <Sheet
    id="reviews"
    title={
      reviews.length === 0
        ? "No tier review waits"
        : `${amountOf(reviews.length, "tier review")} ${reviews.length === 1 ? "waits" : "wait"}`
    }
    tools={<code>{"carquet tiers approve --account <id>"}</code>}
  >
    <DataTable
      label="Tier reviews"
      empty="An account that meets the conditions of its next tier is queued here."
      rows={reviews}
      columns={[
        {
          title: "Account",
          cell: ({ accountId, email }) => <a href={`/operate/accounts/${accountId}#account`}>{email}</a>,
        },
        { title: "Queued", cell: ({ day }) => dayText(day) },
        { title: "Promotion", cell: ({ from, to }) => `tier ${from} to tier ${to}` },
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
  </Sheet>
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
