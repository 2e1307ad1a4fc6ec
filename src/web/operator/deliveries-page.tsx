/** The operator's first page: what came, by dealer and day, and what waits for a decision. */
import type { JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { readFeedDecisions } from "../../lake/feed-decisions.ts";
import { type FeedOverview, feedOverview } from "../../query/quality/feed-overview.ts";
import { diskOf } from "../../serving/kept-versions.ts";
import { decideHeldFeed } from "../../sources/held-feeds.ts";
import { type Figure, Figures, Notice } from "../shell/blocks.tsx";
import { age, count, day as dayText, share, size, time } from "../shell/format.ts";
import type { VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { CalendarTable, type CalendarTableProps } from "./calendar-table.tsx";
import { Decisions } from "./decisions.tsx";
import { FeedPanel } from "./feed-panel.tsx";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator";

export const deliveriesPage =
  (services: SiteServices): PageHandler =>
  async ({ visitor, query }) => {
    const { current, freshness, exports } = services;
    const dealers = (["problems", "all"] as const).find((one) => one === query.get("dealers"));
    const dealer = query.get("dealer") ?? undefined;
    const day = query.get("day") ?? undefined;
    const weeks = query.get("weeks") === "12" ? 12 : 4;
    const overview = await current.use((version) => feedOverview(version, { weeks, dealers, dealer, day }));
    const decisions = await readFeedDecisions(exports.lake).catch(() => []);
    const href = (changes: Readonly<Record<string, string>>): string =>
      `${path}?${new URLSearchParams({ ...Object.fromEntries(query), ...changes })}`;
    return operatorPage(
      path,
      "Deliveries",
      <>
        <Notice text={query.has("released") ? "The feed is released." : undefined} />
        <States overview={overview} weeks={weeks} href={href} />
        <Figures figures={await figuresOf(services, overview)} />
        <CalendarTable overview={overview} href={href} />
        <div class="halves">
          <Decisions overview={overview} lastIngest={freshness.lastIngest} decisions={decisions} visitor={visitor} />
          {overview.feed === undefined ? null : <FeedPanel feed={overview.feed} />}
        </div>
      </>,
    );
  };

async function figuresOf(
  { current, freshness, exports, accounts }: SiteServices,
  { summary }: FeedOverview,
): Promise<readonly Figure[]> {
  const { publishedAtMs, dueAtMs } = freshness.report;
  const disk = await diskOf(exports.lake);
  const { vins = 0, rejected = 0 } = summary ?? {};
  const dueInMs = (dueAtMs ?? 0) - accounts.administration.nowMs;
  const due = dueAtMs === null ? "" : dueInMs < 0 ? ", next overdue" : `, next due within ${age(dueInMs)}`;
  const [longest] = current.runningStatements;
  const ran = longest === undefined ? "none" : `the longest for ${count(longest.ms, " ms")}`;
  return [
    ["Published", current.version, `${time(publishedAtMs ?? 0)} UTC${due}`],
    ["VINs read", count(vins), `${count(rejected)} rows refused, ${share(rejected, vins + rejected)}`],
    ["Free on the disk", size(disk.freeBytes), `of ${size(disk.bytes)}`],
    ["Statements running", count(current.statements.running), ran],
  ];
}

interface StatesProps extends CalendarTableProps {
  readonly weeks: number;
}

const States = ({ overview: { calendar, days }, weeks, href }: StatesProps): JSX.Element => {
  const { came = 0, refused = 0, held = 0, silent = 0 } = calendar.states;
  const day = days.at(-1);
  return (
    <div class="head">
      <p class="soft">
        {dayText(day)}: <b>{count(came + refused)}</b> of {count(came + refused + held + silent)} came,{" "}
        <b>{count(held)}</b> held, <b>{count(silent)}</b> silent
      </p>
      <p class="end">
        <a href={`/operator/ingest/${day}`}>Issues</a>
        <a href={`/operator/ingest/${day}/quality.csv`}>Quality as CSV</a>
      </p>
      <nav class="seg" aria-label="Weeks">
        {[4, 12].map((number) => (
          <a key={number} href={href({ weeks: String(number) })} aria-current={number === weeks ? "true" : undefined}>
            {number} weeks
          </a>
        ))}
      </nav>
    </div>
  );
};

/** Releases a held feed, as `carquet release` does. */
export const releaseFeedByForm =
  ({ current, exports: { lake }, accounts: { administration } }: SiteServices) =>
  async ({ visitor, fields }: VisitorForm) => {
    const feed = { dealerId: fields.get("dealer") ?? "", day: fields.get("day") ?? "" };
    await current.use(async ({ feeds }) => {
      if (!feeds.days.includes(feed.day)) throw refuse("not_found", { what: "ingested day", id: feed.day });
      return decideHeldFeed(
        lake,
        feeds,
        { dealer_id: feed.dealerId, day: feed.day },
        { decision: "release", at: new Date(administration.nowMs) },
      );
    });
    await administration.change(visitor.identity.key.accountId, "release", feed);
    return { location: `${path}?released=${feed.dealerId}` };
  };
