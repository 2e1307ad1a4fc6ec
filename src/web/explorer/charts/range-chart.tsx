/** Histograms of a number of searches: the ranges of a numeric facet, as the API counts them. */
import type { JSX } from "preact";
import type { TextParameters } from "../../../operations/operation-request.ts";
import { ChartFigure, type Numbers } from "../../charts/chart-figure.tsx";
import { HistogramPlot } from "../../charts/histogram-plot.tsx";
import { count } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { facetDefinitions } from "../facets.ts";
import { apiFilters, type ViewParameters, viewPath, withParameters } from "../view.ts";
import { besidePart, type ChartSearch, type CountedSearch, searchCells, searchColumns } from "./chart-searches.ts";

type RangeFacetName = "price" | "days_on_market";

export interface RangeQuery {
  readonly asOf: string;
  /** The numeric facet whose ranges are compared. */
  readonly facet: RangeFacetName;
  /** The parameters of the facet requests, without filters. */
  readonly query: TextParameters;
}

/** Counts a search, in ranges of the width that the API chooses unless it is given. */
export async function countRanges(
  requests: PageRequests,
  search: ChartSearch,
  { asOf, facet, query }: RangeQuery,
  width?: number,
): Promise<CountedSearch> {
  const interval = width === undefined ? {} : { interval: `${facet}:${width}` };
  return {
    search,
    answer: await requests.call("getFacets", { ...query, ...interval, ...apiFilters(search.filters, asOf) }),
  };
}

/**
 * Counts other searches for comparison with a counted one. Returns all of them in ranges of one width: the widest that the API chooses for one of
 * them. Returns the first one alone if the API refuses another.
 */
export async function countBeside(
  requests: PageRequests,
  first: CountedSearch,
  others: readonly ChartSearch[],
  query: RangeQuery,
): Promise<readonly CountedSearch[]> {
  const compared = await requests.loadPart(besidePart, async () => {
    const counted = [first, ...(await Promise.all(others.map((search) => countRanges(requests, search, query))))];
    const widest = Math.max(...counted.map((one) => intervalOf(one, query.facet) ?? 0));
    return Promise.all(
      counted.map((one) => {
        const width = intervalOf(one, query.facet);
        return width === null || width === widest ? one : countRanges(requests, one.search, query, widest);
      }),
    );
  });
  return compared ?? [first];
}

const intervalOf = ({ answer }: CountedSearch, facet: RangeFacetName): number | null =>
  answer.data.range_facets[facet]?.interval ?? null;

interface RangeChartProps {
  readonly view: ViewParameters;
  readonly id: string;
  readonly title: string;
  readonly facet: RangeFacetName;
  readonly unit: string;
  readonly counted: readonly CountedSearch[];
  readonly format: (value: number) => string;
  readonly tickFormat: (value: number) => string;
}

export const RangeChart = (props: RangeChartProps): JSX.Element => {
  const { view, id, title, facet, unit, counted, format, tickFormat } = props;
  const searches = counted.map(({ search }) => search);
  const measure = counted.length > 1 ? "Share of listings" : "Listings";
  const boundNames = boundNamesOf(facet);
  return (
    <ChartFigure
      id={id}
      title={title}
      note={`${measure} by ${unit}. ${searches.length > 1 ? "" : statsText(counted[0], facet, format)}${tailsText(counted, facet)}`}
      names={counted.map((one) => `${one.search.name}. ${statsText(one, facet, format)}`)}
      isWide
      numbers={numbersOf(props)}
    >
      <HistogramPlot
        title={`${title}, ${measure.toLowerCase()} by ${unit}`}
        histograms={counted.map((one) => ({
          name: searches.length > 1 ? one.search.name : "",
          buckets: bucketsOf(one, facet),
          interval: intervalOf(one, facet) ?? 1,
        }))}
        format={format}
        tickFormat={tickFormat}
        pathOf={({ min, max }) =>
          viewPath(withParameters(view, { [boundNames[0]]: String(min), [boundNames[1]]: String(max - 1) }))
        }
        boundNames={boundNames}
      />
      <SelectionWords view={view} boundNames={boundNames} title={title} names={searches.map(({ name }) => name)} />
    </ChartFigure>
  );
};

const bucketsOf = ({ answer }: CountedSearch, facet: RangeFacetName) => answer.data.range_facets[facet]?.buckets ?? [];

function numbersOf({ counted, facet, format }: RangeChartProps): Numbers {
  const searches = counted.map(({ search }) => search);
  return {
    columns: [
      ...searchColumns(searches),
      { name: "from", title: "From", format },
      { name: "below", title: "Below", format },
      { name: "listings", title: "Listings", format: count },
    ],
    rows: counted.flatMap((one) =>
      bucketsOf(one, facet).map(({ min, max, count: listings }) => [
        ...searchCells(searches, one.search),
        ...[min, max, listings],
      ]),
    ),
  };
}

/** Returns the parameters of the bounds of a facet. */
function boundNamesOf(facet: RangeFacetName): readonly [min: string, max: string] {
  const [min, max] = facetDefinitions.find(({ name }) => name === facet)?.parameters ?? [];
  if (min !== undefined && max !== undefined) return [min, max];
  throw new TypeError(`No bounds of ${facet}: expected it among the facets of the explorer with a range.`);
}

interface SelectionWordsProps {
  readonly view: ViewParameters;
  readonly boundNames: readonly [min: string, max: string];
  readonly title: string;
  readonly names: readonly string[];
}

/** What a selection of bars holds, which a browser module fills in (`client/brushes.ts`), and the link that filters by it. */
const SelectionWords = ({ view, boundNames, title, names }: SelectionWordsProps): JSX.Element => (
  <div class="selection" data-selection>
    <p class="rest">
      {boundNames.every((name) => view[name] === undefined) ? (
        <>
          Choose a bar to filter by it<span class="js-only">, or drag across several</span>.
        </>
      ) : (
        <a href={viewPath(withParameters(view, { [boundNames[0]]: undefined, [boundNames[1]]: undefined }))}>
          {`All ${title.toLowerCase()}`}
        </a>
      )}
    </p>
    <p class="made" hidden>
      <span role="status">
        <b data-range />
        {" holds "}
        {names.map((name, index) => (
          <span key={name}>
            {index === 0 ? "" : " and "}
            <span data-holds />
            {names.length > 1 ? ` of ${name}` : ""}
          </span>
        ))}
        .{" "}
      </span>
      <a href={viewPath(view)}>Filter to it</a>
      {" · "}
      <button type="button" class="plain">
        Clear
      </button>
    </p>
  </div>
);

/** Describes a search: its listings, their median, and the number of unknown values. */
function statsText(one: CountedSearch | undefined, facet: RangeFacetName, format: (value: number) => string): string {
  const { stats, total = 0 } = one?.answer.data ?? {};
  const { median = null, missing = 0 } = stats?.[facet] ?? {};
  const middle = median === null ? "" : `, median ${format(Math.round(median))}`;
  return `${count(total)} listings${middle}${missing === 0 ? "" : `, ${count(missing)} unknown`}.`;
}

/** Explains pale bars, if a histogram has any. */
function tailsText(counted: readonly CountedSearch[], facet: RangeFacetName): string {
  const hasTails = counted.some((one) => {
    const { buckets = [], interval = null } = one.answer.data.range_facets[facet] ?? {};
    return buckets.some(({ min, max }) => max - min !== interval);
  });
  return hasTails ? " A pale bar at an end counts everything beyond." : "";
}
