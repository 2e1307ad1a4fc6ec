/** Compares the rows of a lake with the oracle's days. */
import { isDeepStrictEqual } from "node:util";
import type { Json, Row } from "../../src/base/json.ts";
import { type LakeRows, type RowsByKey, readLakeRows } from "./lake-rows.ts";
import type { OracleDay, OracleListing } from "./oracle.ts";

/** Returns the first differences, each with its day, VIN and both sides; empty if the lake agrees. */
export async function differencesFrom(lake: string, expectedDays: readonly OracleDay[]): Promise<readonly string[]> {
  const lakeRows = await readLakeRows(lake);
  const comparison = new LakeComparison();
  const days = expectedDays.map(({ day }) => day);
  if (!isDeepStrictEqual(lakeRows.days, days)) comparison.add(`kept the days ${lakeRows.days}, told ${days}`);
  for (const repeated of lakeRows.repeated) comparison.add(repeated);
  for (const expected of expectedDays) {
    const { day } = expected;
    comparison.compareRows(day, "delivery", lakeRows.deliveries(day), expectedDeliveries(expected), normalizeDelivery);
    comparison.compareRows(day, "claim", lakeRows.claims(day), expectedClaims(expected));
    comparison.compareRows(day, "active", lakeRows.active(day), expectedListings(expected.active), withoutId);
    comparison.compareRows(day, "missing", lakeRows.missing(day), expectedListings(expected.missing, true), withoutId);
    comparison.compareRows(day, "contender", lakeRows.contenders(day), expectedContenders(expected));
    comparison.ids(day, lakeRows.active(day), expected.active);
    comparison.ids(day, lakeRows.missing(day), expected.missing);
    comparison.oneState(day, lakeRows.active(day), lakeRows.missing(day));
  }
  comparison.endings("sold", lakeRows.sold, expectedDays.flatMap(soldOn));
  comparison.endings("ended", lakeRows.ended, expectedDays.flatMap(endedOn));
  return [...comparison.differences, ...findUnfounded(lakeRows, expectedDays)];
}

class LakeComparison {
  readonly differences: string[] = [];
  readonly #spellOf = new Map<string, number>();
  readonly #idOf = new Map<number, string>();

  add(difference: string): void {
    this.differences.push(difference);
  }

  compareRows(
    day: string,
    kind: string,
    kept: RowsByKey,
    told: RowsByKey,
    normalize: (row: Row) => Row = (row) => row,
  ): void {
    for (const key of new Set([...told.keys(), ...kept.keys()])) {
      const row = kept.get(key);
      this.#compare(`${day} ${key}: ${kind}`, row && normalize(row), told.get(key));
    }
  }

  /** Checks that a listing period has one id, and an id one period. */
  ids(day: string, kept: RowsByKey, told: readonly OracleListing[]): void {
    for (const { vin, periodId } of told) {
      const id = kept.get(vin)?.id;
      if (typeof id !== "string") continue;
      if ((this.#spellOf.get(id) ?? periodId) !== periodId)
        this.add(`${day} ${vin}: the id ${id} is of another listing`);
      const known = this.#idOf.get(periodId) ?? id;
      if (known !== id) this.add(`${day} ${vin}: the id ${id}, and ${known} before, of the same listing`);
      this.#spellOf.set(id, periodId);
      this.#idOf.set(periodId, id);
    }
  }

  oneState(day: string, active: RowsByKey, missing: RowsByKey): void {
    for (const vin of active.keys()) if (missing.has(vin)) this.add(`${day} ${vin}: both active and missing`);
  }

  endings(what: string, kept: readonly Row[], told: readonly EndedPeriod[]): void {
    const rows = new Map<number | string, Row>();
    for (const row of kept) {
      const key = this.#spellOf.get(String(row.id)) ?? String(row.id);
      if (rows.has(key)) this.add(`${row.vin}: ${what} more than once as ${row.id}`);
      rows.set(key, row);
    }
    for (const { day, periodId, row } of told) {
      this.#compare(`${day} ${row.vin}: ${what}`, withoutOptionalId(rows.get(periodId)), row);
      rows.delete(periodId);
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
    this.add(`${place}: kept ${side(kept)}, told ${side(told)}`);
  }
}

const withoutId = ({ id, ...row }: Row): Row => row;
const withoutOptionalId = (row: Row | undefined): Row | undefined => row && withoutId(row);

/** A `resized` feed is accepted with its new size; a dealer without a delivery has no size. */
function normalizeDelivery({ vins, verdict, ...row }: Row): Row {
  if (verdict === "none") return { ...row, verdict };
  return { ...row, vins: vins ?? null, verdict: verdict === "resized" ? "accepted" : (verdict ?? null) };
}

function expectedDeliveries({ verdicts, history: remembered }: OracleDay): RowsByKey {
  return new Map(
    [...remembered].map(([dealer_id, { lastDelivery, sizes, collapsedInARow }]) => {
      const delivery = verdicts.get(dealer_id);
      const judged: Row = delivery ? { verdict: delivery.verdict, vins: delivery.size } : { verdict: "none" };
      const memory = { last_delivered_on: lastDelivery, accepted_vins: sizes, collapsed_in_a_row: collapsedInARow };
      return [dealer_id, { dealer_id, ...judged, ...memory }];
    }),
  );
}

function expectedClaims({ claims }: OracleDay): RowsByKey {
  return new Map(
    claims.map(({ sighting: { vin, dealer }, since, lastSeen, isOwner }) => [
      `${vin} ${dealer}`,
      { vin, dealer_id: dealer, claimed_since: since, sighted_on: lastSeen, is_owner: isOwner },
    ]),
  );
}

function expectedContenders({ claims }: OracleDay): RowsByKey {
  const contending = claims.filter(({ isOwner }) => !isOwner);
  return new Map(
    contending.map(({ sighting: { vin, dealer, price, miles }, daysSeen, lastSeen }) => [
      `${vin} ${dealer}`,
      { vin, dealer_id: dealer, price, miles, days_seen: daysSeen, last_seen: lastSeen },
    ]),
  );
}

function expectedListings(listings: readonly OracleListing[], isMissing = false): RowsByKey {
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

function rowOf(listing: OracleListing): Row {
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

/** A listing that was sold or ended, and the day on which that became known. */
interface EndedPeriod {
  readonly day: string;
  readonly periodId: number;
  readonly row: Row;
}

/** The month of a sale is that of its sale date. */
const soldOn = ({ day, sold }: OracleDay): readonly EndedPeriod[] =>
  sold.map((one) => ({ day, spell: one.periodId, row: { ...rowOf(one), month: one.soldDate?.slice(0, 7) ?? null } }));

const endedOn = ({ day, ended }: OracleDay): readonly EndedPeriod[] =>
  ended.map((one) => ({ day, spell: one.periodId, row: { ...rowOf(one), month: day.slice(0, 7) } }));

/** Finds listings in the lake's own rows that became missing or sold without an accepted feed. */
function findUnfounded(kept: LakeRows, told: readonly OracleDay[]): readonly string[] {
  const unfounded: string[] = [];
  const soldIds = new Map(kept.sold.map((row) => [row.id, row]));
  let yesterday: ReadonlyMap<Json | undefined, Row> = new Map();
  let missingYesterday: ReadonlySet<Json | undefined> = new Set();
  for (const { day, verdicts, history: remembered } of told) {
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
