/** Attribution rules of the oracle: which of the claiming dealers owns a car. */
import type { Sighting } from "./sightings.ts";

/** A dealer's claim: its last sighting of the car, and its first day. */
export interface OracleClaim {
  readonly sighting: Sighting;
  /** First day of the uninterrupted claim. */
  readonly since: string;
  /** Last day on which the dealer's feed had the car. */
  readonly lastSeen: string;
  /** Number of days on which the dealer's feed had the car. */
  readonly daysSeen: number;
}

/** Context of the rules besides the claims. */
export interface AttributionContext {
  /** Dealer of the listing that was active or missing on the day before. */
  readonly currentOwner: string | undefined;
  readonly makesOf: (dealer: string) => readonly string[];
}

/** Returns the owner's claim: each rule keeps the claims that satisfy it, if any do. */
export function ownersClaim(
  claims: readonly OracleClaim[],
  { currentOwner, makesOf }: AttributionContext,
): OracleClaim {
  const rules: readonly ((claim: OracleClaim) => boolean)[] = [
    ({ sighting }) => sighting.dealer === currentOwner,
    ({ sighting }) => sighting.isNew && makesOf(sighting.dealer).includes(sighting.make),
    ({ sighting }) => sighting.price !== null,
    ({ sighting }) => sighting.hasPhotos,
  ];
  let candidates = claims;
  for (const rule of rules) {
    const satisfying = candidates.filter(rule);
    if (satisfying.length > 0) candidates = satisfying;
  }
  const [first] = [...candidates].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  if (first === undefined) throw new RangeError("Expected at least one claim.");
  return first;
}

/** Sorts by the start of the claim, then by dealer id. */
const sortKey = ({ since, sighting }: OracleClaim): string => `${since} ${sighting.dealer}`;
