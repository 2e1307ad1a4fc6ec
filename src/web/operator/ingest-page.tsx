/** An ingested day in the operator's view: its issues, and the quality report of its feeds, which is also a CSV file. */
import type { JSX } from "preact";
import { type Json, ownValue, type Row, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { type QualityStatus, qualityCsv, qualityReport, qualityStatuses } from "../../query/quality/quality.ts";
import { Block, DataTable, Figures } from "../shell/blocks.tsx";
import { count, day as dayText, decimal, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorOf, operatorPage } from "./operator-page.tsx";

/** The feeds, refused rows, and issues by reason of a day; the calendar leads to it. */
export const ingestDayPage =
  ({ current }: SiteServices): PageHandler =>
  async ({ params: { day = "" } }) => {
    const { summary, issues } = await current.use(async ({ feeds }) => {
      if (!feeds.days.includes(day)) throw refuse("not_found", { what: "ingested day", id: day });
      const [found] = await feeds.summaries([day]);
      return { summary: found, issues: await feeds.issues(day) };
    });
    return operatorPage(
      "/operator",
      `Ingest of ${dayText(day)}`,
      <>
        {summary === undefined ? null : (
          <Figures
            figures={[
              ["VINs in feeds", count(summary.vins), `${count(summary.feeds)} feeds`],
              ["Rejected rows", count(summary.rejected), "without a valid VIN or dealer"],
              ["Collapsed feeds", count(summary.collapsed), "held until they prove right"],
            ]}
          />
        )}
        <p>
          <a href={`/operator/ingest/${day}/quality`}>Quality of the feeds</a>
        </p>
        <Block id="issues" title="Issues">
          <DataTable
            label="Issues by reason"
            columns={["Outcome", "Field", "Reason", "Example", "#Count"]}
            rows={issues.map((issue) => [
              issue.outcome,
              issue.field,
              issue.reason,
              text(issue.example),
              count(issue.count),
            ])}
          />
        </Block>
      </>,
    );
  };

const shownRows = 500;

/** Returns the report with the names of dealers. */
const reportOf = (
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

export const qualityPage =
  (services: SiteServices): PageHandler =>
  async ({ params: { day = "" }, query }) => {
    const status = qualityStatuses.find((one) => one === query.get("status")) ?? "warn";
    const dealer = query.get("dealer") ?? undefined;
    const rows = await reportOf(services, day, status, dealer);
    const path = `/operator/ingest/${day}`;
    return operatorPage(
      "/operator",
      `Quality of ${dayText(day)}`,
      <>
        <p class="muted">
          {count(rows.length)} checks {status === "ok" ? "of feeds" : "to look at"}
          {rows.length > shownRows ? `, of which ${shownRows} are shown` : ""}, each beside what is usual for the
          dealer.{" "}
          <a href={`${path}/quality?status=${status === "ok" ? "warn" : "ok"}`}>
            {status === "ok" ? "Checks to look at" : "All checks"}
          </a>{" "}
          · <a href={`${path}/quality.csv`}>All checks as CSV</a> · <a href={path}>Ingest of the day</a>
        </p>
        <CheckTable rows={rows.slice(0, shownRows)} />
      </>,
    );
  };

const CheckTable = ({ rows }: { readonly rows: readonly Row[] }): JSX.Element => (
  <DataTable
    label="Checks"
    columns={["Status", "Dealer", "Check", "Field", "#Count", "#Share", "#Usual", "Examples"]}
    rows={rows.map((row) => {
      const dealer = textIn(row, "dealer_id");
      const check = textIn(row, "check");
      return [
        textIn(row, "status"),
        dealer === "" ? "unknown" : <a href={`/dealers/${encodeURIComponent(dealer)}`}>{row.dealer_name ?? dealer}</a>,
        check,
        textIn(row, "field"),
        numberText(row.n),
        shareText(row.share),
        check === "rows" ? numberText(row.usual) : shareText(row.usual),
        Array.isArray(row.examples) ? row.examples.join("; ") : "",
      ];
    })}
  />
);

const numberText = (value: Json | undefined): string => (typeof value === "number" ? decimal(value) : "");
const shareText = (value: Json | undefined): string => (typeof value === "number" ? `${decimal(100 * value)} %` : "");

/** Serves all checks of a day as CSV to operators. */
export const qualityDownload =
  (services: SiteServices): Middleware =>
  async (context) => {
    const { day = "" } = context.params;
    if ((await operatorOf(context, services)) === undefined) return context.redirect("/sign-in");
    const csv = qualityCsv(await reportOf(services, day, "ok"));
    context.set("Content-Type", "text/csv; charset=utf-8");
    context.set("Content-Disposition", `attachment; filename="quality-${day}.csv"`);
    context.set("Cache-Control", "private, no-store");
    context.body = csv;
  };
