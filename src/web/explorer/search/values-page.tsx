/** All values of a facet that begin with some letters, with their counts in a view: what the sidebar has no room for. */
import type { JSX } from "preact";
import { refuse } from "../../../contract/errors.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import type { PageHandler } from "../../shell/pages.tsx";
import { type FacetDefinition, facetDefinitions, type ValueBucket } from "../facets.ts";
import { apiFilters, chosenAmong, listText, readView, type ViewParameters } from "../view.ts";
import { KeptFields } from "./applied-filters.tsx";
import { ValueField, valuesPath } from "./facet-panel.tsx";

/** The most values that the API counts at once. */
const valuesMax = 100;

/** Returns the handler of `/values/:facet`. */
export const valuesPage =
  (current: CurrentVersion): PageHandler =>
  async ({ params, query, requests }) => {
    const definition = facetDefinitions.find(({ name, step }) => name === params.facet && step === undefined);
    if (definition === undefined) throw refuse("not_found", { what: "facet", id: params.facet ?? "" });
    const { name, title } = definition;
    const asOf = await current.use(async ({ manifest }) => manifest.as_of);
    const { q = "", ...view } = readView(query, asOf);
    const { [name]: _, ...others } = apiFilters(view, asOf);
    const { data } = await requests.call("getFacets", {
      ...others,
      facets: name,
      facet_value_limit: String(valuesMax),
      ...(q === "" ? {} : { facet_value_prefix: q }),
    });
    const buckets = data.facets[name] ?? [];
    return {
      title,
      door: "shop",
      body: (
        <section class="sheet pad stack values-page">
          <h1>{title}</h1>
          <SearchForm definition={definition} view={view} q={q} />
          <ValuesForm name={name} view={view} buckets={buckets} />
          {buckets.length === 0 ? <p>{`No value begins with “${q}”.`}</p> : null}
          {buckets.length === valuesMax ? (
            <p class="muted">{`The ${valuesMax} most frequent values. Search for others.`}</p>
          ) : null}
        </section>
      ),
    };
  };

interface SearchFormProps {
  readonly definition: FacetDefinition;
  readonly view: ViewParameters;
  readonly q: string;
}

const SearchForm = ({ definition: { name, title }, view, q }: SearchFormProps): JSX.Element => (
  <form action={`/values/${name}`} method="get" class="inline">
    <KeptFields view={view} without={new Set()} />
    <input
      type="search"
      name="q"
      value={q}
      maxLength={60}
      aria-label={`Search ${title.toLowerCase()}`}
      placeholder={`Search ${title.toLowerCase()}`}
    />
    <button type="submit">Search</button>
    {q === "" ? null : <a href={valuesPath(name, view)}>All values</a>}
  </form>
);

interface ValuesFormProps {
  readonly name: string;
  readonly view: ViewParameters;
  readonly buckets: readonly ValueBucket[];
}

const ValuesForm = ({ name, view, buckets }: ValuesFormProps): JSX.Element => {
  const { isChosen, others } = chosenAmong(
    view,
    name,
    buckets.map(({ value }) => value),
  );
  return (
    <form action="/shop" method="get" class="stack">
      <KeptFields view={view} without={new Set([name])} />
      {others.map((value) => (
        <input key={value} type="hidden" name={name} value={listText(name, value)} />
      ))}
      <div class="vals" id="values">
        {buckets.map((bucket) => (
          <ValueField key={bucket.value} name={name} bucket={bucket} isChosen={isChosen(bucket.value)} />
        ))}
      </div>
      <button type="submit" class="prime">
        Show listings
      </button>
    </form>
  );
};
