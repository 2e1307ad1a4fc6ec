/**
 * The cases: what is asked, once as a path of the API and once as SQL. A case with several questions asks them in turn, so that nothing
 * is asked twice in a short time.
 */
import { plusDays } from "../src/base/day.ts";
import type { Origin } from "./peers/peer.ts";
import { type Dialect, text } from "./peers/peer.ts";
import { allFacets, facets } from "./questions/facets.ts";
import type { Question } from "./questions/question.ts";
import { lookUp, search } from "./questions/search.ts";
import type { Words } from "./words.ts";

export interface Case {
  readonly name: string;
  readonly questions: readonly Question[];
}

const first = <T>(words: readonly T[], what: string): T => {
  const [word] = words;
  if (word === undefined) throw new Error(`The dataset has no ${what} to ask for.`);
  return word;
};

const near = (origin: Origin, miles: number) => (dialect: Dialect) => dialect.within(origin, miles, "active");
const byDistance = (origin: Origin) => (dialect: Dialect) => `round(1000 * (${dialect.miles(origin)}))`;

/** Every case, in the words of a dataset. */
export function casesOf(words: Words): readonly Case[] {
  const [make, { make: carMake, model, price }] = [first(words.makes, "make"), first(words.cars, "model")];
  const [state, zip, dealer] = [
    first(words.states, "state"),
    first(words.zips, "ZIP code"),
    first(words.dealers, "dealer"),
  ];
  const [feature = "", other = ""] = words.features;
  const soldSince = `sold_date > '${plusDays(words.asOf, -90)}'`;
  const car = `make=${encodeURIComponent(carMake)}&model=${encodeURIComponent(model)}`;
  const isState = `state = ${text(state)}`;
  const isMake = `make = ${text(make)}`;
  const aMake = `make=${encodeURIComponent(make)}`;
  const radius = `postal_code=${zip.code}&radius=50`;

  const one = (name: string, question: Question): Case => ({ name, questions: [question] });
  return [
    one("search: default page", search({ query: "" })),
    one(
      "search: make, model, price",
      search({
        query: `${car}&max_price=${price}&sort=price`,
        where: `make = ${text(carMake)} AND model = ${text(model)} AND price <= ${price}`,
        order: "price",
      }),
    ),
    one("search: state", search({ query: `state=${state}`, where: isState })),
    one(
      "search: radius 50",
      search({ query: `${radius}&sort=distance`, where: near(zip, 50), order: byDistance(zip) }),
    ),
    one(
      "search: two features",
      search({
        query: `features=${encodeURIComponent(feature)},${encodeURIComponent(other)}`,
        where: ({ carries }) => `${carries("features", feature, "active")} AND ${carries("features", other, "active")}`,
      }),
    ),
    one(
      "search: VIN mask",
      search({
        query: `vin_pattern=${encodeURIComponent(words.mask.asked)}`,
        where: `vin LIKE ${text(words.mask.like)}`,
      }),
    ),
    one("search: offset 1000", search({ query: "offset=1000", offset: 1000 })),
    one("search: sold", search({ query: "inventory_status=sold", from: "sold" })),
    one("search: snapshot", search({ query: `snapshot_date=${words.snapshotDay}`, from: "snapshot" })),
    one("search: include both", search({ query: "include=price_history,options", more: ["price_history", "options"] })),
    one(
      "search: dealer",
      search({ query: "", path: `/v1/dealers/${dealer}/listings`, where: `dealer_id = ${text(dealer)}` }),
    ),

    one("facets: all 30", facets({ facets: allFacets })),
    one("facets: all 30, state", facets({ facets: allFacets, query: `state=${state}`, where: isState })),
    one("facets: all 30, make", facets({ facets: allFacets, query: aMake, where: isMake })),
    one("facets: all 30, radius 50", facets({ facets: allFacets, query: radius, where: near(zip, 50) })),
    one(
      "facets: all 30, snapshot",
      facets({ facets: allFacets, query: `snapshot_date=${words.snapshotDay}`, from: "snapshot" }),
    ),
    one(
      "facets: all 30, sold in 90 days",
      facets({ facets: allFacets, query: "sold_within_days=90", from: "sold", where: soldSince }),
    ),
    one(
      "facets: median price by make",
      facets({ facets: ["make"], metric: { name: "price.median", column: "price", share: 0.5 } }),
    ),
    one(
      "facets: p95 discount by make",
      facets({
        facets: ["make"],
        metric: { name: "discount_from_msrp.p95", column: "discount_from_msrp", share: 0.95 },
      }),
    ),

    { name: "details: listing by id", questions: words.ids.map((id) => lookUp("id", id)) },
    { name: "details: VIN", questions: words.vins.map((vin) => lookUp("vin", vin)) },
  ];
}
