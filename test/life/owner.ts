/** Which of the dealers that claim a car owns it. */
import type { Sighting } from "./sightings.ts";

/** A dealer's claim to a car: what it last said of it, and since when it has said so. */
export interface Claim {
  readonly sighting: Sighting;
  /** First day of the unbroken claim. */
  readonly since: string;
  /** The last day on which the dealer's feed contained the car. */
  readonly lastSeen: string;
  /** Days on which the dealer's feed contained the car. */
  readonly daysSeen: number;
}

/** What the rules ask of the world beside the claims. */
export interface Circumstances {
  /** The dealer of the listing that was active or missing the day before. */
  readonly currentOwner: string | undefined;
  readonly makesOf: (dealer: string) => readonly string[];
}

/** The owner's claim: each rule in turn keeps those that satisfy it best, until one is left. */
export function ownersClaim(claims: readonly Claim[], { currentOwner, makesOf }: Circumstances): Claim {
  const rules: readonly ((claim: Claim) => boolean)[] = [
    ({ sighting }) => sighting.dealer === currentOwner,
    ({ sighting }) => sighting.isNew && makesOf(sighting.dealer).includes(sighting.make),
    ({ sighting }) => sighting.price !== null,
    ({ sighting }) => sighting.hasPhotos,
  ];
  let left = claims;
  for (const rule of rules) {
    const satisfying = left.filter(rule);
    if (satisfying.length > 0) left = satisfying;
  }
  const [first] = [...left].sort((one, other) => (order(one) < order(other) ? -1 : 1));
  if (first === undefined) throw new RangeError("Nobody claims the car.");
  return first;
}

/** The earliest claim comes first, then the lowest dealer id. */
const order = ({ since, sighting }: Claim): string => `${since} ${sighting.dealer}`;
