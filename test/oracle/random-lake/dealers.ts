/** Random dealers all over the United States, and on both sides of the antimeridian. */

import type { Chance } from "../../support/chance.ts";
import { dealerIdOf, type FeedRow } from "../../support/lakes/feeds.ts";

/** City, state, ZIP code, latitude and longitude. */
const cities = [
  ["Fremont", "CA", "94538", 37.5483, -121.9886],
  ["Los Angeles", "CA", "90012", 34.0614, -118.2385],
  ["Seattle", "WA", "98101", 47.6114, -122.3305],
  ["Denver", "CO", "80202", 39.7491, -104.9946],
  ["Dallas", "TX", "75201", 32.7904, -96.8044],
  ["Fort Worth", "TX", "76102", 32.7577, -97.3332],
  ["Chicago", "IL", "60601", 41.8858, -87.6181],
  ["Coeur d'Alene", "ID", "83814", 47.6777, -116.7805],
  ["Miami", "FL", "33130", 25.7672, -80.2036],
  ["Boston", "MA", "02108", 42.3576, -71.0684],
  ["New York", "NY", "10001", 40.7506, -73.9972],
  ["Anchorage", "AK", "99501", 61.2116, -149.8761],
  ["Utqiaġvik", "AK", "99723", 71.2906, -156.7886],
  ["Adak", "AK", "99546", 51.88, -176.6581],
  ["Attu Station", "AK", "99546", 52.9025, 172.9089],
  ["Honolulu", "HI", "96813", 21.3134, -157.8456],
  ["San Juan", "PR", "00901", 18.4655, -66.1057],
  ["Mayagüez", "PR", "00680", 18.2013, -67.1397],
  ["Hagåtña", "GU", "96910", 13.4443, 144.7937],
  ["Pago Pago", "AS", "96799", -14.2756, -170.702],
  ["East of the Line", "AK", "99546", 51.5, 180],
  ["West of the Line", "AK", "99546", 51.5, -180],
] as const;

/** A dealer with its initial attributes. */
export interface RandomDealer {
  /** Index of the day of its first feed. */
  readonly joins: number;
  readonly row: FeedRow;
}

/** Returns the dealers of the first day; two share a location, and some are in no radius. */
export function firstDealers(chance: Chance, makes: readonly string[]): readonly RandomDealer[] {
  const locatedDealers = [...cities, cities[4], cities[0]].map(([city, state, postal_code, latitude, longitude]) => ({
    city,
    state,
    postal_code,
    latitude,
    longitude,
  }));
  const incompleteLocations: readonly FeedRow[] = [
    { city: "Nowhere", state: "Texas" },
    { city: "Fremont", state: "ca", postal_code: "94538" },
    { latitude: 40.5, postal_code: "10001" },
    { longitude: -100 },
    {},
  ];
  return [...locatedDealers, ...incompleteLocations].map((place, index) => ({
    joins: 0,
    row: randomDealerRow(chance, makes, index + 1, place),
  }));
}

/** Returns dealers that join on later days, about one in three days, each with its own location or none. */
export function laterDealers(chance: Chance, makes: readonly string[], days: number): readonly RandomDealer[] {
  return Array.from({ length: days }, (_, joins) => joins).flatMap((joins) => {
    if (joins === 0 || !chance.happens(0.3)) return [];
    const [city, state, postal_code, latitude, longitude] = chance.pick(cities);
    const place = { city: `New ${city}`, state, postal_code };
    const point = { latitude: Number((latitude + chance.next() / 2).toFixed(5)), longitude };
    const location = chance.happens(0.8) ? { ...place, ...point } : place;
    return [{ joins, row: randomDealerRow(chance, makes, 1000 + joins, location) }];
  });
}

function randomDealerRow(chance: Chance, makes: readonly string[], number: number, place: FeedRow): FeedRow {
  return {
    dealer_id: dealerIdOf(number),
    name: randomDealerName(chance, number),
    type: chance.pick(["franchise", "independent", ""]),
    makes: chance.happens(0.6) ? chance.pick(makes) : "",
    ...place,
  };
}

/** Returns a dealer with another name or type, moved far, moved near, or without coordinates. */
export function changeDealer(chance: Chance, dealer: FeedRow): FeedRow {
  const [city, state, postal_code, latitude, longitude] = chance.pick(cities);
  const north = typeof dealer.latitude === "number" ? dealer.latitude : latitude;
  return chance.pick<() => FeedRow>([
    () => ({ ...dealer, name: randomDealerName(chance, chance.integer(100, 999)) }),
    () => ({ ...dealer, name: randomDealerName(chance, chance.integer(100, 999)) }),
    () => ({ ...dealer, type: chance.pick(["franchise", "independent", ""]) }),
    () => ({ ...dealer, city, state, postal_code, latitude, longitude }),
    () => ({ ...dealer, latitude: Number((north - chance.next() / 10).toFixed(5)) }),
    () => ({ ...dealer, city: 'Elsewhere, "Old Town"', latitude: "", longitude: "" }),
  ])();
}

const randomDealerName = (chance: Chance, number: number): string =>
  chance.pick([
    `Dealer ${number}`,
    `O'Malley & Sons ${number}`,
    `Autohaus Müller "${number}"`,
    `Cars, Cars, Cars ${number}`,
    `100% Électrique_ 🚗 0${number}`,
    `"${"Very ".repeat(30)}Long Name ${number}"`,
  ]);
