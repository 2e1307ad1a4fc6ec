/**
 * Oracle of the listing lifecycle: computes each day's listings from the feeds in plain objects, independently of the
 * product. A lake of the same feeds must hold the same.
 */
import { plusDays } from "../../src/base/day.ts";
import type { Feeds } from "../support/lakes/feeds.ts";
import { type OracleClaim, ownersClaim } from "./attribution.ts";
import { type DayVerdict, type DealerHistory, type FeedVerdict, judgeFeed } from "./feed-verdict.ts";
import { cellText, daysBetween, midnightOf, type Sighting, sightingsOf } from "./sightings.ts";

const silentAfterDays = 7;
const endedAfterDays = 90;
const soldAfter = { daysAbsent: 3, feedsWithout: 3, daysSeen: 2 };

export interface PriceChange {
  readonly changed_at: string;
  readonly miles: number | null;
  readonly price_before: number;
  readonly price: number;
}

/** A listing period: one car at one owner, numbered by `periodId`. */
export interface OracleListing {
  readonly periodId: number;
  readonly vin: string;
  readonly dealer: string;
  readonly listedAt: string;
  readonly price: number | null;
  /** The price, or the last known one. */
  readonly lastKnownPrice: number | null;
  readonly miles: number | null;
  readonly daysOnMarket: number;
  readonly daysSeen: number;
  readonly lastSeen: string;
  readonly priceHistory: readonly PriceChange[];
  readonly missingSince: string | null;
  /** Accepted feeds of its dealer without it since its last sighting. */
  readonly feedsWithout: number;
  readonly soldDate: string | null;
  /** The day on which the sale became known. */
  readonly soldOnRecord: string | null;
}

/** The state at the end of a day. */
export interface OracleDay {
  readonly day: string;
  readonly verdicts: ReadonlyMap<string, { readonly verdict: FeedVerdict; readonly size: number }>;
  readonly history: ReadonlyMap<string, DealerHistory>;
  readonly claims: readonly (OracleClaim & { readonly isOwner: boolean })[];
  readonly active: readonly OracleListing[];
  readonly missing: readonly OracleListing[];
  /** Listings that were sold or ended on this day. */
  readonly sold: readonly OracleListing[];
  readonly ended: readonly OracleListing[];
}

/** Computes day after day from the feeds. */
export class LifecycleOracle {
  #isFirstDay = true;
  #periods = 0;
  readonly #makes = new Map<string, readonly string[]>();
  readonly #history = new Map<string, DealerHistory>();
  #claims: ReadonlyMap<string, OracleClaim> = new Map();
  /** Active and missing listings by VIN. */
  #listings: ReadonlyMap<string, OracleListing> = new Map();

  /** Advances to a day with a folder, and returns its state; days without a folder are skipped. */
  advance(day: string, feeds: Feeds): OracleDay {
    for (const row of feeds.dealers ?? []) {
      this.#makes.set(cellText(row, "dealer_id"), cellText(row, "makes").split("|"));
    }
    const delivered = sightingsOf(day, feeds, this.#isFirstDay);
    this.#isFirstDay = false;
    const judged = new Map<string, DayVerdict>();
    for (const [dealer, cars] of delivered) judged.set(dealer, judgeFeed(day, cars.size, this.#history.get(dealer)));
    for (const [dealer, { history }] of judged) this.#history.set(dealer, history);

    const isAccepted = (dealer: string): boolean => judged.get(dealer)?.verdict === "accepted";
    const claims = this.#claimsOn(day, delivered, isAccepted);
    const owners = this.#ownersOf(claims);
    const active = [...owners.values()].map((claim) => this.#activeListing(day, claim));
    const inactive = this.#inactiveListings(day, owners, isAccepted);
    this.#claims = claims;
    this.#listings = new Map([...active, ...inactive.missing].map((listing) => [listing.vin, listing]));
    return {
      day,
      verdicts: new Map(
        [...judged].map(([dealer, { verdict }]) => [dealer, { verdict, size: delivered.get(dealer)?.size ?? 0 }]),
      ),
      history: new Map(this.#history),
      claims: [...claims.values()].map((claim) => ({ ...claim, isOwner: owners.get(claim.sighting.vin) === claim })),
      active,
      ...inactive,
    };
  }

  /** Today's claims: of today's feeds, and earlier ones whose dealer neither dropped the car nor fell silent. */
  #claimsOn(
    day: string,
    delivered: ReadonlyMap<string, ReadonlyMap<string, Sighting>>,
    isAccepted: (dealer: string) => boolean,
  ): ReadonlyMap<string, OracleClaim> {
    const claims = new Map<string, OracleClaim>();
    for (const cars of delivered.values()) {
      for (const sighting of cars.values()) claims.set(keyOf(sighting), this.#claimOf(day, sighting));
    }
    for (const [key, claim] of this.#claims) {
      const { dealer } = claim.sighting;
      if (!claims.has(key) && !isAccepted(dealer) && !this.#isSilent(dealer, day)) claims.set(key, claim);
    }
    return claims;
  }

  /** The claims that won, by VIN. */
  #ownersOf(claims: ReadonlyMap<string, OracleClaim>): ReadonlyMap<string, OracleClaim> {
    const owners = new Map<string, OracleClaim>();
    for (const [vin, claimants] of byVin(claims.values())) {
      const currentOwner = this.#listings.get(vin)?.dealer;
      const makesOf = (dealer: string): readonly string[] => this.#makes.get(dealer) ?? [];
      owners.set(vin, ownersClaim(claimants, { currentOwner, makesOf }));
    }
    return owners;
  }

  /** Yesterday's listings that are not active today: missing, sold, or ended by time or by another owner. */
  #inactiveListings(
    day: string,
    owners: ReadonlyMap<string, OracleClaim>,
    isAccepted: (dealer: string) => boolean,
  ): Pick<OracleDay, "missing" | "sold" | "ended"> {
    const missing: OracleListing[] = [];
    const sold: OracleListing[] = [];
    const ended: OracleListing[] = [];
    for (const listing of this.#listings.values()) {
      const owner = owners.get(listing.vin)?.sighting.dealer;
      if (owner === listing.dealer) continue;
      if (owner !== undefined) {
        ended.push(listing);
        continue;
      }
      const absent = absentListing(day, listing, isAccepted(listing.dealer));
      if (isSold(day, absent)) sold.push(soldListing(day, absent));
      else if (daysBetween(absent.missingSince ?? day, day) >= endedAfterDays) ended.push(absent);
      else missing.push(absent);
    }
    return { missing, sold, ended };
  }

  /** The claim of a car in today's feed: continues yesterday's claim, or counts on from a missing listing. */
  #claimOf(day: string, sighting: Sighting): OracleClaim {
    const before = this.#claims.get(keyOf(sighting));
    const listing = this.#listings.get(sighting.vin);
    // A first sighting that is older than its delivery counts as a separate day.
    const olderDays = sighting.observedAt.slice(0, 10) < day ? 1 : 0;
    const listingsDays = listing?.dealer === sighting.dealer ? listing.daysSeen : olderDays;
    return {
      sighting,
      since: before?.since ?? day,
      lastSeen: day,
      daysSeen: (before?.daysSeen ?? listingsDays) + 1,
    };
  }

  #isSilent(dealer: string, day: string): boolean {
    const last = this.#history.get(dealer)?.lastDelivery;
    return last === undefined || daysBetween(last, day) >= silentAfterDays;
  }

  /** The owner's listing: yesterday's if the dealer is the same, else a new period. */
  #activeListing(day: string, { sighting, lastSeen, daysSeen }: OracleClaim): OracleListing {
    const { vin, dealer, price, miles } = sighting;
    const known = this.#listings.get(vin);
    const before = known?.dealer === dealer ? known : undefined;
    const isInFeed = lastSeen === day;
    if (before === undefined) this.#periods += 1;
    const listedAt = before?.listedAt ?? (isInFeed ? sighting.observedAt : midnightOf(day));
    return {
      periodId: before?.periodId ?? this.#periods,
      vin,
      dealer,
      listedAt,
      price,
      miles,
      daysSeen,
      lastSeen,
      lastKnownPrice: price ?? before?.lastKnownPrice ?? null,
      daysOnMarket: Math.max(0, daysBetween(listedAt.slice(0, 10), day)),
      priceHistory: [...(before?.priceHistory ?? []), ...(isInFeed ? priceChanges(before, sighting) : [])],
      missingSince: null,
      feedsWithout: 0,
      soldDate: null,
      soldOnRecord: null,
    };
  }
}

const keyOf = ({ vin, dealer }: Sighting): string => `${vin} ${dealer}`;

function byVin(claims: Iterable<OracleClaim>): ReadonlyMap<string, readonly OracleClaim[]> {
  const claimants = new Map<string, OracleClaim[]>();
  for (const claim of claims) claimants.set(claim.sighting.vin, [...(claimants.get(claim.sighting.vin) ?? []), claim]);
  return claimants;
}

/** One change if the price is known and differs from the last known one, else none. */
function priceChanges(
  before: OracleListing | undefined,
  { price, miles, observedAt }: Sighting,
): readonly PriceChange[] {
  const priceBefore = before?.lastKnownPrice ?? null;
  if (priceBefore === null || price === null || priceBefore === price) return [];
  return [{ changed_at: observedAt, miles, price_before: priceBefore, price }];
}

/** A listing that no dealer claims today. */
function absentListing(day: string, listing: OracleListing, isDealersFeedAccepted: boolean): OracleListing {
  const feedsWithout = listing.feedsWithout + Number(isDealersFeedAccepted);
  return { ...listing, missingSince: listing.missingSince ?? day, feedsWithout };
}

const isSold = (day: string, { lastSeen, feedsWithout, daysSeen }: OracleListing): boolean =>
  daysBetween(lastSeen, day) >= soldAfter.daysAbsent &&
  feedsWithout >= soldAfter.feedsWithout &&
  daysSeen >= soldAfter.daysSeen;

function soldListing(day: string, listing: OracleListing): OracleListing {
  const soldDate = plusDays(listing.lastSeen, 1);
  const daysOnMarket = Math.max(0, daysBetween(listing.listedAt.slice(0, 10), soldDate));
  return { ...listing, soldDate, soldOnRecord: day, daysOnMarket };
}
