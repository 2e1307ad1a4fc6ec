/** A day's report: one feed, the rows of an issue, all issues by field and reason, and the checks of the feeds, which are also a CSV file. */
import type { JSX } from "preact";
import { type Json, numberOrNull, ownValue, type Row, textIn, textOrNullIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { type FeedDetails, feedDetails } from "../../query/quality/feed-overview.ts";
import { type QualityStatus, qualityCsv, qualityReport, qualityStatuses } from "../../query/quality/quality.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { Button } from "../components/button.tsx";
import { Sheet, Spec } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { dayVerdict } from "../sentences/operate.ts";
import { amountOf, count, day as dayText, decimal, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { numberColumn, operatePage, operatePath, operatorOf, SortedTable, textColumn } from "./operate-page.tsx";

/** Rows of an issue, and checks, that are shown. */
const issueRowsMax = 100;
const checksMax = 500;

type IssueGroup = Awaited<ReturnType<LakeVersion["feeds"]["issues"]>>[number];

export const dayPage =
  (services: SiteServices): PageHandler =>
  async ({ params: { day = "" }, query, visitor }) => {
    const dealer = query.get("dealer") ?? undefined;
    const status = qualityStatuses.find((one) => one === query.get("status")) ?? "warn";
    const chosen = {
      outcome: query.get("outcome") ?? "",
      field: query.get("field") ?? "",
      reason: query.get("reason") ?? "",
    };
    const checks = await checksOf(services, day, status, dealer);
    const { summary, issues, feed, rows, nameOf, asOf } = await services.current.use(async (version) => {
      const { feeds, manifest, dealers } = version;
      const [found] = await feeds.summaries([day]);
      return {
        summary: found,
        issues: await feeds.issues(day),
        feed: dealer === undefined ? undefined : await feedDetails(version, dealer, day),
        rows: chosen.outcome === "" ? undefined : await feeds.rowsOfIssue(day, chosen, issueRowsMax),
        nameOf: (id: string) => dealers.nameOf(id) ?? id,
        asOf: manifest.as_of,
      };
    });
    const {
      feeds: files = 0,
      vins: cars = 0,
      rejected: refused = 0,
      collapsed: broken = 0,
      unknown = 0,
      noted = 0,
    } = summary ?? {};
    const path = `/operate/days/${day}`;
    return operatePage({
      path: operatePath,
      title: `Report of ${dayText(day)}`,
      here: feed === undefined ? dayText(day) : `${dayText(day)} · ${feed.name}`,
      visitor,
      judgement: dayVerdict({ day, asOf, files, cars, refused, broken, unknown, noted }),
      children: (
        <>
          {rows === undefined ? null : <IssueRows issue={chosen} rows={rows} nameOf={nameOf} path={path} />}
          {feed === undefined ? null : <Feed feed={feed} path={path} />}
          <Issues issues={issues} path={path} query={query} />
          <Checks checks={checks} status={status} dealer={dealer} path={path} />
        </>
      ),
    });
  };

interface IssueRowsProps {
  readonly issue: Pick<IssueGroup, "outcome" | "field" | "reason">;
  /** As `rowsOfIssue` returns them. */
  readonly rows: readonly Row[];
  readonly nameOf: (dealer: string) => string;
  readonly path: string;
}

const IssueRows = ({ issue: { outcome, field, reason }, rows, nameOf, path }: IssueRowsProps): JSX.Element => (
  <Sheet
    id="rows"
    title={`Rows: ${outcome}, ${field}, ${reason}`}
    of={rows.length < issueRowsMax ? `${amountOf(rows.length, "row")}.` : `The first ${count(issueRowsMax)} rows.`}
    tools={<a href={`${path}#issues`}>All issues</a>}
  >
    <DataTable
      label="Rows of the issue"
      rows={rows}
      empty="No row of this day has this issue."
      columns={[
        { title: "File", cell: (row) => textIn(row, "file") },
        { title: "Row", isNumber: true, cell: (row) => count(numberOrNull(row.row)) },
        { title: "Dealer", cell: (row) => dealerLink(textOrNullIn(row, "dealer_id"), nameOf, path) },
        { title: "VIN", cell: (row) => text(textOrNullIn(row, "vin")) },
        { title: "Value", cell: (row) => text(textOrNullIn(row, "value")) },
      ]}
    />
  </Sheet>
);

const dealerLink = (id: string | null, nameOf: (dealer: string) => string, path: string) =>
  id === null || id === "" ? "unknown" : <a href={`${path}?${new URLSearchParams({ dealer: id })}`}>{nameOf(id)}</a>;

const Feed = ({ feed, path }: { readonly feed: FeedDetails; readonly path: string }): JSX.Element => (
  <Sheet
    id="feed"
    title={`The file of ${feed.name}: ${feed.verdict}`}
    tools={
      <>
        <a href={`/dealers/${encodeURIComponent(feed.dealerId)}`}>The dealer's lot</a>
        <a href={path}>All files of the day</a>
      </>
    }
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
        <h3 class="gap">Cars of the day before that are missing</h3>
        <ul class="cols">
          {feed.missing.map(({ id, vin }) => (
            <li key={id}>
              <a href={`/listings/${id}`}>{vin}</a>
            </li>
          ))}
        </ul>
      </>
    )}
    {feed.refused.length === 0 ? null : (
      <DataTable
        label="Refused rows"
        rows={feed.refused}
        columns={[
          { title: "File", cell: (row) => textIn(row, "file") },
          { title: "Row", isNumber: true, cell: (row) => count(numberOrNull(row.row)) },
          { title: "Field", cell: (row) => textIn(row, "field") },
          { title: "Value", cell: (row) => text(textOrNullIn(row, "value")) },
          { title: "Reason", cell: (row) => textIn(row, "reason") },
        ]}
      />
    )}
  </Sheet>
);

const Issues = ({
  issues,
  path,
  query,
}: {
  readonly issues: readonly IssueGroup[];
  readonly path: string;
  readonly query: URLSearchParams;
}) => (
  <Sheet
    id="issues"
    title={issues.length === 0 ? "No issue" : `${amountOf(issues.length, "issue")} by field and reason`}
    of="Rejected: the row is left out. Unknown: the value is. Noted: the value is unusual, and kept. A reason leads to its rows."
  >
    <SortedTable
      id="issues"
      label="Issues by reason"
      first="-count"
      path={path}
      query={query}
      rows={issues}
      columns={[
        textColumn("Field", "field", ({ field }: IssueGroup) => field),
        textColumn("Outcome", "outcome", ({ outcome }: IssueGroup) => outcome),
        textColumn(
          "Reason",
          "reason",
          ({ reason }: IssueGroup) => reason,
          ({ outcome, field, reason }) => (
            <a href={`${path}?${new URLSearchParams({ outcome, field, reason })}#rows`}>{reason}</a>
          ),
        ),
        { title: "Example", cell: ({ example }) => text(example) },
        numberColumn("Rows", "count", (issue: IssueGroup) => issue.count),
      ]}
    />
  </Sheet>
);

/** Returns the checks of a day's feeds, with the names of dealers. */
const checksOf = (
  { current }: SiteServices,
  day: string,
  status: QualityStatus,
  dealer?: string,
): Promise<readonly Row[]> =>
  current.use(async (version) => {
    if (ownValue(version.manifest.days, day) === undefined)
      throw refuse("not_found", { what: "ingested day", id: day });
    const rows = await qualityReport(version, { day, status, dealer });
    return rows.map((row) => ({ ...row, dealer_name: version.dealers.nameOf(textIn(row, "dealer_id")) }));
  });

interface ChecksProps {
  readonly checks: readonly Row[];
  readonly status: QualityStatus;
  readonly dealer: string | undefined;
  readonly path: string;
}

const Checks = ({ checks, status, dealer, path }: ChecksProps): JSX.Element => {
  const isAll = status === "ok";
  const other = new URLSearchParams({ ...(dealer === undefined ? {} : { dealer }), status: isAll ? "warn" : "ok" });
  return (
    <Sheet
      id="checks"
      title={isAll ? "All checks of the files" : `${amountOf(checks.length, "check")} to look at`}
      of={`What is odd about files beside what is usual for their dealers.${checks.length > checksMax ? ` The first ${count(checksMax)} are shown.` : ""}`}
      end={
        <Button isSmall href={`${path}/quality.csv`}>
          CSV<span class="vh"> of all checks</span>
        </Button>
      }
      tools={<a href={`${path}?${other}#checks`}>{isAll ? "Checks to look at" : "All checks"}</a>}
    >
      <DataTable
        label="Checks"
        rows={checks.slice(0, checksMax)}
        columns={[
          {
            title: "Dealer",
            cell: (row) =>
              dealerLink(textIn(row, "dealer_id"), (id) => text(textOrNullIn(row, "dealer_name") ?? id), path),
          },
          { title: "Status", cell: (row) => textIn(row, "status") },
          { title: "Check", cell: (row) => textIn(row, "check") },
          { title: "Field", cell: (row) => textIn(row, "field") },
          { title: "Count", isNumber: true, cell: ({ n }) => numberText(n) },
          { title: "Share", isNumber: true, cell: (row) => shareText(row.share) },
          {
            title: "Usual",
            isNumber: true,
            cell: ({ check, usual }) => (check === "rows" ? numberText(usual) : shareText(usual)),
          },
          { title: "Examples", cell: ({ examples }) => (Array.isArray(examples) ? examples.join("; ") : "") },
        ]}
      />
    </Sheet>
  );
};

const numberText = (value: Json | undefined): string => (typeof value === "number" ? decimal(value) : "");
const shareText = (value: Json | undefined): string => (typeof value === "number" ? `${decimal(100 * value)} %` : "");

/** Serves all checks of a day as CSV to operators. */
export const qualityDownload =
  (services: SiteServices): Middleware =>
  async (context) => {
    const { day = "" } = context.params;
    if ((await operatorOf(context, services)) === undefined) return context.redirect("/sign-in");
    const csv = qualityCsv(await checksOf(services, day, "ok"));
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", `attachment; filename="quality-${day}.csv"`);
    context.set("Cache-Control", "private, no-store");
    context.body = csv;
  };
