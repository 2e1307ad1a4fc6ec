/**
 * The cases of the bench suite. A case is a group of queries of one kind, sent in rotation, so that no query repeats within a short time.
 * Cases without a parameter to vary have a single query.
 */
import { plusDays } from "../src/base/day.ts";
import { allBenchFacets, benchCategoricalFacets } from "./dataset/columns.ts";
import type { SampleValues } from "./dataset/sample-values.ts";
import { pastDayCases, trendCases } from "./history-cases.ts";
import { type FacetOptions, facetQuery, sidebarFacets } from "./queries/facets.ts";
import { type BenchFilter, equals } from "./queries/filter.ts";
import type { BenchQuery } from "./queries/query.ts";
import { type QueriesByCase, queriesPerCaseMax, queryEach } from "./queries/query-each.ts";
import { lookUpQuery, searchQuery } from "./queries/search.ts";
import { dayPeerNames, type PeerName, pastPeerNames, trendPeerNames } from "./settings.ts";

export interface BenchCase {
  readonly name: string;
  /** The peers that hold the rows that the queries need. */
  readonly peers: readonly PeerName[];
  readonly queries: readonly BenchQuery[];
}

const near = (zip: SampleValues["zips"][number]): BenchFilter => ({ kind: "near", zip, miles: 50 });
const offsets = Array.from({ length: queriesPerCaseMax }, (_, index) => 1000 + 50 * index);

/** Returns every case, filled with the sample values of a dataset. */
export function casesOf(values: SampleValues): readonly BenchCase[] {
  const ofDay = { ...searchCases(values), ...facetCases(values), ...metricCases(values), ...lookUpCases(values) };
  const casesWith = (peers: readonly PeerName[], cases: QueriesByCase): readonly BenchCase[] =>
    Object.entries(cases).map(([name, queries]) => ({ name, peers, queries }));
  return [
    ...casesWith(dayPeerNames, ofDay),
    ...casesWith(pastPeerNames, pastDayCases(values)),
    ...casesWith(trendPeerNames, trendCases(values)),
  ];
}

function searchCases({ cars, states, zips, features, vins, dealers, snapshotDay, asOf }: SampleValues): QueriesByCase {
  const featurePairs = features
    .slice(0, queriesPerCaseMax)
    .map((feature, index) => [feature, features[(index + 3 + (index % 5)) % features.length] ?? feature]);
  return {
    "search: default page": [searchQuery({})],
    "search: make, model, price": queryEach(cars, ({ make, model, price }) =>
      searchQuery({
        filters: [equals("make", make), equals("model", model), { kind: "maxPrice", price }],
        sort: "price",
      }),
    ),
    "search: state": queryEach(states, (state) => searchQuery({ filters: [equals("state", state)] })),
    "search: radius 50": queryEach(zips, (zip) => searchQuery({ filters: [near(zip)], sort: "distance" })),
    "search: two features": queryEach(featurePairs, (tokens) =>
      searchQuery({ filters: [{ kind: "features", tokens }] }),
    ),
    "search: VIN mask": queryEach(vins, (vin) =>
      searchQuery({ filters: [{ kind: "vinMask", mask: `${vin.slice(0, 3)}?${vin.slice(4, 7)}*` }] }),
    ),
    "search: offset 1000": queryEach(offsets, (offset) => searchQuery({ offset, parameters: [`offset=${offset}`] })),
    "search: sold": [searchQuery({ from: "sold", parameters: ["inventory_status=sold"] })],
    ...(snapshotDay < asOf && {
      "search: snapshot": [searchQuery({ from: "snapshot", parameters: [`snapshot_date=${snapshotDay}`] })],
    }),
    "search: include both": [
      searchQuery({
        parameters: ["include=price_history,options"],
        expansionColumns: ["price_history", "options"],
      }),
    ],
    "search: dealer": queryEach(dealers, (id) =>
      searchQuery({ path: `/v1/dealers/${id}/listings`, filters: [{ kind: "dealer", id }] }),
    ),
  };
}

function facetCases({ states, makes, zips, snapshotDay, asOf }: SampleValues): QueriesByCase {
  const soldWithin: BenchFilter = { kind: "soldWithin", days: 90, after: plusDays(asOf, -90) };
  const byState = (facets: FacetOptions["facets"], among = states) =>
    queryEach(among, (state) => facetQuery({ facets, filters: [equals("state", state)] }));
  const byMake = (facets: FacetOptions["facets"]) =>
    queryEach(makes, (make) => facetQuery({ facets, filters: [equals("make", make)] }));
  const largestState = states.slice(0, 1);
  return {
    "facets: sidebar, state": byState(sidebarFacets),
    "facets: sidebar, largest state": byState(sidebarFacets, largestState),
    "facets: sidebar, make": byMake(sidebarFacets),
    "facets: 26 categories, state": byState(benchCategoricalFacets),
    "facets: 26 categories, make": byMake(benchCategoricalFacets),
    "facets: all 30": [facetQuery({ facets: allBenchFacets })],
    "facets: all 30, state": byState(allBenchFacets),
    "facets: all 30, largest state": byState(allBenchFacets, largestState),
    "facets: all 30, make": byMake(allBenchFacets),
    "facets: all 30, radius 50": queryEach(zips, (zip) => facetQuery({ facets: allBenchFacets, filters: [near(zip)] })),
    ...(snapshotDay < asOf && {
      "facets: all 30, snapshot": [
        facetQuery({ facets: allBenchFacets, from: "snapshot", parameters: [`snapshot_date=${snapshotDay}`] }),
      ],
    }),
    "facets: all 30, sold in 90 days": [facetQuery({ facets: allBenchFacets, from: "sold", filters: [soldWithin] })],
  };
}

function metricCases({ states }: SampleValues): QueriesByCase {
  const byMake = { facets: ["make"] } as const;
  const p95 = { name: "price.p95", column: "price", fraction: 0.95 } as const;
  return {
    "facets: median price by make": [
      facetQuery({ ...byMake, metric: { name: "price.median", column: "price", fraction: 0.5 } }),
    ],
    "facets: p95 price by make": [facetQuery({ ...byMake, metric: p95 })],
    "facets: p95 price by make, state": queryEach(states, (state) =>
      facetQuery({ ...byMake, metric: p95, filters: [equals("state", state)] }),
    ),
    "facets: p95 discount by make": [
      facetQuery({
        ...byMake,
        metric: { name: "discount_from_msrp.p95", column: "discount_from_msrp", fraction: 0.95 },
      }),
    ],
  };
}

const lookUpCases = ({ ids, vins }: SampleValues): QueriesByCase => ({
  "details: listing by id": ids.map((id) => lookUpQuery("id", id)),
  "details: VIN": vins.map((vin) => lookUpQuery("vin", vin)),
});
