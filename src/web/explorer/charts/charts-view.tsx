/** The charts of a view: which ones are shown, and the search that they are compared with. */
import type { JSX } from "preact";
import { SeriesName } from "../../charts/plot-area.tsx";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { SnapshotDays } from "../search/market-control.tsx";
import { type ViewParameters, viewPath, withParameters } from "../view.ts";
import { besideValue, type ChartSearches, chartSearches, type RemainingCharts } from "./chart-searches.ts";
import { loadKeyNumbers } from "./key-numbers.tsx";
import { loadMapCharts } from "./map-charts.tsx";
import { loadPriceCharts } from "./price-charts.tsx";
import { loadTimeCharts, trendPeriods } from "./time-charts.tsx";

/** Sends the first request for the charts of a view, which validates its filters. Throws the Refusal of the API. */
export async function loadCharts(
  requests: PageRequests,
  view: ViewParameters,
  days: SnapshotDays,
): Promise<RemainingCharts> {
  const asOf = days.last;
  const searches = chartSearches(view, asOf);
  const loadRest = await firstRequest(requests, searches, view, days);
  return async () => {
    const [answers, keyNumbers] = await Promise.all([loadRest(), loadKeyNumbers(requests, searches, days)]);
    const charts = (
      <>
        {keyNumbers}
        {answers.charts}
      </>
    );
    return { ...answers, charts };
  };
}

function firstRequest(
  requests: PageRequests,
  searches: ChartSearches,
  view: ViewParameters,
  days: SnapshotDays,
): Promise<RemainingCharts> {
  const asOf = days.last;
  if (view.chart === "time") return loadTimeCharts(requests, searches, { view, days });
  return view.chart === "map"
    ? loadMapCharts(requests, searches, { view, asOf })
    : loadPriceCharts(requests, searches, { view, asOf });
}

const charts: readonly (readonly [value: string | undefined, text: string])[] = [
  [undefined, "Prices"],
  ["time", "Over time"],
  ["map", "Map"],
];

interface ChartsProps {
  readonly view: ViewParameters;
  readonly asOf: string;
}

/** The choice of the charts, and of the compared search. */
export const ChartControls = ({ view, asOf }: ChartsProps): JSX.Element => {
  const shown = charts.some(([chart]) => chart === view.chart) ? view.chart : undefined;
  const period = view.period ?? "90";
  return (
    <div class="chart-controls">
      <Comparison view={view} asOf={asOf} />
      <Choice
        label="Charts"
        kind="tabs"
        choices={charts.map(([chart, text]) => [text, { chart }, chart === shown])}
        view={view}
      />
      {view.chart === "time" ? (
        <Choice
          label="Period"
          kind="seg"
          choices={trendPeriods.map((days) => [
            days === "365" ? "1 year" : `${days} days`,
            { period: days === "90" ? undefined : days },
            days === period,
          ])}
          view={view}
        />
      ) : null}
    </div>
  );
};

interface ChoiceProps extends Pick<ChartsProps, "view"> {
  readonly label: string;
  readonly kind: "tabs" | "seg";
  readonly choices: readonly (readonly [
    text: string,
    changes: Readonly<Record<string, string | undefined>>,
    isCurrent: boolean,
  ])[];
}

const Choice = ({ label, kind, choices, view }: ChoiceProps): JSX.Element => (
  <nav class={kind} aria-label={label}>
    {choices.map(([text, changes, isCurrent]) => (
      <a key={text} href={viewPath(withParameters(view, changes))} aria-current={isCurrent ? "true" : undefined}>
        {text}
      </a>
    ))}
  </nav>
);

/** The compared searches; or keeps the search of the view for comparison with the next one. */
const Comparison = ({ view, asOf }: ChartsProps): JSX.Element => {
  const [own, other] = chartSearches(view, asOf);
  if (view.beside === undefined)
    return (
      <p class="versus">
        <a href={viewPath(withParameters(view, { beside: besideValue(view) }))}>Compare with another search</a>
      </p>
    );
  const swapped = { ...other?.filters, ...shownParameters(view), beside: besideValue(own.filters) };
  return (
    <p class="versus">
      <SeriesName series={1} name={own.name} />
      {other === undefined ? (
        <span>is kept: now change the filters.</span>
      ) : (
        <>
          <span class="muted">against</span>
          <SeriesName series={2} name={other.name} />
          <a href={viewPath(swapped)}>Swap</a>
        </>
      )}
      <a href={viewPath(withParameters(view, { beside: undefined }))}>Stop comparing</a>
    </p>
  );
};

const shownParameters = ({ layout, chart, by, period, shade }: ViewParameters): ViewParameters =>
  withParameters({}, { layout, chart, by, period, shade });
