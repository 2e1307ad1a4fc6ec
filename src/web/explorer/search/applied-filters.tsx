/** The filters of a view: each with a link that removes it, and all as hidden fields where no control shows them. */
import type { JSX } from "preact";
import { ownValue } from "../../../base/json.ts";
import { queryString } from "../../../operations/caller.ts";
import { Icon } from "../../shell/icons.tsx";
import { facetDefinitions, type ViewFacets } from "../facets.ts";
import {
  apiFilters,
  inventoryOf,
  listOf,
  removableNames,
  type ViewParameters,
  viewPath,
  withoutFilters,
} from "../view.ts";

/** The parameters that have a control in the form of the filters. */
export const controlledNames: ReadonlySet<string> = new Set([
  ...facetDefinitions.flatMap(({ parameters }) => parameters.filter((name) => name !== undefined)),
  ...["postal_code", "radius", "snapshot_date", "inventory_status", "sold_within_days", "sort"],
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

interface AppliedFiltersProps {
  readonly view: ViewParameters;
  readonly asOf: string;
  readonly facets: ViewFacets;
}

export const AppliedFilters = ({ view, asOf, facets }: AppliedFiltersProps): JSX.Element | null => {
  const names = removableNames(view);
  if (names.length === 0) return null;
  return (
    <ul class="chips" aria-label="Chosen filters">
      {names.map((name) => (
        <li key={name}>
          <a class="chip" href={viewPath(withoutFilters(view, [name]))}>
            <span class="vh">Remove </span>
            <span>{filterText(view, name, facets)}</span>
            <Icon name="remove" />
          </a>
        </li>
      ))}
      <li>
        <a href={viewPath(withoutFilters(view, names))}>Clear all</a>
      </li>
      {inventoryOf(view) === "active" ? (
        <li>
          <a href={`/dashboard/searches?query=${encodeURIComponent(queryString(apiFilters(view, asOf)))}`}>
            Save this search
          </a>
        </li>
      ) : null}
    </ul>
  );
};

/** Returns a filter of a view in words. Ids have the names that the facets know. */
export function filterText(view: ViewParameters, name: string, facets?: ViewFacets): string {
  if (name === "unrated") return "Rated prices only";
  const buckets = ownValue(facets?.values, name);
  const values = listOf(view, name).map(
    (id) => buckets?.find(({ value, label }) => value === id && label !== undefined)?.label ?? id,
  );
  return `${filterTitle(name)} ${values.join(", ")}`;
}

/** Returns the words for a parameter. */
export function filterTitle(name: string): string {
  const facet = facetDefinitions.find(({ parameters }) => parameters.includes(name));
  if (facet === undefined) return name.replaceAll("_", " ");
  return facet.step !== undefined ? `${facet.title} ${name.startsWith("min_") ? "from" : "to"}` : facet.title;
}
