/** The filters of the shop: one form of facets, which scripts send when it changes. */
import type { JSX } from "preact";
import type { Rating } from "../../valuation/rules.ts";
import { Badge, ratingWords } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Facet, type FacetRow, RangeFacet } from "../components/facet.tsx";
import { decimal, dollars } from "../shell/format.ts";
import {
  countIn,
  type FacetDefinition,
  facetDefinitions,
  type ValueBucket,
  type ViewFacets,
  valuesMax,
} from "./facets.ts";
import { valueName } from "./filter-words.ts";
import { chosenAmong, isJudged, listOf, listText, type ViewParameters } from "./view.ts";

/** The parameters that have a control in the form of the filters. */
const controlledNames: ReadonlySet<string> = new Set([
  ...facetDefinitions.flatMap(({ parameters }) => parameters.filter((name) => name !== undefined)),
  ...["postal_code", "radius", "inventory_status", "sold_within_days", "sort"],
]);

interface KeptFieldsProps {
  readonly view: ViewParameters;
  /** The parameters that the form has a control for. */
  readonly without: ReadonlySet<string>;
}

/** Hidden fields of parameters, so that a form keeps them. Results begin at the first page again. */
export const KeptFields = ({ view, without }: KeptFieldsProps): JSX.Element => (
  <>
    {Object.entries(view)
      .filter(([name]) => !without.has(name) && name !== "offset")
      .map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
  </>
);

interface FilterFormProps {
  readonly view: ViewParameters;
  readonly facets: ViewFacets;
  /** The number of cars; undefined if the view is invalid. */
  readonly total: number | undefined;
}

export const FilterForm = (props: FilterFormProps): JSX.Element => {
  const { view } = props;
  const isShown = ({ name, isOpen, parameters }: FacetDefinition): boolean =>
    isOpen ||
    parameters.some((parameter) => parameter !== undefined && view[parameter] !== undefined) ||
    (name === "model" && view.make !== undefined);
  const fieldsOf = (definitions: readonly FacetDefinition[]): readonly JSX.Element[] =>
    definitions.map((definition) => <FacetField key={definition.name} definition={definition} {...props} />);
  const [first, ...open] = fieldsOf(facetDefinitions.filter(isShown));
  return (
    <form class="facets" id="filters" action="/shop" method="get" aria-label="Filters" data-view-form>
      <KeptFields view={view} without={controlledNames} />
      {first}
      <NearField view={view} />
      {open}
      <details class="facet" id="more-filters">
        <summary>More filters</summary>
        {fieldsOf(facetDefinitions.filter((definition) => !isShown(definition)))}
        <SoldField view={view} />
      </details>
      <p class="send">
        <Button look="main">Show the cars</Button>
      </p>
    </form>
  );
};

type FacetFieldProps = FilterFormProps & { readonly definition: FacetDefinition };

const FacetField = (props: FacetFieldProps): JSX.Element | null => {
  const { definition, view, facets, total } = props;
  const { name, title, parameters } = definition;
  const buckets = facets.values[name] ?? [];
  if (parameters.length > 1) return <RangeField {...props} />;
  if (name === "inventory_type") return <Facet legend={title} name={name} rows={conditionRows(view, buckets)} />;
  if (name === "keywords")
    return <Facet legend={title} name={name} rows={historyRows(view, buckets, total)} total={total} />;
  return <ValuesField {...props} />;
};

/** Used cars are those that are certified too. */
function conditionRows(view: ViewParameters, buckets: readonly ValueBucket[]): readonly FacetRow[] {
  const chosen = listOf(view, "inventory_type").map((value) => (value === "cpo" ? "certified" : value));
  const has = (value: string): boolean => chosen.includes(value);
  const row = (value: string, text: string, isChecked: boolean): FacetRow => ({
    value,
    text,
    count: countIn(buckets, ...value.split(",")),
    isChecked,
  });
  return [
    row("used,certified", "Used, certified too", has("used") && has("certified")),
    ...(has("used") && !has("certified") ? [row("used", "Used, not certified", true)] : []),
    row("certified", "Certified only", has("certified") && !has("used")),
    row("new", "New", has("new")),
  ];
}

/** What the keywords say of a car. As filters, two of them hide the cars that have them. */
const historyRows = (view: ViewParameters, buckets: readonly ValueBucket[], total = 0): readonly FacetRow[] =>
  ["clean_title", "one_owner", "fleet", "branded"].map((value) => {
    const having = countIn(buckets, value);
    const isHiding = value === "fleet" || value === "branded";
    return {
      value,
      text: valueName("keywords", value),
      count: isHiding ? total - having : having,
      isChecked: listOf(view, "keywords").includes(value),
    };
  });

/** How many values of a facet are shown at once. */
const shownMax: Readonly<Record<string, number>> = { body_type: 6, features: 5 };

/** Ratings are shown from the best to the worst, other values by their counts. */
const inOrder = (facet: string, buckets: readonly ValueBucket[]): readonly ValueBucket[] =>
  facet !== "value_rating"
    ? buckets
    : Object.keys(ratingWords).flatMap((rating) => buckets.filter(({ value }) => value === rating));

const isRating = (value: string): value is Rating => Object.hasOwn(ratingWords, value);

const ValuesField = ({ definition: { name, title }, view, facets }: FacetFieldProps): JSX.Element | null => {
  const buckets = inOrder(name, facets.values[name] ?? []);
  const values = buckets.map(({ value }) => value);
  const { isChosen, others } = chosenAmong(view, name, values);
  if (buckets.length === 0 && others.length === 0) return null;
  const rowOf = ({ value, count }: Pick<ValueBucket, "value"> & Partial<ValueBucket>): FacetRow => {
    const words = valueName(name, value, facets);
    return {
      value: listText(name, value),
      text: name === "value_rating" && isRating(value) ? <Badge look={value}>{words}</Badge> : words,
      count,
      isChecked: isChosen(value) || count === undefined,
    };
  };
  const isShown = ({ value }: ValueBucket, index: number): boolean => index < (shownMax[name] ?? 8) || isChosen(value);
  return (
    <Facet
      legend={title}
      name={name}
      rows={[...others.map((value) => ({ value })), ...buckets.filter(isShown)].map(rowOf)}
      rest={buckets.filter((bucket, index) => !isShown(bucket, index)).map(rowOf)}
      isOpenEnded={buckets.length === valuesMax && name !== "dealer_id"}
    />
  );
};

const RangeField = ({ definition, view, facets }: FacetFieldProps): JSX.Element | null => {
  const { name, title, parameters } = definition;
  const [minName, maxName = ""] = parameters;
  const { [minName]: min, [maxName]: max } = view;
  const ranges = facets.ranges[name] ?? [];
  if (ranges.length === 0 && min === undefined && max === undefined) return null;
  const isWithin = (range: { readonly min: number; readonly max: number }): boolean =>
    (min !== undefined || max !== undefined) &&
    (min === undefined || range.max > Number(min)) &&
    (max === undefined || range.min < Number(max));
  const lowest = facets.stats[name]?.min ?? ranges[0]?.min;
  return (
    <RangeFacet
      legend={title}
      name={minName.slice("min_".length)}
      texts={[min ?? "", max ?? ""]}
      placeholders={[lowestText(name, lowest), "any"]}
      bars={ranges.map((range) => ({ count: range.count, isIn: isWithin(range) }))}
    />
  );
};

/** Returns what the field of a lower bound says while it is empty. */
function lowestText(name: string, lowest: number | undefined): string {
  if (lowest === undefined) return "any";
  return name === "year" ? String(lowest) : name === "price" ? dollars(lowest) : decimal(lowest);
}

const radii = ["10", "25", "50", "100", "150", "250", "500"];

export const radiusOptions = ({ radius }: ViewParameters): readonly (readonly [value: string, text: string])[] => [
  ["", "any"],
  ...[...new Set([...radii, ...(radius === undefined ? [] : [radius])])].map(
    (miles) => [miles, `${miles} miles`] as const,
  ),
];

const NearField = ({ view }: Pick<FilterFormProps, "view">): JSX.Element => (
  <fieldset class="facet" id="near">
    <legend>Near</legend>
    <div class="pair">
      <input
        class="in"
        type="text"
        id="postal_code"
        name="postal_code"
        autocomplete="postal-code"
        aria-label="ZIP code or town"
        placeholder="ZIP code"
        value={view.postal_code ?? ""}
      />
      <span>within</span>
      <select class="in" id="radius" name="radius" aria-label="Within">
        {radiusOptions(view).map(([miles, text]) => (
          <option key={miles} value={miles} selected={miles === (view.radius ?? "")}>
            {text}
          </option>
        ))}
      </select>
    </div>
  </fieldset>
);

const SoldField = ({ view }: Pick<FilterFormProps, "view">): JSX.Element => {
  const { sold_within_days: days } = view;
  const [name, value, text] =
    days === undefined ? ["inventory_status", "sold", "Sold"] : ["sold_within_days", days, `Sold in ${days} days`];
  return (
    <fieldset class="facet">
      <legend>For sale or sold</legend>
      <select class="in" id="inventory_status" name={name} aria-label="For sale or sold">
        <option value="">For sale</option>
        <option value={value} selected={!isJudged(view)}>
          {text}
        </option>
      </select>
    </fieldset>
  );
};
