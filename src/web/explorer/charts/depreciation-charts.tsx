/** Depreciation: how the price of the model of a search falls with age or miles, as the API follows it; without one model, a choice of models. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { NumbersColumn } from "../../charts/chart-figure.tsx";
import { CurvePlot, type CurvePoint } from "../../charts/curve-plot.tsx";
import { RankingFigure } from "../../charts/ranking-panels.tsx";
import { amountOf, count, dollars, shortCount, shortPrice } from "../../shell/format.ts";
import { filterTitle } from "../../shop/filter-words.ts";
import { listText, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import {
  acceptedFilters,
  besidePart,
  besideValue,
  type ChartSearch,
  type ChartsRequest,
  type CountedSearch,
  headOf,
  type RemainingCharts,
  valuePath,
} from "./chart-searches.ts";
import { listingsColumn, medianColumn, SearchFigure } from "./search-figure.tsx";

type Answer = AnswerOf<"getDepreciation">;
type PricePoint = Answer["data"]["points"][number];

interface FollowedSearch {
  readonly search: ChartSearch;
  readonly answer: Answer;
  /** The names of its filters that depreciation does not have. */
  readonly others: readonly string[];
}

/** What prices are followed by. */
interface PriceAxis {
  readonly title: string;
  /** What the curve loses by. */
  readonly per: string;
  readonly format: (value: number) => string;
  /** The width of a point. */
  readonly step: number;
  readonly labelOf: (point: PricePoint, newestYear: number) => string;
  /** Returns the bounds of the listings of a point. */
  readonly boundsOf: (point: PricePoint, newestYear: number) => Readonly<Record<string, number>>;
}

const years = (value: number): string => amountOf(value, "year");

const priceAxes: Readonly<Record<"age" | "miles", PriceAxis>> = {
  age: {
    title: "Age in years",
    per: "a year",
    format: years,
    step: 1,
    labelOf: ({ from }, newest) => `${years(from)}, model year ${newest - from}`,
    boundsOf: ({ from }, newest) => ({ min_year: newest - from, max_year: newest - from }),
  },
  miles: {
    title: "Miles",
    per: "every 10,000 miles",
    format: (miles) => count(miles, " miles"),
    step: 10_000,
    labelOf: ({ from, to }) => `${count(from)} to ${count(to)} miles`,
    boundsOf: ({ from, to }) => ({ min_mileage: from, max_mileage: to }),
  },
};

const followedBy = ({ by }: ViewParameters): "age" | "miles" => (by === "miles" ? "miles" : "age");

/** The most models to choose from. */
const modelsMax = 20;

/** Sends the first request for depreciation, which counts the models of the search. */
export async function loadDepreciationCharts(request: ChartsRequest): Promise<RemainingCharts> {
  const { view } = request;
  const [own, ...others] = request.searches;
  const query = { facets: "make,model", facet_value_limit: String(modelsMax) };
  const first = await request.count(own, query);
  return async () => {
    const beside = await request.loadEach(besidePart, others, (search) => request.count(search, query));
    const counted = [first, ...beside];
    const followed = await request.loadEach("depreciation", counted.filter(modelOf), (one) => follow(request, one));
    return {
      ...headOf(first),
      charts: (
        <>
          {followed.length === 0 ? null : <FollowedPrices view={view} followed={followed} />}
          {counted.map((one) =>
            modelOf(one) === undefined ? (
              <ModelChoice key={one.search.name} view={view} counted={one} isOwn={one === first} />
            ) : null,
          )}
        </>
      ),
    };
  };
}

/** Returns the make and model of a search; undefined if it has several or none. */
function modelOf({ answer }: CountedSearch): { readonly make: string; readonly model: string } | undefined {
  const { make: [make, ...otherMakes] = [], model: [model, ...otherModels] = [] } = answer.data.facets;
  if (make === undefined || model === undefined || otherMakes.length + otherModels.length > 0) return undefined;
  return { make: make.value, model: model.value };
}

async function follow({ requests, view, days }: ChartsRequest, counted: CountedSearch): Promise<FollowedSearch> {
  const { search } = counted;
  const { filters, others } = acceptedFilters("getDepreciation", search, days.last);
  const query = { ...filters, ...modelOf(counted), by: followedBy(view) };
  return { search, others, answer: await requests.call("getDepreciation", query) };
}

interface FollowedPricesProps {
  readonly view: ViewParameters;
  readonly followed: readonly FollowedSearch[];
}

const priceColumns: readonly NumbersColumn[] = [
  ...[{ ...listingsColumn, title: "Cars" }, medianColumn],
  { name: "p10", title: "10% below", format: dollars },
  { name: "p90", title: "10% above", format: dollars },
  { name: "fitted", title: "Curve", format: dollars },
];

const FollowedPrices = ({ view, followed }: FollowedPricesProps): JSX.Element => {
  const by = followedBy(view);
  const axis = priceAxes[by];
  const curves = followed.map((one) => one.answer.data.points.map((point) => drawPoint(point, one, axis)));
  const other = by === "age" ? "miles" : "age";
  return (
    <SearchFigure
      id={`price-by-${by}`}
      title={`Price by ${by}`}
      isWide
      parts={followed}
      note={
        <>
          {`US dollars by ${axis.title.toLowerCase()}. ${followed.map((one) => describe(one, axis)).join(" ")} `}
          <a href={viewPath(withParameters(view, { by: other === "age" ? undefined : other }))}>{`By ${other}`}</a>
        </>
      }
      columns={[{ name: by, title: axis.title, format: count }, ...priceColumns]}
      rowsOf={(one) =>
        one.answer.data.points.map((point) => [
          { text: point.from, path: pathOf(point, one, axis) },
          ...[point.sample, point.median, point.p10, point.p90, point.fitted],
        ])
      }
      empty="No used car of this model has a known price, mileage and condition."
    >
      <CurvePlot
        title={`Price in US dollars by ${axis.title.toLowerCase()}`}
        curves={curves}
        step={axis.step}
        xFormat={shortCount}
        yFormat={shortPrice}
      />
    </SearchFigure>
  );
};

/** Describes a curve: its cars, what they lose, what is left, and the filters that it does not have. */
function describe({ answer: { data, meta }, others }: FollowedSearch, { per, format }: PriceAxis): string {
  const { curve, reference, retained, make, model } = data;
  const cars = `${meta.inventory_type.join(" and ")} cars, for sale and sold in the last ${meta.sold_days} days`;
  const known = retained.flatMap(({ at, percent }) => (percent === null ? [] : [`${percent}% after ${format(at)}`]));
  const whole = reference?.of === "new" ? "new ones" : `those of ${format(reference?.at ?? 0)}`;
  return [
    `${make} ${model}: medians of ${count(curve.sample)} ${cars}; bars hold 80%.`,
    curve.loss_percent === null ? "Too few for a curve." : `The curve loses ${curve.loss_percent}% ${per}.`,
    ...(known.length === 0 ? [] : [`Left of the price of ${whole}: ${known.join(", ")}.`]),
    ...(others.length === 0 ? [] : [`Depreciation has no filter by ${others.map(filterTitle).join(", ")}.`]),
  ].join(" ");
}

function drawPoint(point: PricePoint, followed: FollowedSearch, axis: PriceAxis): CurvePoint {
  const { median, p10, p90, sample } = point;
  const label = axis.labelOf(point, followed.answer.data.newest_year ?? 0);
  const title = `${label}: median ${dollars(median)}, 80% from ${dollars(p10)} to ${dollars(p90)}, ${count(sample)} cars`;
  return { ...point, title, path: pathOf(point, followed, axis) };
}

/** Returns the path of the view with the listings of a point that are for sale. */
function pathOf(point: PricePoint, { search, answer, others }: FollowedSearch, axis: PriceAxis): string {
  const { make, model, newest_year: newest } = answer.data;
  const bounds = Object.entries(axis.boundsOf(point, newest ?? 0)).map(([name, bound]) => {
    const own = Number(search.filters[name] ?? bound);
    return [name, String(name.startsWith("min_") ? Math.max(own, bound) : Math.min(own, bound))];
  });
  return viewPath(
    withParameters(search.filters, {
      ...Object.fromEntries(others.map((name) => [name, undefined])),
      make: listText("make", make),
      model: listText("model", model),
      inventory_type: answer.meta.inventory_type.join(),
      ...Object.fromEntries(bounds),
    }),
  );
}

interface ModelChoiceProps {
  readonly view: ViewParameters;
  readonly counted: CountedSearch;
  /** Whether it is the search of the view, not the compared one. */
  readonly isOwn: boolean;
}

/** The models of a search with several, or the makes of its model, as links. */
const ModelChoice = ({ view, counted, isOwn }: ModelChoiceProps): JSX.Element => {
  const { search, answer } = counted;
  const { make = [], model = [] } = answer.data.facets;
  const by = model.length === 1 ? "make" : "model";
  const pathTo = (value: string): string | undefined =>
    isOwn
      ? valuePath(view, by, value)
      : viewPath(withParameters(view, { beside: besideValue({ ...search.filters, [by]: listText(by, value) }) }));
  const values = by === "make" ? make : model;
  return (
    <RankingFigure
      id={isOwn ? "models" : "models-beside"}
      title={`Choose a ${by}`}
      note={`Depreciation follows one model: choose a ${by} of ${search.name}, to see how its price falls with age and miles. The ${values.length} ${by}s with the most listings.`}
      isWide
      columns={[{ name: by, title: filterTitle(by) }, listingsColumn]}
      values={values.map(({ value, count: listings }) => ({ name: value, value: listings, path: pathTo(value) }))}
    />
  );
};
