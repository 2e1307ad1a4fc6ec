/** The requests of the mixed load. Many have a bound that changes with each request and no answer, so that the response cache misses. */
import { isObject } from "../../../../src/base/json.ts";
import type { LakeVersion } from "../../../../src/serving/lake-version.ts";
import { Chance } from "../../chance.ts";
import { answerPath } from "../../versions.ts";
import { expensiveRequests } from "../fairness.ts";
import { placeholder } from "./nonce.ts";

export interface RequestForm {
  /** The cost of the request for the service. */
  readonly weight: "light" | "medium" | "worst";
  /** A path with a placeholder for the nonce, or without. */
  readonly path: string;
  /** Sent as JSON by POST. */
  readonly body?: object;
}

export interface RequestFormOptions {
  /** Number of listings that requests look up. */
  readonly lookedUp: number;
  /** A past day with a snapshot. */
  readonly pastDay: string;
  /** The oldest version, which is kept. */
  readonly since: string;
  readonly seed: number;
}

const sorts = ["days_on_market", "-listed_at", "price", "-miles", "msrp", "discount"];
const facets = ["make", "body_type", "year", "state", "price", "features"];

const asText = (value: unknown): string => encodeURIComponent(String(value ?? ""));

/** Reads listings of a version at a random position. */
async function drawListings(
  version: LakeVersion,
  lookedUp: number,
  chance: Chance,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const page = async (offset: number): Promise<readonly unknown[]> => {
    const body = await answerPath(version, `/v1/listings?limit=${lookedUp}&offset=${offset}`);
    return isObject(body) && Array.isArray(body.data) ? body.data : [];
  };
  const body = await answerPath(version, "/v1/listings?limit=1");
  const total = isObject(body) && isObject(body.pagination) ? Number(body.pagination.total) : 0;
  return (await page(chance.integer(0, Math.max(0, total - lookedUp)))).filter(isObject);
}

/** Returns the forms for a version: look-ups and pages of its listings, facets, and the worst requests. */
export async function requestForms(
  version: LakeVersion,
  { lookedUp, pastDay, since, seed }: RequestFormOptions,
): Promise<readonly RequestForm[]> {
  const chance = new Chance(seed);
  const listings = await drawListings(version, lookedUp, chance);
  const light = listings.flatMap(({ id, vin, dealer_id }) => [
    `/v1/vins/${asText(vin)}`,
    `/v1/vins/${asText(vin)}?include=price_history`,
    `/v1/listings/${asText(id)}`,
    `/v1/listings?limit=20&vin_pattern=${asText(vin)}&${placeholder}`,
    `/v1/dealers/${asText(dealer_id)}`,
    `/v1/dealers/${asText(dealer_id)}/listings?limit=20&${placeholder}`,
  ]);
  const medium = listings.flatMap(({ make, state, model, body_type }) => [
    `/v1/listings?limit=20&make=${asText(make)}&sort=${chance.pick(sorts)}&${placeholder}`,
    `/v1/listings?limit=50&state=${asText(state)}&sort=${chance.pick(sorts)}&offset=${chance.integer(0, 100)}`,
    `/v1/listings?limit=20&make=${asText(make)}&snapshot_date=${pastDay}&${placeholder}`,
    `/v1/facets?facets=${chance.pick(facets)},model&make=${asText(make)}&${placeholder}`,
    `/v1/facets?facets=${chance.pick(facets)}&model=${asText(model)}&metric=price.median`,
    `/v1/facets?facets=${chance.pick(facets)}&body_type=${asText(body_type)}&inventory_status=sold`,
    `/v1/dealers?limit=20&state=${asText(state)}`,
  ]);
  const forms = (weight: RequestForm["weight"], paths: readonly string[]): readonly RequestForm[] =>
    [...new Set(paths)].map((path) => ({ weight, path }));
  return [
    ...forms("light", light),
    ...forms("medium", medium),
    ...forms("worst", expensiveRequests(pastDay, placeholder)),
    ...forms("worst", [
      `/v1/changes?since=${since}&limit=1000&${placeholder}`,
      `/v1/changes?since=${since}&limit=1000&fields=id&${placeholder}`,
    ]),
  ];
}
