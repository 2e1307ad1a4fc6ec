/** The quality report of an ingested day in the operator's view, and the whole report as CSV. */
import type { JSX } from "preact";
import { type Json, type Row, textIn } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { Middleware } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { type QualityStatus, qualityCsv, qualityReport, qualityStatuses } from "../../query/quality/quality.ts";
import { ScrollingTable } from "../account/dashboard-page.tsx";
import { count, day as dayText, decimal } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorOf, operatorPage } from "./operator-page.tsx";

const shownRows = 500;

/** Returns the report with the names of dealers. */
const reportOf = ({ current }: SiteServices, day: string, status: QualityStatus): Promise<readonly Row[]> =>
  current.use(async (version) => {
    if (version.manifest.days[day] === undefined) throw refuse("not_found", { what: "ingested day", id: day });
    const rows = await qualityReport(version, { day, status });
    return rows.map((row) => ({ ...row, dealer_name: version.dealers.nameOf(textIn(row, "dealer_id")) }));
  });

export const qualityPage =
  (services: SiteServices): PageHandler =>
  async ({ params: { day = "" }, query }) => {
    const status = qualityStatuses.find((one) => one === query.get("status")) ?? "warn";
    const rows = await reportOf(services, day, status);
    const path = `/operator/ingest/${day}`;
    return operatorPage(
      "/operator/ingest",
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
  <ScrollingTable label="Checks">
    <thead>
      <tr>
        {["Status", "Dealer", "Check", "Field"].map((name) => (
          <th key={name}>{name}</th>
        ))}
        {["Count", "Share", "Usual"].map((name) => (
          <th key={name} class="num">
            {name}
          </th>
        ))}
        <th>Examples</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => {
        const [dealer, check, field] = [textIn(row, "dealer_id"), textIn(row, "check"), textIn(row, "field")];
        return (
          <tr key={`${dealer} ${check} ${field}`}>
            <td>{textIn(row, "status")}</td>
            <td>
              {dealer === "" ? (
                "unknown"
              ) : (
                <a href={`/dealers/${encodeURIComponent(dealer)}`}>{row.dealer_name ?? dealer}</a>
              )}
            </td>
            <td>{check}</td>
            <td>{field}</td>
            <td class="num">{numberText(row.n)}</td>
            <td class="num">{shareText(row.share)}</td>
            <td class="num">{check === "rows" ? numberText(row.usual) : shareText(row.usual)}</td>
            <td>{Array.isArray(row.examples) ? row.examples.join("; ") : ""}</td>
          </tr>
        );
      })}
    </tbody>
  </ScrollingTable>
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
