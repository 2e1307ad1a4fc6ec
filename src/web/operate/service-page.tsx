/** The service: its health and disk, its sources and their faults, and tier reviews. */
import type { JSX } from "preact";
import { type QueuedReview, queuedReviews } from "../../accounts/policy/tier-reviews.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { DayStatus, FetchStatus, SourceStatus } from "../../ingest/fetch-status.ts";
import { Button } from "../components/button.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { serviceNote, serviceTitle } from "../sentences/operate.ts";
import { capital } from "../sentences/words.ts";
import { amountOf, count, day as dayText, time } from "../shell/format.ts";
import { Form } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { healthOf } from "./morning-page.tsx";
import { AccountLink, operatePage } from "./operate-page.tsx";

const path = "/operate/service";

export const servicePage =
  (services: SiteServices): PageHandler =>
  async ({ visitor }) => {
    // Before the page's own statements run.
    const health = await healthOf(services);
    const { waiting = 0 } = services.current.inService?.statements ?? {};
    const { reasons } = services.readiness().report;
    const reviews = visitor.isOpen ? [] : await services.accounts.administration.call(queuedReviews);
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
          {reasons.length === 0 ? null : <Note isAlert>{capital(reasons.join("; "))}.</Note>}
          <Sources fetch={services.freshness.lastFetch} />
          {visitor.isOpen ? null : <Reviews reviews={reviews} visitor={visitor} />}
        </>
      ),
    });
  };

const timeText = (at: string | number | null): string =>
  at === null ? "never" : `${time(new Date(at).getTime())} UTC`;

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
          <div class="line">
            {(["approve", "decline"] as const).map((decision) => (
              <Form key={decision} visitor={visitor} action={`/operate/accounts/${accountId}/tiers-${decision}`}>
                <Button isSmall look={decision === "approve" ? "main" : undefined}>
                  {capital(decision)}
                </Button>
              </Form>
            ))}
          </div>
        ),
      },
    ]}
  />
);
