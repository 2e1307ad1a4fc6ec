/** Charts of prices: their distribution, against miles, and the medians of makes or models. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { ChartFigure } from "../../charts/chart-figure.tsx";
import { RankingPanels } from "../../charts/ranking-panels.tsx";
import { ScatterPlot } from "../../charts/scatter-plot.tsx";
import { count, dollars, shortCount, shortDollars } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { nameOf } from "../listing-fields.tsx";
import { apiFilters, listingPath, listOf, type ViewParameters, viewPath, withParameters } from "../view.ts";
import {
  type ChartSearches,
  type CountedSearch,
  headOf,
  type RemainingCharts,
  searchCells,
  searchColumns,
} from "./chart-searches.ts";
import { FewPrices, manyMin } from "./few-prices.tsx";
import { countBeside, countRanges, RangeChart, type RangeQuery } from "./range-chart.tsx";
import { type ListingSample, sampleListings } from "./vin-sample.ts";

type FacetAnswer = AnswerOf<"getFacets">;

interface SampledSearch extends CountedSearch {
  readonly sample: ListingSample;
}

/** The most makes or models of the chart. */
const rankedMax = 20;

/** Sends the first request for the charts of prices. */
export async function loadPriceCharts(
  requests: PageRequests,
  [own, ...others]: ChartSearches,
  { view, asOf }: { readonly view: ViewParameters; readonly asOf: string },
): Promise<RemainingCharts> {
  const query: RangeQuery = {
    ...{ asOf, facet: "price" },
    query: { facets: `${rankedFacet(view)},price`, metric: "price.median", facet_value_limit: String(rankedMax) },
  };
  const first = await countRanges(requests, own, query);
  return async () => {
    const counted = await countBeside(requests, first, others, query);
    const sampled = await Promise.all(counted.map((one) => sampleSearch(requests, one, asOf)));
    return {
      ...headOf(counted),
      charts: <PriceCharts view={view} counted={counted} sampled={sampled.filter((one) => one !== undefined)} />,
    };
  };
}

const sampleSearch = (
  requests: PageRequests,
  counted: CountedSearch,
  asOf: string,
): Promise<SampledSearch | undefined> =>
  requests.loadPart("price against miles", async () => {
    const { search, answer } = counted;
    return { ...counted, sample: await sampleListings(requests, apiFilters(search.filters, asOf), answer.data.total) };
  });

interface PriceChartsProps {
  readonly view: ViewParameters;
  readonly counted: readonly CountedSearch[];
  readonly sampled: readonly SampledSearch[];
}

const PriceCharts = ({ view, counted, sampled }: PriceChartsProps): JSX.Element => {
  const [few] = sampled.filter(({ sample: { listings } }) => listings.length > 0 && listings.length < manyMin);
  return (
    <>
      {few !== undefined && counted.length === 1 ? (
        <FewPrices view={view} listings={few.sample.listings} />
      ) : (
        <RangeChart
          view={view}
          id="prices"
          title="Prices"
          facet="price"
          unit="price in US dollars"
          counted={counted}
          format={dollars}
          tickFormat={shortDollars}
        />
      )}
      {sampled.length === 0 ? null : <PricesAndMiles sampled={sampled} />}
      <MedianPrices view={view} by={rankedFacet(view)} counted={counted} />
    </>
  );
};

/** Returns the facet whose medians are compared: that of the view, else models within one make. */
function rankedFacet(view: ViewParameters): "make" | "model" {
  if (view.by === "make" || view.by === "model") return view.by;
  return listOf(view, "make").length === 1 ? "model" : "make";
}

const PricesAndMiles = ({ sampled }: Pick<PriceChartsProps, "sampled">): JSX.Element => {
  const searches = sampled.map(({ search }) => search);
  const drawn = sampled.map(drawSample);
  return (
    <ChartFigure
      id="prices-and-miles"
      title="Price against miles"
      names={searches.map(({ name }) => name)}
      note={drawn.map(({ search, note }, index) => (
        <span key={index}>{`${drawn.length > 1 ? `${search.name}: ` : ""}${note} `}</span>
      ))}
      numbers={{
        columns: [
          ...searchColumns(searches),
          { name: "listing", title: "Listing" },
          { name: "miles", title: "Miles", format: count },
          { name: "price", title: "Price", format: dollars },
        ],
        rows: drawn.flatMap(({ search, points }) =>
          points.map(({ cell, x, y }) => [...searchCells(searches, search), cell, x, y]),
        ),
      }}
    >
      <ScatterPlot
        title="Price in US dollars against miles"
        scatters={drawn.map(({ points }) => points)}
        xFormat={shortCount}
        yFormat={shortDollars}
      />
    </ChartFigure>
  );
};

/** Returns the points of a sample, with a note about the sampled listings. */
function drawSample({ search, answer, sample }: SampledSearch) {
  const points = sample.listings.flatMap((listing) => {
    const { id, price, miles } = listing;
    if (typeof price !== "number" || typeof miles !== "number") return [];
    const text = nameOf(listing);
    const title = `${text}: ${dollars(price)}, ${count(miles, " miles")}`;
    return [{ cell: { text, path: listingPath(id, search.filters) }, x: miles, y: price, title }];
  });
  return { search, points, note: sampleNote(points.length, sample, answer.data.total) };
}

/** Describes the drawn listings: their number, and that of all matches. */
function sampleNote(drawn: number, { listings, rule }: ListingSample, total: number): string {
  const unknown = listings.length - drawn;
  const rest = unknown === 0 ? "" : ` ${count(unknown)} of them without a price or miles.`;
  if (total === 0) return "No listings.";
  if (rule === "all") return `All ${count(total)} listings.${rest}`;
  return `A sample of ${count(listings.length)} of ${count(total)} listings: ${rule}.${rest}`;
}

interface MedianPricesProps {
  readonly view: ViewParameters;
  readonly by: "make" | "model";
  readonly counted: readonly CountedSearch[];
}

const MedianPrices = ({ view, by, counted }: MedianPricesProps): JSX.Element => {
  const searches = counted.map(({ search }) => search);
  const other = by === "make" ? "model" : "make";
  const rows = counted.flatMap(({ search, answer }) =>
    bucketsOf(answer, by).map(({ value, count: listings, metric }) => [
      ...searchCells(searches, search),
      ...[value, listings, metric?.value ?? null],
    ]),
  );
  return (
    <ChartFigure
      id={`median-price-by-${by}`}
      title={`Median price by ${by}`}
      note={
        <>
          {`US dollars; the ${rankedMax} ${by}s with the most listings, if at least 10 have a price. `}
          <a href={viewPath(withParameters(view, { by: other }))}>{`By ${other}`}</a>
        </>
      }
      names={searches.map(({ name }) => name)}
      numbers={{
        columns: [
          ...searchColumns(searches),
          { name: by, title: by === "make" ? "Make" : "Model" },
          { name: "listings", title: "Listings", format: count },
          { name: "median_price", title: "Median price", format: dollars },
        ],
        rows,
      }}
    >
      <RankingPanels
        rankings={counted.map(({ search, answer }) => ({ name: search.name, values: rankedValues(view, by, answer) }))}
        format={(value) => dollars(value)}
      />
    </ChartFigure>
  );
};

const bucketsOf = ({ data }: FacetAnswer, by: "make" | "model") => data.facets[by] ?? [];

/** Returns the values with a median, highest first. Those with a comma cannot be filtered by. */
const rankedValues = (view: ViewParameters, by: "make" | "model", answer: FacetAnswer) =>
  bucketsOf(answer, by)
    .flatMap(({ value, metric }) => (typeof metric?.value === "number" ? [{ name: value, value: metric.value }] : []))
    .map((ranked) => ({
      ...ranked,
      path: ranked.name.includes(",") ? undefined : viewPath(withParameters(view, { [by]: ranked.name })),
    }))
    .sort((one, two) => two.value - one.value);
