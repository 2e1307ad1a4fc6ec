/** The facet of dealers beside the results: its values are ids, which are shown as names. */
import type { FacetDefinition, ValueBucket } from "../facets.ts";

/** The definition of the facet. Its name is what the API counts and filters by, and finds dealers in by the beginnings of their names. */
export const dealerFacet: FacetDefinition = {
  ...{ name: "dealer_id", title: "Dealer", parameters: ["dealer_id"], isOpen: false },
};

/** Returns what a value of any facet is called: the name of a dealer, or the value. */
export const bucketName = ({ value, label }: ValueBucket): string => label ?? value;
