/** Whether a lake has kept what the oracle tells of the same feeds. */
import { isDeepStrictEqual } from "node:util";
import type { Json, Row } from "../../src/base/json.ts";
import { type Kept, keptIn, type Sheet } from "./kept.ts";
import type { Listing, Told } from "./oracle.ts";

/** The first differences, each with its day, its VIN and both sides; empty when the lake agrees. */
export async function differencesFrom(lake: string, told: readonly Told[]): Promise<readonly string[]> {
  const kept = await keptIn(lake);
  const comparison = new Comparison();
  const days = told.map(({ day }) => day);
  if (!isDeepStrictEqual(kept.days, days)) comparison.say(`kept the days ${kept.days}, told ${days}`);
  for (const repeated of kept.repeated) comparison.say(repeated);
  for (const one of told) {
    const { day } = one;
    comparison.sheet(day, "delivery", kept.deliveries(day), toldDeliveries(one), deliveryWords);
    comparison.sheet(day, "claim", kept.claims(day), toldClaims(one));
    comparison.sheet(day, "active", kept.active(day), toldListings(one.active), withoutId);
    comparison.sheet(day, "missing", kept.missing(day), toldListings(one.missing, true), withoutId);
    comparison.sheet(day, "contender", kept.contenders(day), toldContenders(one));
    comparison.ids(day, kept.active(day), one.active);
    comparison.ids(day, kept.missing(day), one.missing);
    comparison.oneState(day, kept.active(day), kept.missing(day));
  }
  comparison.endings("sold", kept.sold, told.flatMap(soldOn));
  comparison.endings("ended", kept.ended, told.flatMap(endedOn));
  return [...comparison.differences, ...unfoundedIn(kept, told)];
}

class Comparison {
  readonly differences: string[] = [];
  readonly #spellOf = new Map<string, number>();
  readonly #idOf = new Map<number, string>();

  say(difference: string): void {
    this.differences.push(difference);
  }

  sheet(day: string, what: string, kept: Sheet, told: Sheet, words: (row: Row) => Row = (row) => row): void {
    for (const key of new Set([...told.keys(), ...kept.keys()])) {
      const row = kept.get(key);
      this.#compare(`${day} ${key}: ${what}`, row && words(row), told.get(key));
    }
  }

  /** An id belongs to one spell, and a spell has one id. */
  ids(day: string, kept: Sheet, told: readonly Listing[]): void {
    for (const { vin, spell } of told) {
      const id = kept.get(vin)?.id;
      if (typeof id !== "string") continue;
      if ((this.#spellOf.get(id) ?? spell) !== spell) this.say(`${day} ${vin}: the id ${id} is of another listing`);
      const known = this.#idOf.get(spell) ?? id;
      if (known !== id) this.say(`${day} ${vin}: the id ${id}, and ${known} before, of the same listing`);
      this.#spellOf.set(id, spell);
      this.#idOf.set(spell, id);
    }
  }

  oneState(day: string, active: Sheet, missing: Sheet): void {
    for (const vin of active.keys()) if (missing.has(vin)) this.say(`${day} ${vin}: both active and missing`);
  }

  endings(what: string, kept: readonly Row[], told: readonly Ending[]): void {
    const rows = new Map<number | string, Row>();
    for (const row of kept) {
      const key = this.#spellOf.get(String(row.id)) ?? String(row.id);
      if (rows.has(key)) this.say(`${row.vin}: ${what} more than once as ${row.id}`);
      rows.set(key, row);
    }
    for (const { day, spell, row } of told) {
      this.#compare(`${day} ${row.vin}: ${what}`, withoutIdIn(rows.get(spell)), row);
      rows.delete(spell);
    }
    for (const row of rows.values()) this.#compare(`some day ${row.vin}: ${what}`, row, undefined);
  }

  #compare(place: string, kept: Row | undefined, told: Row | undefined): void {
    if (isDeepStrictEqual(kept, told)) return;
    const differing = Object.keys({ ...kept, ...told }).filter((key) => !isDeepStrictEqual(kept?.[key], told?.[key]));
    const isWhole = kept === undefined || told === undefined;
    const side = (row: Row | undefined): string =>
      row === undefined
        ? "none"
        : JSON.stringify(isWhole ? row : Object.fromEntries(differing.map((key) => [key, row[key]])));
    this.say(`${place}: kept ${side(kept)}, told ${side(told)}`);
  }
}

const withoutId = ({ id, ...row }: Row): Row => row;
const withoutIdIn = (row: Row | undefined): Row | undefined => row && withoutId(row);

/** A feed that is accepted as the new size is accepted; who did not deliver has no size. */
function deliveryWords({ vins, verdict, ...row }: Row): Row {
  if (verdict === "none") return { ...row, verdict };
  return { ...row, vins: vins ?? null, verdict: verdict === "resized" ? "accepted" : (verdict ?? null) };
}

function toldDeliveries({ verdicts, remembered }: Told): Sheet {
  return new Map(
    [...remembered].map(([dealer_id, { lastDelivery, sizes, collapsedInARow }]) => {
      const delivery = verdicts.get(dealer_id);
      const judged: Row = delivery ? { verdict: delivery.verdict, vins: delivery.size } : { verdict: "none" };
      const memory = { last_delivered_on: lastDelivery, accepted_vins: sizes, collapsed_in_a_row: collapsedInARow };
      return [dealer_id, { dealer_id, ...judged, ...memory }];
    }),
  );
}

function toldClaims({ claims }: Told): Sheet {
  return new Map(
    claims.map(({ sighting: { vin, dealer }, since, lastSeen, isOwner }) => [
      `${vin} ${dealer}`,
      { vin, dealer_id: dealer, claimed_since: since, sighted_on: lastSeen, is_owner: isOwner },
    ]),
  );
}

function toldContenders({ claims }: Told): Sheet {
  const contending = claims.filter(({ isOwner }) => !isOwner);
  return new Map(
    contending.map(({ sighting: { vin, dealer, price, miles }, daysSeen, lastSeen }) => [
      `${vin} ${dealer}`,
      { vin, dealer_id: dealer, price, miles, days_seen: daysSeen, last_seen: lastSeen },
    ]),
  );
}

function toldListings(listings: readonly Listing[], isMissing = false): Sheet {
  return new Map(
    listings.map((listing) => [
      listing.vin,
      {
        ...rowOf(listing),
        last_seen: listing.lastSeen,
        missing_since: listing.missingSince,
        ...(isMissing ? { feeds_without: listing.feedsWithout } : {}),
      },
    ]),
  );
}

function rowOf(listing: Listing): Row {
  return {
    vin: listing.vin,
    dealer_id: listing.dealer,
    listed_at: listing.listedAt,
    price: listing.price,
    miles: listing.miles,
    days_on_market: listing.daysOnMarket,
    days_seen: listing.daysSeen,
    price_history: listing.priceHistory.map((change): Json => ({ ...change })),
    sold_date: listing.soldDate,
  };
}

/** A listing that is sold or ended, and the day on which it came to that. */
interface Ending {
  readonly day: string;
  readonly spell: number;
  readonly row: Row;
}

/** The month of a sale is that of the day it is dated to. */
const soldOn = ({ day, sold }: Told): readonly Ending[] =>
  sold.map((one) => ({ day, spell: one.spell, row: { ...rowOf(one), month: one.soldDate?.slice(0, 7) ?? null } }));

const endedOn = ({ day, ended }: Told): readonly Ending[] =>
  ended.map((one) => ({ day, spell: one.spell, row: { ...rowOf(one), month: day.slice(0, 7) } }));

/** What became missing or sold without a feed that could say so, by the lake's own rows. */
function unfoundedIn(kept: Kept, told: readonly Told[]): readonly string[] {
  const unfounded: string[] = [];
  const soldIds = new Map(kept.sold.map((row) => [row.id, row]));
  let yesterday: ReadonlyMap<Json | undefined, Row> = new Map();
  let missingYesterday: ReadonlySet<Json | undefined> = new Set();
  for (const { day, verdicts, remembered } of told) {
    const missing = [...kept.missing(day).values()];
    const today = new Map([...kept.active(day).values(), ...missing].map((row) => [row.id, row]));
    const isAccepted = (row: Row): boolean => verdicts.get(String(row.dealer_id))?.verdict === "accepted";
    const lastDelivery = (row: Row): string => remembered.get(String(row.dealer_id))?.lastDelivery ?? "";
    const daysSince = (from: Json | undefined): number => (Date.parse(day) - Date.parse(String(from))) / 86_400_000;
    for (const row of missing) {
      const isFounded = missingYesterday.has(row.id) || isAccepted(row) || daysSince(lastDelivery(row)) >= 7;
      if (!isFounded) unfounded.push(`${day} ${row.vin}: missing without a feed of ${row.dealer_id} that was believed`);
    }
    for (const [id, row] of yesterday) {
      if (today.has(id) || !soldIds.has(String(id))) continue;
      if (!isAccepted(row))
        unfounded.push(`${day} ${row.vin}: sold without a feed of ${row.dealer_id} that was believed`);
      if (daysSince(row.last_seen) < 3) unfounded.push(`${day} ${row.vin}: sold, and seen on ${row.last_seen}`);
    }
    yesterday = today;
    missingYesterday = new Set(missing.map(({ id }) => id));
  }
  return unfounded;
}
