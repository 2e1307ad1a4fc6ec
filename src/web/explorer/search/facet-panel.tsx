/** The facets beside the results: values as check boxes, ranges as histograms with bounds. */
import type { JSX } from "preact";
import { count } from "../../shell/format.ts";
import { type FacetDefinition, facetDefinitions, type ValueBucket, type ViewFacets } from "../facets.ts";
import { isSameValue, listOf, type ViewParameters } from "../view.ts";
import { RangeFacetField } from "./range-facet.tsx";

interface FacetPanelProps {
  readonly view: ViewParameters;
  readonly facets: ViewFacets;
}

const shownMax = 8;

export const FacetPanel = ({ view, facets }: FacetPanelProps): JSX.Element => (
  <div class="facets">
    {facetDefinitions.map((definition) =>
      definition.step !== undefined ? (
        <RangeFacetField
          key={definition.name}
          definition={definition}
          ranges={facets.ranges[definition.name] ?? []}
          view={view}
        />
      ) : (
        <CategoryFacetField
          key={definition.name}
          definition={definition}
          buckets={facets.values[definition.name] ?? []}
          chosen={listOf(view, definition.name)}
        />
      ),
    )}
  </div>
);

interface CategoryFacetProps {
  readonly definition: FacetDefinition;
  readonly buckets: readonly ValueBucket[];
  readonly chosen: readonly string[];
}

const CategoryFacetField = ({ definition, buckets, chosen }: CategoryFacetProps): JSX.Element | null => {
  const { name, title, isOpen } = definition;
  const isChosen = (value: string): boolean => chosen.some((item) => isSameValue(item, value));
  const uncounted = chosen.filter((item) => !buckets.some(({ value }) => isSameValue(item, value)));
  const shown = buckets.filter(({ value }, index) => index < shownMax || isChosen(value));
  const more = buckets.filter((bucket) => !shown.includes(bucket));
  if (buckets.length === 0 && uncounted.length === 0) return null;
  const field = (value: string, listings?: number) => (
    <ValueField key={value} name={name} value={value} listings={listings} isChosen={isChosen(value)} />
  );
  return (
    <details class="facet" id={`facet-${name}`} open={isOpen || chosen.length > 0}>
      <summary>
        <h2>{title}</h2>
        {chosen.length === 0 ? null : <span class="chosen">{chosen.length} chosen</span>}
      </summary>
      <fieldset>
        <legend class="vh">{title}</legend>
        {uncounted.map((value) => field(value))}
        {shown.map(({ value, count: listings }) => field(value, listings))}
        {more.length === 0 ? null : (
          <details class="more" id={`more-${name}`}>
            <summary>{count(more.length)} more</summary>
            {more.map(({ value, count: listings }) => field(value, listings))}
          </details>
        )}
      </fieldset>
    </details>
  );
};

interface ValueFieldProps {
  readonly name: string;
  readonly value: string;
  /** Undefined if it is not among the counted values. */
  readonly listings: number | undefined;
  readonly isChosen: boolean;
}

/** A value. One with a comma cannot be chosen: lists are separated by commas. */
const ValueField = ({ name, value, listings, isChosen }: ValueFieldProps): JSX.Element => (
  <label class="value">
    <input
      type="checkbox"
      id={`${name}=${value}`}
      name={name}
      value={value}
      checked={isChosen}
      disabled={value.includes(",")}
    />
    <span class="name">{labels.get(value) ?? value}</span>
    <span class="count">{count(listings)}</span>
  </label>
);

/** Values of closed vocabularies, in words. */
const labels: ReadonlyMap<string, string> = new Map([
  ["new", "New"],
  ["used", "Used"],
  ["certified", "Certified"],
  ["franchise", "Franchise"],
  ["independent", "Independent"],
  ["stock", "In stock"],
  ["transit", "In transit"],
  ["build", "To be built"],
]);
