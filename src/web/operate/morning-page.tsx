/** This morning: which files came, which look broken and wait for a decision, which dealers are silent, and how the service is. */
import type { JSX } from "preact";
import type { SiteServices } from "../../http/service/service-state.ts";
import { isUndecided } from "../../ingest/held-feeds.ts";
import { type FeedDecision, isSameFeed, readFeedDecisions } from "../../lake/feed-decisions.ts";
import type { IngestRecord } from "../../lake/ingest-record.ts";
import { type FeedOverview, type FeedProblem, feedOverview } from "../../query/quality/feed-overview.ts";
import { diskOf } from "../../serving/kept-versions.ts";
import { Chart } from "../charts/chart.tsx";
import { bandScale, numberScale } from "../charts/scale.ts";
import { Figure } from "../components/figure.tsx";
import { sortingOf } from "../components/numbers.tsx";
import { Note, Sheet } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import {
  decideTitle,
  type Morning,
  morningVerdict,
  readTitle,
  type ServiceHealth,
  serviceNote,
  serviceTitle,
  silentSince,
  silentTitle,
} from "../sentences/operate.ts";
import { count, day as dayText, shortCount, shortDay, time, weekday } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Words } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { BrokenFeeds, DecidedToday, SilentActs } from "./decisions.tsx";
import { FeedLink, operatePage, operatePath } from "./operate-page.tsx";

/** The days that bars and strips show, the published one last. */
const shownDays = 10;

export const morningPage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { current, freshness, exports, queue, accounts } = services;
    // Before the page's own statements run.
    const health = await healthOf(services);
    const [{ overview, nameOf, asOf }, decisions] = await Promise.all([
      current.use(async (version) => ({
        overview: await feedOverview(version, shownDays),
        nameOf: (dealer: string) => version.dealers.nameOf(dealer) ?? dealer,
        asOf: version.manifest.as_of,
      })),
      readFeedDecisions(exports.lake).catch((): readonly FeedDecision[] => []),
    ]);
    const today = time(accounts.administration.nowMs).slice(0, 10);
    const { open, awaited, decided, decisionAbout } = dividedFeeds(overview, decisions, { asOf, today, queue });
    const shown = { overview, asOf, query };
    return operatePage({
      path: operatePath,
      title: "This morning",
      kicker: `Operate · ${weekday(asOf)}, ${dayText(asOf)}`,
      visitor,
      judgement: verdictOf(overview, asOf, {
        broken: open.length,
        awaited: awaited.length,
        version: current.version,
        hasFailed: freshness.hasFailed,
      }),
      children: (
        <>
          {overview.failed.length === 0 ? null : <FailedDays days={overview.failed} />}
          <FailedIngest record={freshness.lastIngest} />
          <section id="decide">
            <div class="head">
              <h2>{decideTitle(open.length)}</h2>
              <span>Decided today: {count(decided.length)}</span>
            </div>
            {open.length === 0 ? null : <BrokenFeeds feeds={open} days={overview.days} visitor={visitor} />}
          </section>
          {decided.length === 0 ? null : (
            <DecidedToday decisions={decided} nameOf={nameOf} asOf={asOf} visitor={visitor} />
          )}
          <div class="wide2">
            <SilentDealers {...shown} decisionAbout={decisionAbout} visitor={visitor} />
            <div class="stack">
              <CarsRead {...shown} />
              <Sheet title={<Words sentence={serviceTitle(health)} />} of={serviceNote(health)} isTinted />
            </div>
          </div>
        </>
      ),
    });
  };

/** Returns the held feeds and the silent dealers that wait for a decision, and the decisions of today or about the published day. */
function dividedFeeds(
  { problems }: FeedOverview,
  decisions: readonly FeedDecision[],
  { asOf, today, queue }: { readonly asOf: string; readonly today: string; readonly queue: string | undefined },
) {
  const isAbout = (one: FeedDecision, { dealerId, day }: FeedProblem) => isSameFeed(one, { dealer_id: dealerId, day });
  const decisionAbout = (feed: FeedProblem) => decisions.find((one) => isAbout(one, feed));
  const undecided = problems.filter((feed) => isUndecided(decisionAbout(feed), queue));
  const open = undecided.filter(({ state }) => state === "held");
  const awaited = undecided.filter(({ state, cars }) => state === "silent" && cars > 0);
  const decided = decisions.filter(
    (one) => (one.day === asOf || one.at.startsWith(today)) && !open.some((feed) => isAbout(one, feed)),
  );
  return { open, awaited, decided, decisionAbout };
}

function verdictOf(
  { states: { came = 0, held = 0, silent = 0 }, summaries }: FeedOverview,
  asOf: string,
  service: Pick<Morning, "broken" | "awaited" | "version" | "hasFailed">,
) {
  const day = summaries.find((one) => one.day === asOf);
  const report = `/operate/days/${asOf}`;
  return morningVerdict({
    ...service,
    day: asOf,
    asOf,
    expected: came + held + silent,
    silent,
    ...(day === undefined ? {} : { rows: day.vins + day.rejected, refused: day.rejected, cars: day.vins }),
    hrefs: { broken: "#decide", silent: "#silent", refused: `${report}#issues`, cars: "#read", came: report },
  });
}

/** Returns the health of the service, in the numbers of its sentence. */
export async function healthOf({
  current,
  freshness,
  exports,
  accounts,
  readiness,
}: SiteServices): Promise<ServiceHealth> {
  const { dueAtMs } = freshness.report;
  return {
    ...(await diskOf(exports.lake)),
    ...(current.inService?.statements ?? { running: 0 }),
    dueInMs: dueAtMs === null ? undefined : dueAtMs - accounts.administration.nowMs,
    hasFailed: freshness.hasFailed,
    isDegraded: readiness().report.reasons.length > 0,
  };
}

/** Says why the last ingest failed, and what to do. */
const FailedIngest = ({ record }: { readonly record: IngestRecord | undefined }): JSX.Element | null =>
  record?.error == null ? null : (
    <Note isAlert>
      The last ingest failed at {time(Date.parse(record.at))} UTC: {record.error} Correct or remove the delivery; later
      ones wait.
    </Note>
  );

/** Says how days that were expected are published after all. */
const FailedDays = ({ days }: { readonly days: readonly string[] }): JSX.Element => (
  <Note isAlert>
    {days.map(dayText).join("; ")}: nothing was published.{" "}
    <code>carquet ingest --replay-from {days[0]} &lt;dir&gt;</code> publishes this day and all later ones from their
    deliveries.
  </Note>
);

interface ShownProps {
  readonly overview: FeedOverview;
  readonly asOf: string;
  readonly query: URLSearchParams;
}

interface SilentProps extends ShownProps {
  readonly decisionAbout: (feed: FeedProblem) => FeedDecision | undefined;
  readonly visitor: Visitor;
}

const SilentDealers = (props: SilentProps): JSX.Element => {
  const { overview, asOf, query, decisionAbout, visitor } = props;
  const { problems, days } = overview;
  const silent = problems
    .filter(({ state }) => state === "silent")
    .map((feed) => ({ ...feed, lastDay: feed.last ?? asOf }))
    .sort((one, other) => one.lastDay.localeCompare(other.lastDay) || other.cars - one.cars);
  const { title, note } = silentTitle(silent, asOf);
  return (
    <TableSheet
      id="silent"
      title={title}
      of={note}
      label="Silent dealers"
      sorts={{ path: operatePath, query }}
      first="-silent"
      rows={silent}
      empty="Every dealer that is expected delivered."
      columns={[
        { title: "Dealer", value: ({ name }) => name, cell: dealerLink },
        { title: `${shownDays} days`, cell: (feed) => <DayStrip feed={feed} days={days} /> },
        { title: "Cars", value: ({ cars }) => cars, format: count },
        {
          title: "Silent",
          value: ({ lastDay }) => -Date.parse(lastDay),
          isNumber: true,
          cell: ({ lastDay }) => silentSince(lastDay, asOf),
        },
        { title: "", cell: (feed) => <SilentActs feed={feed} decision={decisionAbout(feed)} visitor={visitor} /> },
      ]}
    />
  );
};

const dealerLink = ({ dealerId, day, name }: FeedProblem) => <FeedLink id={dealerId} day={day} name={name} />;

/** Squares of the days of a feed: filled where a file came, open where one was expected and did not. */
const DayStrip = ({ feed: { feeds }, days }: { readonly feed: FeedProblem; readonly days: readonly string[] }) => {
  const came = days.map((day) =>
    feeds.some((one) => one.day === day && one.state !== "silent" && one.state !== "none"),
  );
  const silent = came.length - 1 - came.lastIndexOf(true);
  return (
    <span class="days" role="img" aria-label={`${days.length} days, the last ${silent} silent`}>
      {days.map((day, index) => (
        <i key={day} class={came[index] === true ? undefined : "no"} />
      ))}
    </span>
  );
};

/** Formats the number above a bar, for which there is little room: `9.8K`. */
const barText = (cars: number): string => (cars < 1000 ? count(cars) : `${(cars / 1000).toFixed(1)}K`);

const CarsRead = ({ overview: { summaries, days }, asOf, query }: ShownProps): JSX.Element => {
  const vinsOf = (day: string) => summaries.find((one) => one.day === day)?.vins;
  const before = summaries.filter(({ day }) => day !== asOf).map(({ vins }) => vins);
  const { title, note } = readTitle(vinsOf(asOf) ?? 0, before);
  const first = summaries.at(-1)?.day ?? asOf;
  const shown = days.filter((day) => day >= first);
  return (
    <Figure
      id="read"
      title={title}
      of={note}
      numbers={{
        columns: [
          { title: "Day", sort: "day", value: ({ day }) => day, path: ({ day }) => `/operate/days/${day}` },
          { title: "Cars read", sort: "cars", value: ({ vins }) => vins, format: count },
          { title: "Files", sort: "files", value: ({ feeds }) => feeds, format: count },
          { title: "Rows refused", sort: "refused", value: ({ rejected }) => rejected, format: count },
        ],
        rows: summaries,
        sorting: sortingOf("read", operatePath, query),
      }}
      sql={`SELECT delivery_date AS day, sum(vins) AS cars, count(vins) AS files\nFROM feeds\nWHERE delivery_date >= '${first}'\nGROUP BY ALL\nORDER BY day`}
    >
      <Chart
        label={`Cars read on each of ${shown.length} days until ${dayText(asOf)}`}
        width={420}
        height={160}
        x={bandScale(shown.map((day) => ({ text: String(Number(day.slice(8))) })))}
        y={numberScale(
          shown.map((day) => vinsOf(day) ?? 0),
          { format: shortCount, isFromZero: true },
        )}
        marks={shown.map((day, index) => {
          const cars = vinsOf(day);
          return {
            mark: "bar",
            x: index,
            y: cars ?? 0,
            ...(cars === undefined ? {} : { above: barText(cars) }),
            color: day === asOf ? "coral" : "petrol2",
            title: `${shortDay(day, asOf)}: ${count(cars)} cars`,
          };
        })}
      />
    </Figure>
  );
};
