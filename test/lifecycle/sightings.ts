/** Sightings in a day's feeds, by dealer and VIN. */
import type { FeedRow, Feeds } from "../support/lakes/feeds.ts";

/** A car in a dealer's feed of a day. */
export interface Sighting {
  readonly vin: string;
  readonly dealer: string;
  /** `YYYY-MM-DD hh:mm:ss` in UTC; before the day of the delivery only on the first day of a lake. */
  readonly observedAt: string;
  readonly price: number | null;
  readonly miles: number | null;
  readonly make: string;
  readonly isNew: boolean;
  readonly hasPhotos: boolean;
}

/** Returns the sightings of each dealer that delivered, by VIN; empty for an explicitly empty delivery. */
export function sightingsOf(
  day: string,
  feeds: Feeds,
  isFirstDay: boolean,
): ReadonlyMap<string, ReadonlyMap<string, Sighting>> {
  const delivered = new Map<string, Map<string, Sighting>>();
  const feedOf = (dealer: string): Map<string, Sighting> => {
    const cars = delivered.get(dealer) ?? new Map<string, Sighting>();
    delivered.set(dealer, cars);
    return cars;
  };
  for (const row of feeds.deliveries ?? []) feedOf(cellText(row, "dealer_id"));
  for (const row of feeds.inventory ?? []) {
    const sighting = sightingOf(day, row, isFirstDay);
    feedOf(sighting.dealer).set(sighting.vin, sighting);
  }
  return delivered;
}

function sightingOf(day: string, row: FeedRow, isFirstDay: boolean): Sighting {
  const observed = cellText(row, "observed_at");
  return {
    vin: cellText(row, "vin").trim().toUpperCase(),
    dealer: cellText(row, "dealer_id"),
    observedAt: observed === "" ? midnightOf(day) : observedOn(day, timestampOf(observed), isFirstDay),
    price: Number(cellText(row, "price")) || null,
    miles: cellText(row, "miles") === "" ? null : Number(cellText(row, "miles")),
    make: cellText(row, "make"),
    isNew: row.inventory_type === "new",
    hasPhotos: cellText(row, "photo_urls") !== "",
  };
}

export const cellText = (row: FeedRow, column: string): string => String(row[column] ?? "");

export const midnightOf = (day: string): string => `${day} 00:00:00`;

/** A time with a zone as a UTC timestamp. */
const timestampOf = (time: string): string => new Date(time).toISOString().slice(0, 19).replace("T", " ");

/** Moves a time to the day of its delivery. On the first day of a lake, earlier times remain. */
function observedOn(day: string, time: string, isFirstDay: boolean): string {
  const timesDay = time.slice(0, 10);
  if (timesDay > day) return `${day} 23:59:59`;
  return timesDay < day && !isFirstDay ? midnightOf(day) : time;
}

/** Returns the number of days between two days; negative if `to` is earlier. */
export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000;
