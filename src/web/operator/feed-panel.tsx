/** One feed in the operator's view: its size, refused rows, and the rows of its dealer on each day. */
import type { JSX } from "preact";
import { textIn, textOrNullIn } from "../../base/json.ts";
import type { FeedDetails } from "../../query/quality/feed-overview.ts";
import { Block, DataTable, Facts } from "../shell/blocks.tsx";
import { count, day as dayText, text } from "../shell/format.ts";
import { DayBars } from "./day-bars.tsx";

export const FeedPanel = ({ feed }: { readonly feed: FeedDetails }): JSX.Element => {
  const { dealerId, name, day, verdict, vins, usualVins, minVins, lastDay, days, refused } = feed;
  const dealer = encodeURIComponent(dealerId);
  return (
    <Block id="feed" title={`${name}, ${dayText(day)}`}>
      <Facts
        facts={[
          ["Verdict", verdict],
          ["VINs", `${count(vins)}, usually ${count(usualVins)}`],
          ["Held below", count(minVins)],
          ["Last delivery", dayText(lastDay)],
        ]}
      />
      <p class="small">
        <a href={`/dealers/${dealer}`}>Dealer</a> ·{" "}
        <a href={`/operator/ingest/${day}/quality?dealer=${dealer}`}>Quality of the feed</a>
      </p>
      {refused.length === 0 ? null : (
        <DataTable
          label="Refused rows"
          columns={["Refused row", "Reason"]}
          rows={refused.map((row) => [
            `${row.file}, row ${row.row}`,
            `${textIn(row, "field")} ${text(textOrNullIn(row, "value"))}: ${textIn(row, "reason")}`,
          ])}
        />
      )}
      <h3>Rows a day</h3>
      <DayBars label={`Rows of ${name} on each of ${days.length} days`} days={days} />
    </Block>
  );
};
