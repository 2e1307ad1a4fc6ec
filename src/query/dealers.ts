/** Dealers: search over the directory of a version, which is in memory, and the look-up of one dealer. */
import type { Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import { matchKeyOf, wordsOf } from "../db/text-matching.ts";
import type { DealerProfile } from "../serving/dealer-directory.ts";
import type { LakeVersion } from "../serving/lake-version.ts";

export type DealerQuery = QueryOf<"searchDealers">;

type Predicate = (dealer: DealerProfile) => boolean;

/** Tests whether a column equals one of some values, case-insensitively. */
function hasOneOf(column: "state" | "country" | "type", values: readonly string[]): Predicate {
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  return ({ folded: { [column]: value } }) => wanted.has(value);
}

/** The predicate of each filter parameter, for its value. */
const predicates: {
  readonly [P in Exclude<keyof DealerQuery, "format" | "csv_raw" | "data_version" | "limit" | "offset">]-?: (
    value: NonNullable<DealerQuery[P]>,
  ) => Predicate;
} = {
  dealer_id: (ids) => {
    const wanted = new Set(ids.map((id) => id.toLowerCase()));
    return ({ id }) => wanted.has(id);
  },
  state: (states) => hasOneOf("state", states),
  country: (countries) => hasOneOf("country", countries),
  type: (types) => hasOneOf("type", types),
  make: (makes) => {
    const wanted = new Set(makes.map(matchKeyOf));
    return ({ makeKeys }) => makeKeys.some((key) => wanted.has(key));
  },
  q: (text) => {
    const wanted = wordsOf(text.replace(/^\s*(https?:\/\/)?(www\.)?/i, "")).map((word) => ` ${word}`);
    return ({ words }) => wanted.length > 0 && wanted.every((word) => words.includes(word));
  },
};

/** Searches dealers: the total and the page, rows of schema `Dealer`. */
export function findDealers(query: DealerQuery, { dealers }: LakeVersion): { total: number; page: readonly Row[] } {
  const tests = Object.entries(predicates).flatMap(([parameter, predicate]) => {
    const value: unknown = query[parameter as keyof typeof predicates];
    return value === undefined ? [] : [(predicate as (value: unknown) => Predicate)(value)];
  });
  const found = dealers.dealers.filter((dealer) => tests.every((test) => test(dealer)));
  const page = found.slice(query.offset, query.offset + query.limit).map(({ profile }) => profile);
  return { total: found.length, page };
}

/** Returns a dealer as schema `DealerDetail`. Refuses an unknown or malformed id with `not_found`. */
export function findDealer(id: string, { dealers }: LakeVersion): Row {
  const dealer = dealers.find(id);
  if (dealer === undefined) throw refuse("not_found", { what: "dealer", id });
  return { ...dealer.profile, phone: dealer.phone, address: dealer.address };
}
