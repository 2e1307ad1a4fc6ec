/** Ingest runs in the operator's view: rows, refused rows with reasons, and dealers whose feed collapsed. */
import type { JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { CollapsedFeed, IngestedDay, IssueGroup } from "../../serving/delivery-records.ts";
import { Figures, ScrollingTable } from "../account/dashboard-page.tsx";
import { count, day as dayText, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorPage } from "./operator-page.tsx";

const path = "/operator/ingest";
const shownDays = 30;

export const ingestPage =
  ({ current }: SiteServices): PageHandler =>
  async () => {
    const [days, total] = await current.use(async ({ deliveries }) => {
      const known = deliveries.days;
      return [await deliveries.summaries(known.slice(0, shownDays)), known.length] as const;
    });
    return operatorPage(
      path,
      "Ingest",
      <>
        <p class="muted">
          The last {days.length} of {count(total)} ingested days in the lake.
        </p>
        <DayTable days={days} />
      </>,
    );
  };

const DayTable = ({ days }: { readonly days: readonly IngestedDay[] }): JSX.Element => (
  <ScrollingTable label="Ingested days">
    <thead>
      <tr>
        <th>Day</th>
        {["Feeds", "VINs", "Collapsed feeds", "Rejected rows", "Unknown values", "Noted values"].map((name) => (
          <th key={name} class="num">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {days.map(({ day, feeds, vins, collapsed, rejected, unknown, noted }) => (
        <tr key={day}>
          <td class="time">
            <a href={`${path}/${day}`}>{dayText(day)}</a>
          </td>
          {Object.entries({ feeds, vins, collapsed, rejected, unknown, noted }).map(([name, value]) => (
            <td key={name} class="num">
              {count(value)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </ScrollingTable>
);

export const ingestDayPage =
  ({ current }: SiteServices): PageHandler =>
  async ({ params: { day = "" } }) => {
    const { summary, collapsed, issues } = await current.use(async ({ deliveries }) => {
      if (!deliveries.days.includes(day)) throw refuse("not_found", { what: "ingested day", id: day });
      const [found] = await deliveries.summaries([day]);
      return { summary: found, collapsed: await deliveries.collapsedFeeds(day), issues: await deliveries.issues(day) };
    });
    return operatorPage(
      path,
      `Ingest of ${dayText(day)}`,
      <>
        {summary === undefined ? null : (
          <Figures
            figures={[
              { name: "VINs in feeds", value: count(summary.vins), note: `${count(summary.feeds)} feeds` },
              { name: "Rejected rows", value: count(summary.rejected), note: "without a valid VIN or dealer" },
              { name: "Collapsed feeds", value: count(summary.collapsed), note: "held until they prove right" },
            ]}
          />
        )}
        <p>
          <a href={`${path}/${day}/quality`}>Quality of the feeds</a>
        </p>
        <Collapsed feeds={collapsed} />
        <Issues issues={issues} />
      </>,
    );
  };

const Collapsed = ({ feeds }: { readonly feeds: readonly CollapsedFeed[] }): JSX.Element | null =>
  feeds.length === 0 ? null : (
    <section class="block" aria-labelledby="collapsed">
      <h2 id="collapsed">Collapsed feeds</h2>
      <p class="muted">
        What a collapsed feed lacks is not absent; if its prices collapsed, its listings stay as they were.{" "}
        <code>carquet release</code> accepts it.
      </p>
      <ScrollingTable label="Collapsed feeds">
        <thead>
          <tr>
            <th>Dealer</th>
            <th class="num">VINs</th>
            <th>VINs of the last accepted feeds</th>
            <th class="num">Prices that jumped</th>
            <th class="num">Collapsed in a row</th>
          </tr>
        </thead>
        <tbody>
          {feeds.map(({ dealerId, vins, acceptedVins, jumpedPrices, collapsedInARow }) => (
            <tr key={dealerId}>
              <td>
                <a href={`/dealers/${encodeURIComponent(dealerId)}`}>{dealerId}</a>
              </td>
              <td class="num">{count(vins)}</td>
              <td>{acceptedVins.join(", ")}</td>
              <td class="num">{count(jumpedPrices)}</td>
              <td class="num">{count(collapsedInARow)}</td>
            </tr>
          ))}
        </tbody>
      </ScrollingTable>
    </section>
  );

const Issues = ({ issues }: { readonly issues: readonly IssueGroup[] }): JSX.Element => (
  <section class="block" aria-labelledby="issues">
    <h2 id="issues">Issues</h2>
    {issues.length === 0 ? <p class="muted">None.</p> : <IssueTable issues={issues} />}
  </section>
);

const IssueTable = ({ issues }: { readonly issues: readonly IssueGroup[] }): JSX.Element => (
  <ScrollingTable label="Issues by reason">
    <thead>
      <tr>
        <th>Outcome</th>
        <th>Field</th>
        <th>Reason</th>
        <th>Example</th>
        <th class="num">Count</th>
      </tr>
    </thead>
    <tbody>
      {issues.map((issue) => (
        <tr key={`${issue.outcome} ${issue.field} ${issue.reason}`}>
          <td>{issue.outcome}</td>
          <td>{issue.field}</td>
          <td>{issue.reason}</td>
          <td>{text(issue.example)}</td>
          <td class="num">{count(issue.count)}</td>
        </tr>
      ))}
    </tbody>
  </ScrollingTable>
);
