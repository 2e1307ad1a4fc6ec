/** Charts of prices: their distribution, against miles, and the medians of makes or models. */
import type { JSX } from "preact";
import { RankingPanels } from "../../charts/ranking-panels.tsx";
import { ScatterPlot } from "../../charts/scatter-plot.tsx";
import { count, dollars, shortCount, shortPrice } from "../../shell/format.ts";
import { nameOf } from "../../shop/columns.tsx";
import { filterTitle } from "../../shop/filter-words.ts";
import { apiFilters, listingPath, listOf, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import { type ChartsRequest, type CountedSearch, headOf, type RemainingCharts, valuePath } from "./chart-searches.ts";
import { FewPrices, manyMin } from "./few-prices.tsx";
import { countBeside, RangeChart, type RangeQuery } from "./range-chart.tsx";
import { listingsColumn, medianColumn, SearchFigure } from "./search-figure.tsx";
import { type ListingSample, sampleListings } from "./vin-sample.ts";

interface SampledSearch extends CountedSearch {
  readonly sample: ListingSample;
}

/** The most makes or models of the chart. */
const rankedMax = 20;

/** Sends the first request for the charts of prices. */
export async function loadPriceCharts(request: ChartsRequest): Promise<RemainingCharts> {
  const { requests, view, days, searches } = request;
  const by = rankedFacet(view);
  const query: RangeQuery = {
    facet: "price",
    query: { facets: `${by},price`, metric: "price.median", facet_value_limit: String(rankedMax) },
  };
  const first = await request.count(searches[0], query.query);
  return async () => {
    const counted = await countBeside(request, first, query);
    const sampled = await request.loadEach("price against miles", counted, async (one): Promise<SampledSearch> => {
      const filters = apiFilters(one.search.filters, days.last);
      return { ...one, sample: await sampleListings(requests, filters, one.answer.data.total) };
    });
    const few = sampled.find(({ sample: { listings } }) => listings.length > 0 && listings.length < manyMin);
    return {
      ...headOf(first),
      charts: (
        <>
          {few !== undefined && counted.length === 1 ? (
            <FewPrices view={view} listings={few.sample.listings} />
          ) : (
            <RangeChart view={view} facet="price" counted={counted} />
          )}
          {sampled.length === 0 ? null : <PricesAndMiles sampled={sampled} />}
          <MedianPrices view={view} by={by} counted={counted} />
        </>
      ),
    };
  };
}

/** Returns the facet whose medians are compared: that of the view, else models within one make. */
function rankedFacet(view: ViewParameters): "make" | "model" {
  if (view.by === "make" || view.by === "model") return view.by;
  return listOf(view, "make").length === 1 ? "model" : "make";
}

const PricesAndMiles = ({ sampled }: { readonly sampled: readonly SampledSearch[] }): JSX.Element => {
  const drawn = sampled.map((one) => ({ ...one, points: pointsOf(one) }));
  return (
    <SearchFigure
      id="prices-and-miles"
      title="Price against miles"
      parts={drawn}
      note={drawn.map((one, index) => (
        <span key={index}>
          {`${drawn.length > 1 ? `${one.search.name}: ` : ""}${sampleNote(one, one.points.length)} `}
        </span>
      ))}
      columns={[
        { name: "listing", title: "Listing" },
        { name: "miles", title: "Miles", format: count },
        { name: "price", title: "Price", format: dollars },
      ]}
      rowsOf={({ points }) => points.map(({ text, path, x, y }) => [{ text, path }, x, y])}
    >
      <ScatterPlot
        title="Price in US dollars against miles"
        scatters={drawn.map(({ points }) => points)}
        xFormat={shortCount}
        yFormat={shortPrice}
      />
    </SearchFigure>
  );
};

/** Returns the sampled listings with a price and miles as points. */
const pointsOf = ({ search, sample }: SampledSearch) =>
  sample.listings.flatMap((listing) => {
    const { id, price, miles } = listing;
    if (typeof price !== "number" || typeof miles !== "number") return [];
    const text = nameOf(listing);
    const title = `${text}: ${dollars(price)}, ${count(miles, " miles")}`;
    return [{ text, path: listingPath(id, search.filters), x: miles, y: price, title }];
  });

/** Describes the drawn listings: their number, and that of all matches. */
function sampleNote({ answer, sample: { listings, rule } }: SampledSearch, drawn: number): string {
  const { total } = answer.data;
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
  const other = by === "make" ? "model" : "make";
  const ranked = counted.map(({ search, answer }) => {
    const values = answer.data.facets[by] ?? [];
    return { search, values: values.map((one) => ({ ...one, median: one.metric?.value ?? null })) };
  });
  return (
    <SearchFigure
      id={`median-price-by-${by}`}
      title={`Median price by ${by}`}
      note={
        <>
          {`US dollars; the ${rankedMax} ${by}s with the most listings, if at least 10 have a price. `}
          <a href={viewPath(withParameters(view, { by: other }))}>{`By ${other}`}</a>
        </>
      }
      parts={ranked}
      columns={[{ name: by, title: filterTitle(by) }, listingsColumn, medianColumn]}
      rowsOf={({ values }) => values.map(({ value, count: listings, median }) => [value, listings, median])}
    >
      <RankingPanels
        rankings={ranked.map(({ search, values }) => ({
          name: search.name,
          values: values.flatMap(({ value: name, median }) =>
            median === null ? [] : [{ name, value: median, path: valuePath(view, by, name) }],
          ),
        }))}
        format={dollars}
      />
    </SearchFigure>
  );
};
