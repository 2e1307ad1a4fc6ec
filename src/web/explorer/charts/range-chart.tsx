/** Histograms of a number of searches: the ranges of a numeric facet, as the API counts them. */
import type { JSX } from "preact";
import type { TextParameters } from "../../../operations/caller.ts";
import { HistogramPlot } from "../../charts/histogram-plot.tsx";
import { count, dollars, shortCount, shortPrice } from "../../shell/format.ts";
import { facetDefinitions } from "../../shop/facets.ts";
import { type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import { besidePart, type ChartsRequest, type CountedSearch } from "./chart-searches.ts";
import { listingsColumn, SearchFigure } from "./search-figure.tsx";

const definitions = {
  price: {
    id: "prices",
    title: "Prices",
    unit: "price in US dollars",
    format: dollars,
    tickFormat: shortPrice,
  },
  days_on_market: {
    id: "days-on-market",
    title: "Days on market",
    unit: "days on market",
    format: count,
    tickFormat: shortCount,
  },
} as const;

type RangeFacetName = keyof typeof definitions;

export interface RangeQuery {
  /** The numeric facet whose ranges are compared. */
  readonly facet: RangeFacetName;
  /** The parameters of the facet requests, without filters. */
  readonly query: TextParameters;
}

/**
 * Counts the compared searches beside a counted one. Returns all of them in ranges of one width: the widest that the API chooses for one of them.
 * Returns the first one alone if the API refuses another.
 */
export async function countBeside(
  request: ChartsRequest,
  first: CountedSearch,
  { facet, query }: RangeQuery,
): Promise<readonly CountedSearch[]> {
  const [, ...others] = request.searches;
  const compared = await request.requests.loadPart(besidePart, async () => {
    const counted = [first, ...(await Promise.all(others.map((search) => request.count(search, query))))];
    const widest = Math.max(...counted.map((one) => rangesOf(one, facet).interval ?? 0));
    return Promise.all(
      counted.map((one) => {
        const isWidest = (rangesOf(one, facet).interval ?? widest) === widest;
        return isWidest ? one : request.count(one.search, { ...query, interval: `${facet}:${widest}` });
      }),
    );
  });
  return compared ?? [first];
}

/** Returns the ranges of a search and their width, which is null without listings. */
function rangesOf({ answer }: CountedSearch, facet: RangeFacetName) {
  const { buckets = [], interval = null } = answer.data.range_facets[facet] ?? {};
  return { buckets, interval };
}

interface RangeChartProps {
  readonly view: ViewParameters;
  readonly facet: RangeFacetName;
  readonly counted: readonly CountedSearch[];
}

export const RangeChart = ({ view, facet, counted }: RangeChartProps): JSX.Element => {
  const { id, title, unit, format, tickFormat } = definitions[facet];
  const isCompared = counted.length > 1;
  const measure = isCompared ? "Share of listings" : "Listings";
  const names = counted.map(({ search }) => search.name);
  const boundNames = boundNamesOf(facet);
  return (
    <SearchFigure
      id={id}
      title={title}
      note={`${measure} by ${unit}. ${isCompared ? "" : counted.map((one) => statsText(one, facet)).join("")}${tailsText(counted, facet)}`}
      isWide
      parts={counted}
      keyText={(one) => `. ${statsText(one, facet)}`}
      columns={[{ name: "from", title: "From", format }, { name: "below", title: "Below", format }, listingsColumn]}
      rowsOf={(one) => rangesOf(one, facet).buckets.map(({ min, max, count: listings }) => [min, max, listings])}
    >
      <HistogramPlot
        title={`${title}, ${measure.toLowerCase()} by ${unit}`}
        histograms={counted.map((one) => {
          const { buckets, interval } = rangesOf(one, facet);
          return { name: isCompared ? one.search.name : "", buckets, interval: interval ?? 1 };
        })}
        format={format}
        tickFormat={tickFormat}
        pathOf={({ min, max }) =>
          viewPath(withParameters(view, { [boundNames[0]]: String(min), [boundNames[1]]: String(max - 1) }))
        }
        boundNames={boundNames}
      />
      <SelectionWords view={view} boundNames={boundNames} title={title} names={names} />
    </SearchFigure>
  );
};

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
function statsText({ answer: { data } }: CountedSearch, facet: RangeFacetName): string {
  const { median = null, missing = 0 } = data.stats[facet] ?? {};
  const middle = median === null ? "" : `, median ${definitions[facet].format(Math.round(median))}`;
  return `${count(data.total)} listings${middle}${missing === 0 ? "" : `, ${count(missing)} unknown`}.`;
}

/** Explains pale bars, if a histogram has any. */
function tailsText(counted: readonly CountedSearch[], facet: RangeFacetName): string {
  const hasTails = counted.some((one) => {
    const { buckets, interval } = rangesOf(one, facet);
    return buckets.some(({ min, max }) => max - min !== interval);
  });
  return hasTails ? " A pale bar at an end counts everything beyond." : "";
}
