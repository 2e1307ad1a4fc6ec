/** An ingested day in the operator's view: feeds, refused rows, and issues by reason. */
import { refuse } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { Block, DataTable, Figures } from "../shell/blocks.tsx";
import { count, day as dayText, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorPage } from "./operator-page.tsx";

/** An ingested day; the calendar leads to it. */
export const ingestDayPage =
  ({ current }: SiteServices): PageHandler =>
  async ({ params: { day = "" } }) => {
    const { summary, issues } = await current.use(async ({ deliveries }) => {
      if (!deliveries.days.includes(day)) throw refuse("not_found", { what: "ingested day", id: day });
      const [found] = await deliveries.summaries([day]);
      return { summary: found, issues: await deliveries.issues(day) };
    });
    return operatorPage(
      "/operator",
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
