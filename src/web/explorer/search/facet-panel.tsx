/** The facets beside the results: values as check boxes, tiles or paints, ranges as histograms with bounds. */
import type { JSX } from "preact";
import { count } from "../../shell/format.ts";
import { conditions } from "../attributes.ts";
import { CarDrawing, paintClass } from "../car-drawing.tsx";
import type { FacetChanges } from "../charts/facet-changes.ts";
import { type FacetDefinition, facetDefinitions, type ValueBucket, type ViewFacets } from "../facets.ts";
import { RatingBadge, ratingLooks } from "../value.tsx";
import { chosenAmong, listOf, listText, type ViewParameters, viewPath } from "../view.ts";
import { RangeFacetField } from "./range-facet.tsx";

interface FacetPanelProps {
  readonly view: ViewParameters;
  readonly facets: ViewFacets;
  readonly changes: FacetChanges | undefined;
}

const shownMax = 8;

export const FacetPanel = ({ view, facets, changes }: FacetPanelProps): JSX.Element => (
  <>
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
          buckets={inOrder(definition.name, facets.values[definition.name] ?? [])}
          view={view}
          changes={changes}
        />
      ),
    )}
  </>
);

/** Ratings are shown from the best to the worst, other values by their counts. */
function inOrder(facet: string, buckets: readonly ValueBucket[]): readonly ValueBucket[] {
  if (facet !== "value_rating") return buckets;
  return Object.keys(ratingLooks).flatMap((rating) => buckets.filter(({ value }) => value === rating));
}

interface CategoryFacetProps {
  readonly definition: FacetDefinition;
  readonly buckets: readonly ValueBucket[];
  readonly view: ViewParameters;
  readonly changes: FacetChanges | undefined;
}

const CategoryFacetField = ({ definition, buckets, view, changes }: CategoryFacetProps): JSX.Element | null => {
  const { name, title, isOpen } = definition;
  const chosen = listOf(view, name).length;
  const { isChosen, others } = chosenAmong(
    view,
    name,
    buckets.map(({ value }) => value),
  );
  const shown = buckets.filter(({ value }, index) => index < shownMax || isChosen(value));
  if (buckets.length === 0 && chosen === 0) return null;
  const largest = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const all = [...others.map((value) => ({ value, count: undefined })), ...shown];
  return (
    <details class="group" id={`facet-${name}`} open={isOpen || chosen > 0}>
      <summary class="title">
        <h2>{title}</h2>
        <span>{chosen === 0 ? "" : `${chosen} chosen`}</span>
      </summary>
      <fieldset>
        <legend class="vh">{title}</legend>
        {buckets.length > shown.length ? <ValueSearch definition={definition} view={view} /> : null}
        <div class={lookOf(name)} id={`values-${name}`}>
          {all.map((bucket) => (
            <ValueField
              key={bucket.value}
              name={name}
              bucket={bucket}
              isChosen={isChosen(bucket.value)}
              {...(bucket.count === undefined ? {} : { change: changes?.changeOf(name, bucket.value, bucket.count) })}
              {...(lookOf(name) === "vals" ? { share: (bucket.count ?? 0) / largest } : {})}
            />
          ))}
        </div>
        {buckets.length > shown.length ? (
          <a class="more" href={valuesPath(name, view)}>
            {buckets.length < 50 ? `${count(buckets.length - shown.length)} more` : "All values"}
          </a>
        ) : null}
      </fieldset>
    </details>
  );
};

/** Returns the path of the page with the values of a facet. */
export const valuesPath = (facet: string, view: ViewParameters): string => viewPath(view, `/values/${facet}`);

/** The field that searches all values of a facet; a browser module replaces those shown. */
const ValueSearch = ({
  definition: { name, title },
  view,
}: Pick<CategoryFacetProps, "definition" | "view">): JSX.Element => (
  <input
    type="search"
    class="insearch js-only"
    id={`search-${name}`}
    autocomplete="off"
    maxLength={60}
    aria-label={`Search ${title.toLowerCase()}`}
    placeholder={`Search ${title.toLowerCase()}`}
    data-values={valuesPath(name, view)}
    data-into={`values-${name}`}
  />
);

type Look = "vals" | "tiles silhouette" | "paints";

/** How the values of a facet look, unless as rows. */
const looks: Readonly<Record<string, Look>> = { body_type: "tiles silhouette", base_exterior_color: "paints" };

const lookOf = (facet: string): Look => looks[facet] ?? "vals";

interface ValueFieldProps {
  readonly name: string;
  /** The count is undefined if the value is not among the counted ones. */
  readonly bucket: Pick<ValueBucket, "value" | "label"> & { readonly count: number | undefined };
  /** The part of the largest count, of a bar behind the value. */
  readonly share?: number;
  /** How the count has changed, in words. */
  readonly change?: string | undefined;
  readonly isChosen: boolean;
}

export const ValueField = ({ name, bucket, share, change, isChosen }: ValueFieldProps): JSX.Element => {
  const { value, count: listings, label } = bucket;
  const look = lookOf(name);
  const id = `${name}=${value}`;
  return (
    <label
      class={`value${look === "paints" ? ` ${paintClass(value)}` : ""}`}
      title={look === "paints" ? value : undefined}
    >
      <input type="checkbox" id={id} name={name} value={listText(name, value)} checked={isChosen} />
      {share === undefined ? null : (
        <svg class="bar" aria-hidden="true">
          <rect width={`${Math.round(share * 100)}%`} height="100%" rx="2" />
        </svg>
      )}
      {look === "tiles silhouette" ? <CarDrawing bodyType={value} /> : null}
      {name === "value_rating" && isRating(value) ? (
        <span class="name">
          <RatingBadge rating={value} />
        </span>
      ) : (
        <span class="name">{label ?? labels.get(value) ?? value}</span>
      )}
      <span class="count">
        {count(listings)}
        {change === undefined ? null : <span class="chg">{change}</span>}
      </span>
    </label>
  );
};

const isRating = (value: string): value is keyof typeof ratingLooks => Object.hasOwn(ratingLooks, value);

/** Values of closed vocabularies, in words. */
const labels: ReadonlyMap<string, string> = new Map([
  ...conditions,
  ["franchise", "Franchise"],
  ["independent", "Independent"],
  ["stock", "In stock"],
  ["transit", "In transit"],
  ["build", "To be built"],
]);
