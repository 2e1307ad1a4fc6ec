/** How many people live about a ZIP code, as far as the populations of places tell. */

export interface City {
  readonly name: string;
  readonly state: string;
  readonly population: number;
  readonly latitude: number;
  readonly longitude: number;
}

interface Zip {
  readonly postalCode: string;
  readonly city: string;
  readonly state: string;
  readonly latitude: number;
  readonly longitude: number;
  /** Whether it is an area where people live, and not a post office box or one building. */
  readonly isArea: boolean;
}

/** How many people share a square mile of a city, to tell how far one reaches that gives no ZIP code its name. */
const peoplePerSquareMile = 3000;
const milesPerDegree = 69.1;
/** A name that occurs twice in a state is another place beyond this. */
const farMiles = 40;
const nearMiles = 15;

const keyOf = (name: string, state: string) =>
  `${name
    .toLowerCase()
    .replace(/^saint /, "st ")
    .replace(/^the /, "")
    .replace(/, d\.c\.$/, "")
    .replace(/[^a-z]/g, "")} ${state}`;

function miles(a: Zip, b: City): number {
  const north = (a.latitude - b.latitude) * milesPerDegree;
  const east = (a.longitude - b.longitude) * milesPerDegree * Math.cos((a.latitude / 180) * Math.PI);
  return Math.hypot(north, east);
}

function grouped<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * People by ZIP code: a place's population in equal parts over the areas that bear its name, else over those that it
 * reaches at a city's usual density, else to the nearest one. A ZIP code that no place reaches is absent.
 */
export function inhabit(zips: readonly Zip[], cities: readonly City[]): ReadonlyMap<string, number> {
  const areas = zips.filter(({ isArea }) => isArea);
  const byName = grouped(areas, ({ city, state }) => keyOf(city, state));
  const byState = grouped(areas, ({ state }) => state);
  const people = new Map<string, number>();
  for (const city of cities) {
    for (const { postalCode } of homes(city)) {
      people.set(postalCode, (people.get(postalCode) ?? 0) + city.population / homes(city).length);
    }
  }
  return new Map([...people].map(([postalCode, count]) => [postalCode, Math.round(count)]));

  function homes(city: City): readonly Zip[] {
    const named = (byName.get(keyOf(city.name, city.state)) ?? []).filter((zip) => miles(zip, city) < farMiles);
    if (named.length > 0) return named;
    const near = (byState.get(city.state) ?? [])
      .map((zip) => ({ zip, away: miles(zip, city) }))
      .filter(({ away }) => away < nearMiles)
      .sort((a, b) => a.away - b.away);
    const reach = Math.sqrt(city.population / peoplePerSquareMile / Math.PI);
    return near.filter(({ away }, rank) => rank === 0 || away < reach).map(({ zip }) => zip);
  }
}
