/**
 * The life of listings, told day by day over plain objects: slow, obvious, and without the product.
 *
 * What a lake holds after the same feeds must be what is told here.
 */
import { plusDays } from "../../src/base/day.ts";
import type { Feeds } from "../support/lakes/feeds.ts";
import { type Judged, judge, type Remembered, type Verdict } from "./believed.ts";
import { type Claim, ownersClaim } from "./owner.ts";
import { daysBetween, midnightOf, type Sighting, sightingsOf, textOf } from "./sightings.ts";

const silentAfterDays = 7;
const endedAfterDays = 90;
const soldAfter = { daysAbsent: 3, feedsWithout: 3, daysSeen: 2 };

export interface PriceChange {
  readonly changed_at: string;
  readonly miles: number | null;
  readonly price_before: number;
  readonly price: number;
}

/** A car at its owner; each has a number of its own, from its first day to its last. */
export interface Listing {
  readonly spell: number;
  readonly vin: string;
  readonly dealer: string;
  readonly listedAt: string;
  readonly price: number | null;
  /** Its price, or the last one that was known. */
  readonly lastKnownPrice: number | null;
  readonly miles: number | null;
  readonly daysOnMarket: number;
  readonly daysSeen: number;
  readonly lastSeen: string;
  readonly priceHistory: readonly PriceChange[];
  readonly missingSince: string | null;
  /** Accepted feeds of its dealer without it since it was last in one. */
  readonly feedsWithout: number;
  readonly soldDate: string | null;
}

/** How a day ends. */
export interface Told {
  readonly day: string;
  readonly verdicts: ReadonlyMap<string, { readonly verdict: Verdict; readonly size: number }>;
  readonly remembered: ReadonlyMap<string, Remembered>;
  readonly claims: readonly (Claim & { readonly isOwner: boolean })[];
  readonly active: readonly Listing[];
  readonly missing: readonly Listing[];
  /** Sold and ended on this day. */
  readonly sold: readonly Listing[];
  readonly ended: readonly Listing[];
}

/** A market that is told what comes in, day after day. */
export class Oracle {
  #spells = 0;
  readonly #makes = new Map<string, readonly string[]>();
  readonly #remembered = new Map<string, Remembered>();
  #claims: ReadonlyMap<string, Claim> = new Map();
  /** Active and missing listings by VIN. */
  #listings: ReadonlyMap<string, Listing> = new Map();

  /** A day for which there is a folder; days without one are left out. */
  tell(day: string, feeds: Feeds): Told {
    for (const row of feeds.dealers ?? []) {
      this.#makes.set(textOf(row, "dealer_id"), textOf(row, "makes").split("|"));
    }
    const delivered = sightingsOf(day, feeds);
    const judged = new Map<string, Judged>();
    for (const [dealer, cars] of delivered) judged.set(dealer, judge(day, cars.size, this.#remembered.get(dealer)));
    for (const [dealer, { remembered }] of judged) this.#remembered.set(dealer, remembered);

    const isAccepted = (dealer: string): boolean => judged.get(dealer)?.verdict === "accepted";
    const claims = new Map<string, Claim>();
    for (const cars of delivered.values()) {
      for (const sighting of cars.values()) claims.set(keyOf(sighting), this.#claimOf(day, sighting));
    }
    for (const [key, claim] of this.#claims) {
      const { dealer } = claim.sighting;
      if (!claims.has(key) && !isAccepted(dealer) && !this.#isSilent(dealer, day)) claims.set(key, claim);
    }

    const owners = new Map<string, Claim>();
    for (const [vin, claimants] of byVin(claims.values())) {
      const currentOwner = this.#listings.get(vin)?.dealer;
      const makesOf = (dealer: string): readonly string[] => this.#makes.get(dealer) ?? [];
      owners.set(vin, ownersClaim(claimants, { currentOwner, makesOf }));
    }
    const active = [...owners.values()].map((claim) => this.#activeListing(day, claim));
    const [missing, sold, ended]: [Listing[], Listing[], Listing[]] = [[], [], []];
    for (const listing of this.#listings.values()) {
      const owner = owners.get(listing.vin)?.sighting.dealer;
      if (owner === listing.dealer) continue;
      if (owner !== undefined) ended.push(listing);
      else {
        const absent = absentListing(day, listing, isAccepted(listing.dealer));
        if (isSold(day, absent)) sold.push(soldListing(absent));
        else if (daysBetween(absent.missingSince ?? day, day) >= endedAfterDays) ended.push(absent);
        else missing.push(absent);
      }
    }

    this.#claims = claims;
    this.#listings = new Map([...active, ...missing].map((listing) => [listing.vin, listing]));
    return {
      day,
      verdicts: new Map(
        [...judged].map(([dealer, { verdict }]) => [dealer, { verdict, size: sizeOf(delivered, dealer) }]),
      ),
      remembered: new Map(this.#remembered),
      claims: [...claims.values()].map((claim) => ({ ...claim, isOwner: owners.get(claim.sighting.vin) === claim })),
      ...{ active, missing, sold, ended },
    };
  }

  /** The claim that a car in today's feed makes: it goes on from yesterday's, or from a missing listing's days. */
  #claimOf(day: string, sighting: Sighting): Claim {
    const before = this.#claims.get(keyOf(sighting));
    const listing = this.#listings.get(sighting.vin);
    const listingsDays = listing?.dealer === sighting.dealer ? listing.daysSeen : 0;
    return {
      sighting,
      since: before?.since ?? day,
      lastSeen: day,
      daysSeen: (before?.daysSeen ?? listingsDays) + 1,
    };
  }

  #isSilent(dealer: string, day: string): boolean {
    const last = this.#remembered.get(dealer)?.lastDelivery;
    return last === undefined || daysBetween(last, day) >= silentAfterDays;
  }

  /** The owner's listing: the same as the day before when the dealer is, else a new one. */
  #activeListing(day: string, { sighting, lastSeen, daysSeen }: Claim): Listing {
    const { vin, dealer, price, miles } = sighting;
    const known = this.#listings.get(vin);
    const before = known?.dealer === dealer ? known : undefined;
    const isInFeed = lastSeen === day;
    if (before === undefined) this.#spells += 1;
    const listedAt = before?.listedAt ?? (isInFeed ? sighting.observedAt : midnightOf(day));
    return {
      ...{ spell: before?.spell ?? this.#spells, vin, dealer, listedAt, price, miles, daysSeen, lastSeen },
      lastKnownPrice: price ?? before?.lastKnownPrice ?? null,
      daysOnMarket: Math.max(0, daysBetween(listedAt.slice(0, 10), day)),
      priceHistory: [...(before?.priceHistory ?? []), ...(isInFeed ? priceChanges(before, sighting) : [])],
      ...{ missingSince: null, feedsWithout: 0, soldDate: null },
    };
  }
}

const keyOf = ({ vin, dealer }: Sighting): string => `${vin} ${dealer}`;

function byVin(claims: Iterable<Claim>): ReadonlyMap<string, readonly Claim[]> {
  const claimants = new Map<string, Claim[]>();
  for (const claim of claims) claimants.set(claim.sighting.vin, [...(claimants.get(claim.sighting.vin) ?? []), claim]);
  return claimants;
}

const sizeOf = (delivered: ReadonlyMap<string, ReadonlyMap<string, Sighting>>, dealer: string): number =>
  delivered.get(dealer)?.size ?? 0;

/** One change when the price is known and differs from the last known one, else none. */
function priceChanges(before: Listing | undefined, { price, miles, observedAt }: Sighting): readonly PriceChange[] {
  const priceBefore = before?.lastKnownPrice ?? null;
  if (priceBefore === null || price === null || priceBefore === price) return [];
  return [{ changed_at: observedAt, miles, price_before: priceBefore, price }];
}

/** A listing that nobody claims on a day. */
function absentListing(day: string, listing: Listing, isDealersFeedAccepted: boolean): Listing {
  const feedsWithout = listing.feedsWithout + Number(isDealersFeedAccepted);
  return { ...listing, missingSince: listing.missingSince ?? day, feedsWithout };
}

const isSold = (day: string, { lastSeen, feedsWithout, daysSeen }: Listing): boolean =>
  daysBetween(lastSeen, day) >= soldAfter.daysAbsent &&
  feedsWithout >= soldAfter.feedsWithout &&
  daysSeen >= soldAfter.daysSeen;

function soldListing(listing: Listing): Listing {
  const soldDate = plusDays(listing.lastSeen, 1);
  return { ...listing, soldDate, daysOnMarket: Math.max(0, daysBetween(listing.listedAt.slice(0, 10), soldDate)) };
}
