/** The charts of a view: which ones are shown, and the search that they are compared with. */
import type { JSX } from "preact";
import { SeriesName } from "../../charts/plot-area.tsx";
import type { PageRequests } from "../../shell/page-requests.ts";
import { type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import {
  besideValue,
  ChartsRequest,
  chartSearches,
  type RemainingCharts,
  type SnapshotDays,
} from "./chart-searches.ts";
import { loadDepreciationCharts } from "./depreciation-charts.tsx";
import { loadKeyNumbers } from "./key-numbers.tsx";
import { loadMapCharts } from "./map-charts.tsx";
import { loadPriceCharts } from "./price-charts.tsx";
import { loadTimeCharts, trendPeriod, trendPeriods } from "./time-charts.tsx";

/** The charts to choose from; the first ones are shown without a choice. */
const charts = [
  { name: undefined, text: "Prices", load: loadPriceCharts },
  { name: "time", text: "Over time", load: loadTimeCharts },
  { name: "depreciation", text: "Depreciation", load: loadDepreciationCharts },
  { name: "map", text: "Map", load: loadMapCharts },
] as const;

const chartOf = (view: ViewParameters) => charts.find(({ name }) => name === view.chart) ?? charts[0];

/** Sends the first request for the charts of a view, which validates its filters. Throws the Refusal of the API. */
export async function loadCharts(
  requests: PageRequests,
  view: ViewParameters,
  days: SnapshotDays,
): Promise<RemainingCharts> {
  const request = new ChartsRequest(requests, view, days);
  const loadRest = await chartOf(view).load(request);
  return async () => {
    const [{ charts, ...head }, keyNumbers] = await Promise.all([loadRest(), loadKeyNumbers(request)]);
    return {
      ...head,
      charts: (
        <>
          {keyNumbers}
          {charts}
        </>
      ),
    };
  };
}

interface ChartControlsProps {
  readonly view: ViewParameters;
  readonly asOf: string;
}

/** The choice of the charts, and of the compared search. */
export const ChartControls = ({ view, asOf }: ChartControlsProps): JSX.Element => {
  const shown = chartOf(view);
  return (
    <div class="chart-controls">
      <Comparison view={view} asOf={asOf} />
      <nav class="tabs" aria-label="Charts">
        {charts.map((chart) => (
          <Choice key={chart.text} view={view} changes={{ chart: chart.name }} isCurrent={chart === shown}>
            {chart.text}
          </Choice>
        ))}
      </nav>
      {shown.name === "time" ? (
        <nav class="seg" aria-label="Period">
          {trendPeriods.map((period) => (
            <Choice key={period} view={view} changes={{ period }} isCurrent={period === trendPeriod(view)}>
              {period === "365" ? "1 year" : `${period} days`}
            </Choice>
          ))}
        </nav>
      ) : null}
    </div>
  );
};

interface ChoiceProps {
  readonly view: ViewParameters;
  readonly changes: Readonly<Record<string, string | undefined>>;
  readonly isCurrent: boolean;
  readonly children: string;
}

const Choice = ({ view, changes, isCurrent, children }: ChoiceProps): JSX.Element => (
  <a href={viewPath(withParameters(view, changes))} aria-current={isCurrent ? "true" : undefined}>
    {children}
  </a>
);

/** The compared searches; or keeps the search of the view for comparison with the next one. */
const Comparison = ({ view, asOf }: ChartControlsProps): JSX.Element => {
  const [own, other] = chartSearches(view, asOf);
  if (view.beside === undefined)
    return (
      <p class="versus">
        <a href={viewPath(withParameters(view, { beside: besideValue(view) }))}>Compare with another search</a>
      </p>
    );
  const { layout, chart, by, period, shade } = view;
  const shown = { layout, chart, by, period, shade, beside: besideValue(own.filters) };
  return (
    <p class="versus">
      <SeriesName series={1} name={own.name} />
      {other === undefined ? (
        <span>is kept: now change the filters.</span>
      ) : (
        <>
          <span class="muted">against</span>
          <SeriesName series={2} name={other.name} />
          <a href={viewPath(withParameters(other.filters, shown))}>Swap</a>
        </>
      )}
      <a href={viewPath(withParameters(view, { beside: undefined }))}>Stop comparing</a>
    </p>
  );
};
