/** The sources in the operator's view: which fail and why, and what their days wait for or lack. */
import type { SiteServices } from "../../http/service/service-state.ts";
import type { DayStatus, FetchStatus, SourceStatus } from "../../ingest/fetch-status.ts";
import { Block, DataTable } from "../shell/blocks.tsx";
import { count, day as dayText, time } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { operatorPage } from "./operator-page.tsx";

export const sourcesPage =
  ({ freshness }: SiteServices): PageHandler =>
  async () =>
    operatorPage("/operator/sources", "Sources", <Sources fetch={freshness.lastFetch} />);

const timeText = (at: string | null): string => (at === null ? "never" : time(Date.parse(at)));

const stateOf = ({ failedSince, quarantined, changed }: SourceStatus): string => {
  if (failedSince !== null) return `fails since ${timeText(failedSince)}`;
  return Object.keys(quarantined).length + changed.length > 0 ? "has faulty files" : "works";
};

const reasonsOf = ({ error, quarantined, changed }: SourceStatus): readonly string[] => [
  ...(error === null ? [] : [error]),
  ...Object.entries(quarantined).map(([path, reason]) => `${path}: ${reason}`),
  ...changed,
];

const Sources = ({ fetch }: { readonly fetch: FetchStatus | undefined }) => {
  if (fetch === undefined)
    return <p class="muted">No fetch has ended. Sources are fetched by carquet run, which reads sources.yaml.</p>;
  const days: readonly (readonly [DayStatus, string])[] = [
    ...fetch.waiting.map((day) => [day, "waits"] as const),
    ...(fetch.completed === null ? [] : [[fetch.completed, "complete"] as const]),
  ];
  return (
    <>
      <p class="muted">Last fetch: {timeText(fetch.at)} UTC</p>
      {[...(fetch.error === null ? [] : [`The last fetch failed: ${fetch.error}`]), ...fetch.warnings].map((text) => (
        <p key={text} class="note warn">
          {text}
        </p>
      ))}
      <Block id="sources" title="Sources">
        <DataTable
          label="Sources"
          columns={["Source", "State", "@Last success, UTC", "#Files waiting", "Reasons"]}
          rows={Object.entries(fetch.sources).map(([name, source]) => [
            name,
            stateOf(source),
            timeText(source.succeededAt),
            count(source.waiting),
            reasonsOf(source).join("; "),
          ])}
        />
      </Block>
      <Block id="days" title="Days">
        <DataTable
          label="Days"
          columns={["@Day", "State", "@Deadline, UTC", "Missing"]}
          rows={days.map(([{ day, deadline, missing }, state]) => [
            dayText(day),
            state,
            timeText(deadline),
            Object.entries(missing)
              .map(([source, what]) => `${source}: ${what}`)
              .join("; "),
          ])}
        />
      </Block>
    </>
  );
};
