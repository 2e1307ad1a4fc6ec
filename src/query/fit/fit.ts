/**
 * Dealer fit, operations `findFittingDealers` and `findFittingModels`: the dealers that sell vehicles like one fastest, and the models that a dealer sells
 * faster than its market. Both come from sold listings; nothing is placed for money.
 */
import { plusDays } from "../../base/day.ts";
import { type Json, type Row, stringOrNull } from "../../base/json.ts";
import { refuse } from "../../contract/errors.ts";
import type { AnswerOf, QueryOf } from "../../contract/types.ts";
import { metricListingsMin } from "../../listing/aggregates.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Point } from "../../listing/geography.ts";
import type { CountedName } from "../../listing/schema.ts";
import { buildRow, dealerRow } from "../../serving/dimensions.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { findDealer } from "../dealers.ts";
import { distanceMiles, originOf, requireOrigin } from "../geography.ts";
import { listingPeriodsOf } from "../look-ups.ts";

type DealersAnswer = AnswerOf<"findFittingDealers">;
type ModelsAnswer = AnswerOf<"findFittingModels">;
type FitQuery = QueryOf<"findFittingDealers">;

/** A request with the center of its market. */
type Located = FitQuery & { readonly origin: Point };

/** The dealers or models of a step with enough sales, the fastest first, and the number of those without. */
interface Ranking {
  readonly ranked: readonly unknown[];
  readonly insufficient: number;
}

/** Returns the dealers that sell vehicles like the latest listing of a VIN, the fastest first. Refuses an unknown VIN with `not_found`. */
export async function fitDealers(vin: string, query: FitQuery, version: LakeVersion): Promise<DealersAnswer> {
  const columns = ["build_key", "dealer_key", "inventory_type"] as const;
  const latest = (await listingPeriodsOf(vin.toUpperCase(), columns, version)).at(-1);
  if (latest === undefined) throw refuse("not_found", { what: "vehicle with the VIN", id: vin });
  const { dimensions } = version;
  const build = buildRow.decode(dimensions.buildOf(latest.row.build_key));
  const dealer = dealerRow.decode(dimensions.dealerOf(latest.row.dealer_key));
  const { make, model, body_type } = build;
  const subject = {
    make: stringOrNull(make),
    model: stringOrNull(model),
    body_type: stringOrNull(body_type),
    inventory_type: stringOrNull(latest.row.inventory_type),
  };
  const located = { ...query, origin: originOfFit(query, dealer) };
  const { step, market, ...ranking } = await firstStep((one) => dealersAt(one, subject, located, version));
  const isKnown = fitStepNames.some((one) => likeSubject(one, subject) !== undefined);
  return {
    data: {
      vin: vin.toUpperCase(),
      subject,
      step: ranking.ranked.length > 0 ? step : null,
      market: market === undefined ? null : { sales: market.sales, median_days: market.medianDays },
      dealers: ranking.ranked.slice(0, query.limit),
      null_reason: ranking.ranked.length > 0 ? null : isKnown ? "insufficient_sample" : "unknown_attributes",
    },
    meta: metaOf(ranking, located, version),
  };
}

const within = ({ origin, radius }: Located): Filter => ({ kind: "withinRadius", origin, radiusMiles: radius });

const likeSubject = (step: FitStep, subject: Row): readonly Filter[] | undefined =>
  filtersFor([...fitSteps[step], "inventory_type"], subject);

async function dealersAt(step: FitStep, subject: Row, query: Located, version: LakeVersion) {
  const like = likeSubject(step, subject);
  if (like === undefined) return { step, market: undefined, ranked: [], insufficient: 0 };
  const filters = [...like, within(query)];
  const [[market], dealers] = await Promise.all([
    salesBy(["make"], filters, version),
    salesBy(["dealer_id"], filters, version),
  ]);
  const ranked = dealers.flatMap((group) => {
    const speed = relativeSpeed(group, market);
    return speed === undefined ? [] : [{ ...dealerIn(group, query.origin, version), ...speed }];
  });
  return { step, market, ranked: ranked.sort(bySpeed), insufficient: dealers.length - ranked.length };
}

function dealerIn({ values: [id = ""] }: SalesGroup, origin: Point, { dealers }: LakeVersion) {
  const profile = dealers.find(id)?.profile ?? {};
  return {
    dealer_id: id,
    dealer_name: stringOrNull(profile.name),
    city: stringOrNull(profile.city),
    state: stringOrNull(profile.state),
    distance_miles: distanceMiles(profile, origin),
  };
}

/** Returns what a dealer sells beside its market, the fastest first. Refuses an unknown dealer with `not_found`. */
export async function fitModels(id: string, query: FitQuery, version: LakeVersion): Promise<ModelsAnswer> {
  const dealer = findDealer(id, version);
  const dealer_id = String(dealer.dealer_id);
  const dealer_name = stringOrNull(dealer.name);
  const located = { ...query, origin: originOfFit(query, dealer) };
  const { step, ...ranking } = await firstStep((one) => modelsAt(one, dealer_id, located, version));
  return {
    data: {
      dealer_id,
      dealer_name,
      step: ranking.ranked.length > 0 ? step : null,
      models: ranking.ranked.slice(0, query.limit),
      null_reason: ranking.ranked.length > 0 ? null : "insufficient_sample",
    },
    meta: metaOf(ranking, located, version),
  };
}

async function modelsAt(step: FitStep, id: string, query: Located, version: LakeVersion) {
  const attributes = [...fitSteps[step], "inventory_type"] as const;
  const isDealer: Filter = { kind: "anyOf", attribute: "dealer_id", values: [id] };
  const [own, others] = await Promise.all([
    salesBy(attributes, [isDealer], version),
    salesBy(attributes, [within(query), { kind: "not", filter: isDealer }], version),
  ]);
  const markets = new Map(others.map((group) => [keyOf(group), group]));
  const ranked = own.flatMap((group) => {
    const market = markets.get(keyOf(group));
    const speed = relativeSpeed(group, market);
    if (speed === undefined || market === undefined) return [];
    const [make = "", second = "", inventory_type = ""] = group.values;
    const [model, body_type] = step === "model" ? [second, null] : [null, second];
    const compared = { market_sales: market.sales, market_median_days: market.medianDays };
    return [{ make, model, body_type, inventory_type, ...speed, ...compared }];
  });
  return { step, ranked: ranked.sort(bySpeed), insufficient: own.length - ranked.length };
}

const keyOf = ({ values }: SalesGroup): string => values.join("\n").toLowerCase();

/** Returns the result of the first step that ranks something, or of the last one. */
async function firstStep<Result extends Ranking>(resultAt: (step: FitStep) => Promise<Result>): Promise<Result> {
  const byModel = await resultAt("model");
  return byModel.ranked.length > 0 ? byModel : resultAt("make_and_body");
}

/** Returns the origin of a request, by default the place of a dealer. Refuses a request without one if the dealer has no coordinates. */
function originOfFit(query: FitQuery, { latitude, longitude }: Row): Point {
  const requested = originOf(query);
  if (requested !== undefined) return requested;
  const isLocated = typeof latitude === "number" && typeof longitude === "number";
  return isLocated ? { latitude, longitude } : requireOrigin(query, "radius");
}

const formula =
  "expected_days = (sales * median_days + pull * market_median_days) / (sales + pull); relative = expected_days / market_median_days";

/** Returns schema `FitMeta`. */
function metaOf({ ranked, insufficient }: Ranking, query: Located, version: LakeVersion): DealersAnswer["meta"] {
  const { origin, radius, limit } = query;
  const { soldDays, dealerSalesMin, marketSalesMin, pull } = fitRules;
  const from = plusDays(version.manifest.as_of, 1 - soldDays);
  const [firstDay = from] = version.snapshotSizes.keys();
  return {
    radius,
    limit,
    total: ranked.length,
    truncated: ranked.length > limit,
    origin: { latitude: origin.latitude, longitude: origin.longitude },
    insufficient_sample: insufficient,
    sold_days: soldDays,
    sold_from: [from, firstDay].sort().at(-1) ?? from,
    minimum_dealer_sales: dealerSalesMin,
    minimum_market_sales: marketSalesMin,
    pull,
    formula,
    ...version.meta,
  };
}

/** The numbers of fit; answers repeat them. */
export const fitRules = {
  /** Sales that became known in this many days count, the published day included. */
  soldDays: 180,
  dealerSalesMin: 3,
  marketSalesMin: metricListingsMin,
  pull: 5,
} as const;

/** What sales are compared by, besides the inventory type: the first step with enough sales decides. */
export const fitSteps = { model: ["make", "model"], make_and_body: ["make", "body_type"] } as const;
export type FitStep = keyof typeof fitSteps;
export const fitStepNames = Object.keys(fitSteps) as readonly FitStep[];

/** Sales with the same values of some attributes. */
interface SalesGroup {
  readonly values: readonly string[];
  readonly sales: number;
  readonly medianDays: number;
}

/** More than there are groups of any market. */
const groupsMax = 1_000_000;

/** Returns the groups of known values of the matching sales in the window. */
async function salesBy(
  attributes: readonly CountedName[],
  filters: readonly Filter[],
  version: LakeVersion,
): Promise<readonly SalesGroup[]> {
  const day = plusDays(version.manifest.as_of, -fitRules.soldDays);
  const { groups } = await version.soldSince(day).measureGroups({
    filters: [{ kind: "soldAfter", day }, ...filters],
    attributes,
    metrics: [{ measure: "days_on_market", aggregate: "median" }],
    sampleMin: 1,
    supplyDay: undefined,
    limit: groupsMax,
    sort: "-count",
  });
  return groups.flatMap(({ values, metrics: [metric] }) => {
    const known = values.filter((value) => value !== null);
    const medianDays = metric?.value ?? null;
    return medianDays === null || known.length < values.length
      ? []
      : [{ values: known, sales: metric?.sample ?? 0, medianDays }];
  });
}

/** How fast a dealer sells, beside a market: part of schemas `FittingDealer` and `FittingModel`. */
interface RelativeSpeed {
  readonly sales: number;
  readonly median_days: number;
  readonly expected_days: number;
  readonly relative: number | null;
}

/** Returns the speed of a dealer; undefined if it or the market has too few sales. */
function relativeSpeed(dealer: SalesGroup, market: SalesGroup | undefined): RelativeSpeed | undefined {
  const { dealerSalesMin, marketSalesMin, pull } = fitRules;
  if (market === undefined || market.sales < marketSalesMin || dealer.sales < dealerSalesMin) return undefined;
  const { sales, medianDays } = dealer;
  const expected = (sales * medianDays + pull * market.medianDays) / (sales + pull);
  return {
    sales,
    median_days: medianDays,
    expected_days: Math.round(10 * expected) / 10,
    relative: market.medianDays === 0 ? null : Math.round((1000 * expected) / market.medianDays) / 1000,
  };
}

/** Orders the fastest first, of equally fast ones those with the most sales. */
const bySpeed = (a: RelativeSpeed, b: RelativeSpeed): number =>
  (a.relative ?? Number.MAX_VALUE) - (b.relative ?? Number.MAX_VALUE) ||
  a.expected_days - b.expected_days ||
  b.sales - a.sales;

/** Returns filters for the values of categories; undefined if one is unknown. */
export function filtersFor(
  names: readonly FittedName[],
  values: Readonly<Record<string, Json>>,
): readonly Filter[] | undefined {
  const filters = names.flatMap((attribute): Filter[] => {
    const value = values[attribute];
    return typeof value === "string" ? [{ kind: "anyOf", attribute, values: [value] }] : [];
  });
  return filters.length === names.length ? filters : undefined;
}

type FittedName = "make" | "model" | "body_type" | "inventory_type";
