/** The charts of a view: which ones are shown, and the search that they are compared with. */
import type { JSX } from "preact";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { SnapshotDays } from "../search/market-control.tsx";
import { type ViewParameters, viewPath, withParameters } from "../view.ts";
import { besideValue, chartSearches, type RemainingCharts } from "./chart-searches.ts";
import { loadMapCharts } from "./map-charts.tsx";
import { loadPriceCharts } from "./price-charts.tsx";
import { loadTimeCharts, trendPeriods } from "./time-charts.tsx";

/** Sends the first request for the charts of a view, which validates its filters. Throws the Refusal of the API. */
export function loadCharts(requests: PageRequests, view: ViewParameters, days: SnapshotDays): Promise<RemainingCharts> {
  const asOf = days.last;
  const searches = chartSearches(view, asOf);
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
export const ChartControls = ({ view, asOf }: ChartsProps): JSX.Element => (
  <div class="chart-controls">
    <nav class="layouts" aria-label="Charts">
      {charts.map(([chart, text]) => (
        <a
          key={text}
          href={viewPath(withParameters(view, { chart }))}
          aria-current={chart === (isKnown(view.chart) ? view.chart : undefined) ? "true" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
    {view.chart === "time" ? <PeriodLinks view={view} /> : null}
    <Comparison view={view} asOf={asOf} />
  </div>
);

const isKnown = (chart: string | undefined): boolean => charts.some(([value]) => value === chart);

const PeriodLinks = ({ view }: Pick<ChartsProps, "view">): JSX.Element => (
  <nav class="layouts" aria-label="Period">
    {trendPeriods.map((period) => (
      <a
        key={period}
        href={viewPath(withParameters(view, { period: period === "90" ? undefined : period }))}
        aria-current={period === (view.period ?? "90") ? "true" : undefined}
      >
        {period === "365" ? "1 year" : `${period} days`}
      </a>
    ))}
  </nav>
);

/** Keeps the search of the view for comparison with the next one. */
const Comparison = ({ view, asOf }: ChartsProps): JSX.Element => {
  const [own, other] = chartSearches(view, asOf);
  if (view.beside === undefined)
    return (
      <a class="compare" href={viewPath(withParameters(view, { beside: besideValue(view) }))}>
        Compare with another search
      </a>
    );
  const swapped = { ...other?.filters, ...shownParameters(view), beside: besideValue(own?.filters ?? {}) };
  return (
    <p class="compare">
      {other === undefined ? (
        <span>This search is kept: now change the filters. </span>
      ) : (
        <a href={viewPath(swapped)}>Swap</a>
      )}
      <a href={viewPath(withParameters(view, { beside: undefined }))}>Stop comparing</a>
    </p>
  );
};

const shownParameters = ({ layout, chart, by, period, shade }: ViewParameters): ViewParameters =>
  withParameters({}, { layout, chart, by, period, shade });
