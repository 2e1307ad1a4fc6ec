/** Compares the rows of a lake with the oracle's days. */
import { isDeepStrictEqual } from "node:util";
import type { Json, Row } from "../../src/base/json.ts";
import { listingsMissedBySync } from "./incremental-sync.ts";
import { type LakeRows, type RowsByKey, readLakeRows } from "./lake-rows.ts";
import type { OracleDay, OracleListing } from "./oracle.ts";

/** Returns the differences, each with its day, VIN and both sides, and the listings that an incremental sync misses; empty if the lake agrees. */
export async function differencesFrom(lake: string, expectedDays: readonly OracleDay[]): Promise<readonly string[]> {
  const lakeRows = await readLakeRows(lake);
  const comparison = new LakeComparison();
  const days = expectedDays.map(({ day }) => day);
  if (!isDeepStrictEqual(lakeRows.days, days)) comparison.add(`days: lake ${lakeRows.days}, expected ${days}`);
  for (const repeated of lakeRows.repeated) comparison.add(repeated);
  for (const expected of expectedDays) compareDay(comparison, lakeRows, expected);
  comparison.compareEnded("sold", lakeRows.sold, expectedDays.flatMap(soldOn));
  comparison.compareEnded("ended", lakeRows.ended, expectedDays.flatMap(endedOn));
  return [...comparison.differences, ...findUnfounded(lakeRows, expectedDays), ...listingsMissedBySync(lakeRows)];
}

function compareDay(comparison: LakeComparison, lakeRows: LakeRows, expected: OracleDay): void {
  const { day } = expected;
  const active = lakeRows.active(day);
  const missing = lakeRows.missing(day);
  const normalized = normalizeRows(lakeRows.feeds(day), normalizeFeed);
  comparison.compareRows(`${day} delivery`, normalized, expectedFeeds(expected));
  comparison.compareRows(`${day} claim`, lakeRows.claims(day), expectedClaims(expected));
  comparison.compareRows(`${day} active`, normalizeRows(active, withoutId), expectedListings(expected.active));
  comparison.compareRows(`${day} missing`, normalizeRows(missing, withoutId), expectedListings(expected.missing, true));
  comparison.compareRows(`${day} contender`, lakeRows.contenders(day), expectedContenders(expected));
  comparison.checkIds(day, active, expected.active);
  comparison.checkIds(day, missing, expected.missing);
  comparison.checkOneState(day, active, missing);
}

class LakeComparison {
  readonly differences: string[] = [];
  readonly #periodOf = new Map<string, number>();
  readonly #idOf = new Map<number, string>();

  add(difference: string): void {
    this.differences.push(difference);
  }

  compareRows(what: string, lakeRows: RowsByKey, expected: RowsByKey): void {
    for (const key of new Set([...expected.keys(), ...lakeRows.keys()]))
      this.#compare(`${what} ${key}`, lakeRows.get(key), expected.get(key));
  }

  /** Checks that a listing period has one id, and an id one period. */
  checkIds(day: string, lakeRows: RowsByKey, expected: readonly OracleListing[]): void {
    for (const { vin, periodId } of expected) {
      const id = lakeRows.get(vin)?.id;
      if (typeof id !== "string") continue;
      if ((this.#periodOf.get(id) ?? periodId) !== periodId)
        this.add(`${day} ${vin}: the id ${id} belongs to another listing`);
      const known = this.#idOf.get(periodId) ?? id;
      if (known !== id) this.add(`${day} ${vin}: the id ${id}, but ${known} before, of the same listing`);
      this.#periodOf.set(id, periodId);
      this.#idOf.set(periodId, id);
    }
  }

  checkOneState(day: string, active: RowsByKey, missing: RowsByKey): void {
    for (const vin of active.keys()) if (missing.has(vin)) this.add(`${day} ${vin}: both active and missing`);
  }

  compareEnded(state: string, lakeRows: readonly Row[], expected: readonly EndedPeriod[]): void {
    const rows = new Map<number | string, Row>();
    for (const row of lakeRows) {
      const key = this.#periodOf.get(String(row.id)) ?? String(row.id);
      if (rows.has(key)) this.add(`${row.vin}: ${state} more than once as ${row.id}`);
      rows.set(key, row);
    }
    for (const { day, periodId, row } of expected) {
      const lakeRow = rows.get(periodId);
      this.#compare(`${day} ${row.vin}: ${state}`, lakeRow && withoutId(lakeRow), row);
      rows.delete(periodId);
    }
    for (const row of rows.values()) this.#compare(`unexpected ${row.vin}: ${state}`, row, undefined);
  }

  #compare(what: string, lakeRow: Row | undefined, expected: Row | undefined): void {
    if (isDeepStrictEqual(lakeRow, expected)) return;
    const columns = Object.keys({ ...lakeRow, ...expected });
    const differing = columns.filter((column) => !isDeepStrictEqual(lakeRow?.[column], expected?.[column]));
    const isOneSided = lakeRow === undefined || expected === undefined;
    const cellText = (row: Row | undefined): string =>
      row === undefined
        ? "none"
        : JSON.stringify(isOneSided ? row : Object.fromEntries(differing.map((column) => [column, row[column]])));
    this.add(`${what}: lake ${cellText(lakeRow)}, expected ${cellText(expected)}`);
  }
}

function normalizeRows(rows: RowsByKey, normalize: (row: Row) => Row): RowsByKey {
  return new Map([...rows].map(([key, row]) => [key, normalize(row)]));
}

const withoutId = ({ id, ...row }: Row): Row => row;

/** A `resized` feed is accepted with its new size; a dealer without a feed has no size. */
function normalizeFeed({ vins, verdict, ...row }: Row): Row {
  if (verdict === "none") return { ...row, verdict };
  return { ...row, vins: vins ?? null, verdict: verdict === "resized" ? "accepted" : (verdict ?? null) };
}

function expectedFeeds({ verdicts, history }: OracleDay): RowsByKey {
  return new Map(
    [...history].map(([dealer_id, { lastDelivery, sizes, collapsedInARow }]) => {
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
    sold_on_record: listing.soldOnRecord,
  };
}

/** A listing that was sold or ended, and the day on which that became known. */
interface EndedPeriod {
  readonly day: string;
  readonly periodId: number;
  readonly row: Row;
}

const soldOn = ({ day, sold }: OracleDay): readonly EndedPeriod[] => periodsEndedOn(day, sold);
const endedOn = ({ day, ended }: OracleDay): readonly EndedPeriod[] => periodsEndedOn(day, ended);

const periodsEndedOn = (day: string, listings: readonly OracleListing[]): readonly EndedPeriod[] =>
  listings.map((listing) => ({
    day,
    periodId: listing.periodId,
    row: { ...rowOf(listing), month: day.slice(0, 7) },
  }));

/** Finds listings in the lake's own rows that became missing or sold without an accepted feed. */
function findUnfounded(lakeRows: LakeRows, expectedDays: readonly OracleDay[]): readonly string[] {
  const unfounded: string[] = [];
  const soldIds = new Map(lakeRows.sold.map((row) => [row.id, row]));
  let yesterday: ReadonlyMap<Json | undefined, Row> = new Map();
  let missingYesterday: ReadonlySet<Json | undefined> = new Set();
  for (const { day, verdicts, history } of expectedDays) {
    const missing = [...lakeRows.missing(day).values()];
    const today = new Map([...lakeRows.active(day).values(), ...missing].map((row) => [row.id, row]));
    const isAccepted = (row: Row): boolean => verdicts.get(String(row.dealer_id))?.verdict === "accepted";
    const lastDelivery = (row: Row): string => history.get(String(row.dealer_id))?.lastDelivery ?? "";
    const daysSince = (from: Json | undefined): number => (Date.parse(day) - Date.parse(String(from))) / 86_400_000;
    for (const row of missing) {
      const isFounded = missingYesterday.has(row.id) || isAccepted(row) || daysSince(lastDelivery(row)) >= 7;
      if (!isFounded) unfounded.push(`${day} ${row.vin}: missing without an accepted feed of ${row.dealer_id}`);
    }
    for (const [id, row] of yesterday) {
      if (today.has(id) || !soldIds.has(String(id))) continue;
      if (!isAccepted(row)) unfounded.push(`${day} ${row.vin}: sold without an accepted feed of ${row.dealer_id}`);
      if (daysSince(row.last_seen) < 3) unfounded.push(`${day} ${row.vin}: sold, but seen on ${row.last_seen}`);
    }
    yesterday = today;
    missingYesterday = new Set(missing.map(({ id }) => id));
  }
  return unfounded;
}
