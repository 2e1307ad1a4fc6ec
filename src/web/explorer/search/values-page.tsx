/** All values of a facet that begin with some letters, with their counts in a view: what the sidebar has no room for. */
import { refuse } from "../../../contract/errors.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import type { PageHandler } from "../../shell/pages.tsx";
import { facetDefinitions } from "../facets.ts";
import { apiFilters, isSameValue, listOf, readView, viewPath, withParameters } from "../view.ts";
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
      ...{ ...others, facets: name, facet_value_limit: String(valuesMax) },
      ...(q === "" ? {} : { facet_value_prefix: q }),
    });
    const chosen = listOf(view, name);
    const isChosen = (value: string): boolean => chosen.some((item) => isSameValue(item, value));
    const buckets = data.facets[name] ?? [];
    const unshown = chosen.filter((item) => !buckets.some(({ value }) => isSameValue(item, value)));
    return {
      title,
      section: "explorer",
      body: (
        <section class="sheet pad stack values-page">
          <h1>{title}</h1>
          <form action={`/values/${name}`} method="get" class="inline">
            <KeptFields view={view} without={new Set()} />
            <label>
              <span class="vh">Search {title.toLowerCase()}</span>
              <input type="search" name="q" value={q} maxLength={60} placeholder={`Search ${title.toLowerCase()}`} />
            </label>
            <button type="submit">Search</button>
          </form>
          <form action="/" method="get" class="stack">
            <KeptFields view={view} without={new Set([name])} />
            {unshown.map((value) => (
              <input key={value} type="hidden" name={name} value={value} />
            ))}
            <fieldset>
              <legend class="vh">{title}</legend>
              <div class="vals" id="values">
                {buckets.map((bucket) => (
                  <ValueField key={bucket.value} name={name} bucket={bucket} isChosen={isChosen(bucket.value)} />
                ))}
              </div>
            </fieldset>
            {buckets.length === 0 ? <p>{`No value begins with “${q}”.`}</p> : null}
            {buckets.length === valuesMax ? (
              <p class="muted">{`The ${valuesMax} most frequent values. Search for others.`}</p>
            ) : null}
            <p class="acts">
              <button type="submit" class="prime">
                Show listings
              </button>
              <a class="btn" href={viewPath(withParameters(view, {}))}>
                Back
              </a>
              {q === "" ? null : <a href={valuesPath(name, view)}>All values</a>}
            </p>
          </form>
        </section>
      ),
    };
  };
