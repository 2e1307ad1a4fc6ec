/**
 * The cases: groups of questions of one kind. A case asks its questions in turn, so that nothing is asked twice in a short time, except
 * where there is only one way to ask.
 */
import { plusDays } from "../src/base/day.ts";
import type { Words } from "./dataset/words.ts";
import { allFacets, askedCategoricalFacets, type FacetOptions, facets, sidebarFacets } from "./questions/facets.ts";
import { is, type QuestionFilter } from "./questions/filter.ts";
import type { Question } from "./questions/question.ts";
import { lookUp, searchQuestion } from "./questions/search.ts";

export interface Case {
  readonly name: string;
  readonly questions: readonly Question[];
}

/** How many questions a case has, where words allow. */
const turns = 24;

/** A question for each of some words, the commonest first; `turn` counts from 0. */
function each<T>(words: readonly T[], question: (word: T, turn: number) => Question): readonly Question[] {
  if (words.length === 0) throw new Error("The dataset has no words to ask for.");
  return words.slice(0, turns).map(question);
}

const near = (zip: Words["zips"][number]): QuestionFilter => ({ kind: "near", zip, miles: 50 });
const offsets = Array.from({ length: turns }, (_, turn) => 1000 + 50 * turn);

/** Every case, in the words of a dataset. */
export function casesOf(words: Words): readonly Case[] {
  return Object.entries({ ...searches(words), ...counts(words), ...metrics(words), ...details(words) }).map(
    ([name, questions]) => ({ name, questions }),
  );
}

type Questions = Readonly<Record<string, readonly Question[]>>;

function searches({ cars, states, zips, features, vins, dealers, snapshotDay }: Words): Questions {
  /** Pairs of features, each of them once. */
  const pairs = features
    .slice(0, turns)
    .map((feature, turn) => [feature, features[(turn + 3 + (turn % 5)) % features.length] ?? feature]);
  return {
    "search: default page": [searchQuestion({})],
    "search: make, model, price": each(cars, ({ make, model, price }) =>
      searchQuestion({ filters: [is("make", make), is("model", model), { kind: "maxPrice", price }], sort: "price" }),
    ),
    "search: state": each(states, (state) => searchQuestion({ filters: [is("state", state)] })),
    "search: radius 50": each(zips, (zip) => searchQuestion({ filters: [near(zip)], sort: "distance" })),
    "search: two features": each(pairs, (tokens) => searchQuestion({ filters: [{ kind: "features", tokens }] })),
    "search: VIN mask": each(vins, (vin) =>
      searchQuestion({ filters: [{ kind: "vinMask", mask: `${vin.slice(0, 3)}?${vin.slice(4, 7)}*` }] }),
    ),
    "search: offset 1000": each(offsets, (offset) => searchQuestion({ offset, query: [`offset=${offset}`] })),
    "search: sold": [searchQuestion({ from: "sold", query: ["inventory_status=sold"] })],
    "search: snapshot": [searchQuestion({ from: "snapshot", query: [`snapshot_date=${snapshotDay}`] })],
    "search: include both": [
      searchQuestion({ query: ["include=price_history,options"], more: ["price_history", "options"] }),
    ],
    "search: dealer": each(dealers, (id) =>
      searchQuestion({ path: `/v1/dealers/${id}/listings`, filters: [{ kind: "dealer", id }] }),
    ),
  };
}

function counts({ states, makes, zips, snapshotDay, asOf }: Words): Questions {
  const soldWithin: QuestionFilter = { kind: "soldWithin", days: 90, after: plusDays(asOf, -90) };
  const byState = (asked: FacetOptions["facets"], among = states) =>
    each(among, (state) => facets({ facets: asked, filters: [is("state", state)] }));
  const byMake = (asked: FacetOptions["facets"]) =>
    each(makes, (make) => facets({ facets: asked, filters: [is("make", make)] }));
  const largest = states.slice(0, 1);
  return {
    "facets: sidebar, state": byState(sidebarFacets),
    "facets: sidebar, largest state": byState(sidebarFacets, largest),
    "facets: sidebar, make": byMake(sidebarFacets),
    "facets: 26 categories, state": byState(askedCategoricalFacets),
    "facets: 26 categories, make": byMake(askedCategoricalFacets),
    "facets: all 30": [facets({ facets: allFacets })],
    "facets: all 30, state": byState(allFacets),
    "facets: all 30, largest state": byState(allFacets, largest),
    "facets: all 30, make": byMake(allFacets),
    "facets: all 30, radius 50": each(zips, (zip) => facets({ facets: allFacets, filters: [near(zip)] })),
    "facets: all 30, snapshot": [
      facets({ facets: allFacets, from: "snapshot", query: [`snapshot_date=${snapshotDay}`] }),
    ],
    "facets: all 30, sold in 90 days": [facets({ facets: allFacets, from: "sold", filters: [soldWithin] })],
  };
}

function metrics({ states }: Words): Questions {
  const byMake = { facets: ["make"] } as const;
  const p95 = { name: "price.p95", column: "price", share: 0.95 } as const;
  return {
    "facets: median price by make": [
      facets({ ...byMake, metric: { name: "price.median", column: "price", share: 0.5 } }),
    ],
    "facets: p95 price by make": [facets({ ...byMake, metric: p95 })],
    "facets: p95 price by make, state": each(states, (state) =>
      facets({ ...byMake, metric: p95, filters: [is("state", state)] }),
    ),
    "facets: p95 discount by make": [
      facets({ ...byMake, metric: { name: "discount_from_msrp.p95", column: "discount_from_msrp", share: 0.95 } }),
    ],
  };
}

const details = ({ ids, vins }: Words): Questions => ({
  "details: listing by id": ids.map((id) => lookUp("id", id)),
  "details: VIN": vins.map((vin) => lookUp("vin", vin)),
});
