/** A day's report: one feed, the rows of an issue, and all issues by field and reason. */
import type { JSX } from "preact";
import { numberOrNull, ownValue, textIn, textOrNullIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { type FeedDetails, feedDetails } from "../../query/quality/feed-overview.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { Sheet, Spec } from "../components/sheet.tsx";
import { TableSheet } from "../components/table-sheet.tsx";
import { dayVerdict } from "../sentences/operate.ts";
import { shortened } from "../sentences/words.ts";
import { amountOf, count, day as dayText, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { Correct } from "./decisions.tsx";
import { FeedLink, operatePage, operatePath } from "./operate-page.tsx";

/** Rows that are shown, and what chooses them: a dealer, whose refused rows they are, or an issue. */
const issueRowsMax = 100;
const chosenNames = ["dealer", "outcome", "field", "reason"] as const;

export const dayPage =
  (services: SiteServices): PageHandler =>
  async ({ params: { day = "" }, query, visitor }) => {
    const [dealer, outcome = dealer && "rejected", field, reason] = chosenNames.map(
      (name) => query.get(name) ?? undefined,
    );
    const chosen = { dealer_id: dealer, outcome, field, reason };
    const isChosen = chosenNames.some((name) => query.has(name));
    const { summary, issues, feed, rows, nameOf, asOf } = await services.current.use(async (version) => {
      if (ownValue(version.manifest.days, day) === undefined)
        throw refuse("not_found", { what: "ingested day", id: day });
      return {
        summary: (await version.feeds.summaries([day]))[0],
        issues: await version.feeds.issues(day),
        feed: dealer === undefined ? undefined : await feedDetails(version, dealer, day),
        rows: isChosen ? await version.feeds.issueRows(day, chosen, issueRowsMax) : undefined,
        nameOf: (id: string) => version.dealers.nameOf(id) ?? id,
        asOf: version.manifest.as_of,
      };
    });
    const { feeds: files = 0, vins: cars = 0, rejected = 0, collapsed = 0, unknown = 0, noted = 0 } = summary ?? {};
    const path = `/operate/days/${day}`;
    return operatePage({
      path: operatePath,
      title: `Report of ${dayText(day)}`,
      here: feed === undefined ? dayText(day) : `${dayText(day)} · ${feed.name}`,
      visitor,
      judgement: dayVerdict({ day, asOf, files, cars, refused: rejected, broken: collapsed, unknown, noted }),
      children: (
        <>
          {feed === undefined ? null : <Feed feed={feed} />}
          {rows === undefined ? null : (
            <TableSheet
              id="rows"
              title={`Rows: ${[outcome, field, reason].filter(Boolean).join(", ")}`}
              of={rows.length < issueRowsMax ? `${amountOf(rows.length, "row")}.` : `The first ${issueRowsMax} rows.`}
              tools={<a href={path}>All of the day</a>}
              rows={rows}
              columns={[
                { title: "File", value: (row) => textIn(row, "file") },
                { title: "Row", value: (row) => numberOrNull(row.row), format: count },
                { title: "Dealer", cell: (row) => dealerLink(textOrNullIn(row, "dealer_id"), day, nameOf) },
                { title: "VIN", value: (row) => text(textOrNullIn(row, "vin")) },
                { title: "Value", value: (row) => text(textOrNullIn(row, "value")) },
                { title: "Field", value: (row) => textIn(row, "field") },
                { title: "Reason", value: (row) => textIn(row, "reason") },
              ]}
            />
          )}
          {feed?.isHeld ? <Correct feed={feed} queue={services.queue} visitor={visitor} /> : null}
          <Issues issues={issues} path={path} query={query} />
        </>
      ),
    });
  };

interface IssuesProps {
  readonly issues: Awaited<ReturnType<LakeVersion["feeds"]["issues"]>>;
  readonly path: string;
  readonly query: URLSearchParams;
}

const Issues = ({ issues, path, query }: IssuesProps): JSX.Element => (
  <TableSheet
    id="issues"
    title={issues.length === 0 ? "No issue" : `${amountOf(issues.length, "issue")} by field and reason`}
    of="Rejected: the row is left out. Unknown: the value is. Noted: the value is unusual, and kept. A reason leads to its rows."
    label="Issues by reason"
    sorts={{ path, query }}
    first="-rows"
    rows={issues}
    columns={[
      { title: "Field", value: (issue) => issue.field },
      { title: "Outcome", value: (issue) => issue.outcome },
      {
        title: "Reason",
        value: (issue) => issue.reason,
        cell: ({ example: _, count: __, ...issue }) => (
          <a href={`${path}?${new URLSearchParams(issue)}#rows`}>{issue.reason}</a>
        ),
      },
      { title: "Example", cell: ({ example }) => shortened(text(example)) },
      { title: "Rows", value: (issue) => issue.count, format: count },
    ]}
  />
);

const dealerLink = (id: string | null, day: string, nameOf: (dealer: string) => string) =>
  id === null || id === "" ? "unknown" : <FeedLink id={id} day={day} name={nameOf(id)} />;

const Feed = ({ feed }: { readonly feed: FeedDetails }): JSX.Element => (
  <Sheet
    id="feed"
    title={`The file of ${feed.name}: ${feed.verdict}`}
    tools={<a href={`/dealers/${encodeURIComponent(feed.dealerId)}`}>The dealer's lot</a>}
  >
    <Spec
      facts={[
        ["Cars in the file", count(feed.vins)],
        ["Usually", count(feed.usualVins)],
        ["Looks broken below", count(feed.minVins === null ? null : Math.ceil(feed.minVins))],
        ["Last file", dayText(feed.lastDay)],
        ...feed.files.map(
          ({ file, firstRow, rows }) =>
            ["File and rows", `${file}, from row ${count(firstRow)}: ${amountOf(rows, "row")}`] as const,
        ),
      ]}
    />
    {feed.missing.length === 0 ? null : (
      <>
        <h3 class="more">Cars of the feed before that are missing</h3>
        <ul class="cols small">
          {feed.missing.map(({ id, vin }) => (
            <li key={id}>
              <a href={`/listings/${id}`}>{vin}</a>
            </li>
          ))}
        </ul>
      </>
    )}
  </Sheet>
);
