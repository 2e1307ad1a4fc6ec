/** All values of a facet that begin with some letters, with their counts in a view: what the filters have no room for. */
import type { JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { Button } from "../components/button.tsx";
import { Facet } from "../components/facet.tsx";
import { Field } from "../components/field.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import { type FacetDefinition, facetDefinitions, type ValueBucket } from "./facets.ts";
import { KeptFields } from "./filter-form.tsx";
import { spokenSearch, valueName } from "./filter-words.ts";
import { apiFilters, chosenAmong, listText, readView, type ViewParameters, viewPath } from "./view.ts";

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
    const kicker = (
      <Kicker
        above={[
          ["/", "Home"],
          ["/shop", "Shop"],
          [viewPath(view), "Search"],
        ]}
        here={title}
      />
    );
    return {
      title,
      door: "shop",
      top: (
        <Verdict
          kicker={kicker}
          judgement={{
            sentence: [sentenceOf(buckets, title, q)],
            context: [spokenSearch(view) ?? "Among all cars for sale."],
          }}
        />
      ),
      body: (
        <>
          <SearchForm definition={definition} view={view} q={q} />
          <ValuesForm definition={definition} view={view} buckets={buckets} />
        </>
      ),
    };
  };

function sentenceOf({ length }: readonly ValueBucket[], title: string, q: string): string {
  const begins = q === "" ? "" : ` that begin with “${q}”`;
  if (length === 0) return `No value of ${title.toLowerCase()} begins with “${q}”.`;
  return length === valuesMax
    ? `The ${length} most frequent values of ${title.toLowerCase()}${begins}.`
    : `${length === 1 ? "One value" : `${length} values`} of ${title.toLowerCase()}${begins}.`;
}

interface SearchFormProps {
  readonly definition: FacetDefinition;
  readonly view: ViewParameters;
  readonly q: string;
}

const SearchForm = ({ definition: { name, title }, view, q }: SearchFormProps): JSX.Element => (
  <form action={`/values/${name}`} method="get" class="line">
    <KeptFields view={view} without={new Set()} />
    <Field label={`${title} that begins with`} type="search" name="q" value={q} maxLength={60} />
    <Button>Search</Button>
    {q === "" ? null : <a href={viewPath(view, `/values/${name}`)}>All values</a>}
  </form>
);

interface ValuesFormProps {
  readonly definition: FacetDefinition;
  readonly view: ViewParameters;
  readonly buckets: readonly ValueBucket[];
}

const ValuesForm = ({ definition: { name, title }, view, buckets }: ValuesFormProps): JSX.Element => {
  const { isChosen, others } = chosenAmong(
    view,
    name,
    buckets.map(({ value }) => value),
  );
  return (
    <form action="/shop" method="get" class="fig values">
      <KeptFields view={view} without={new Set([name])} />
      {others.map((value) => (
        <input key={value} type="hidden" name={name} value={listText(name, value)} />
      ))}
      <Facet
        legend={title}
        name={name}
        rows={buckets.map(({ value, label, count }) => ({
          value: listText(name, value),
          text: label ?? valueName(name, value),
          count,
          isChecked: isChosen(value),
        }))}
      />
      <p>
        <Button look="main">Show the cars</Button>
      </p>
    </form>
  );
};
