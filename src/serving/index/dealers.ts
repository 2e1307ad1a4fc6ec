/** The dealers of a search index in memory: which of them are near, and how far they are. */
import { integerIn, textIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, sql } from "../../db/sql.ts";
import { type Box, degreesOf, isInside, milesBetween, type Point } from "../../listing/geography.ts";

/** Thousandths of a mile to what has no coordinates: farther than anything on the globe. */
const nowhere = 2 ** 25;

export class Dealers {
  private constructor(
    /** The least id of a dealer; those of the others follow. */
    private readonly first: number,
    private readonly points: readonly (Point | undefined)[],
    private readonly byDealerId: ReadonlyMap<string, readonly number[]>,
  ) {}

  /** Reads the dealers of an attached index, and where they are from the table `dealers`. */
  static async read(session: Session, catalog: string): Promise<Dealers> {
    const rows = await session.rows(sql`
      SELECT dealer, dealer_id, latitude, longitude FROM ${ident(catalog, "dealers")} JOIN dealers USING (dealer_key) ORDER BY dealer`);
    const ids = new Map<string, number[]>();
    for (const row of rows) {
      const id = textIn(row, "dealer_id").toLowerCase();
      ids.set(id, [...(ids.get(id) ?? []), integerIn(row, "dealer")]);
    }
    const points = rows.map(({ latitude, longitude }) =>
      typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined,
    );
    return new Dealers(rows[0] === undefined ? 0 : integerIn(rows[0], "dealer"), points, ids);
  }

  /** The ids of a dealer, of which it has one for each of its profiles; none where it has no listing. */
  idsOf(dealerId: string): readonly number[] {
    return this.byDealerId.get(dealerId.toLowerCase()) ?? [];
  }

  /** The dealers within some miles of a point. */
  within(origin: Point, miles: number): readonly number[] {
    const degrees = degreesOf(miles);
    return this.where(
      (point) => Math.abs(point.latitude - origin.latitude) <= degrees && milesBetween(origin, point) <= miles,
    );
  }

  /** The dealers in a box. */
  inside(box: Box): readonly number[] {
    return this.where((point) => isInside(point, box));
  }

  /** The ids of all dealers. */
  get ids(): readonly number[] {
    return this.points.map((_, place) => this.first + place);
  }

  /** Of some dealers the nearest to a point which together have `listings` or more, with all that are as far as the last of them. */
  nearest(
    origin: Point,
    among: readonly number[],
    listingsOfDealer: (dealer: number) => number,
    listings: number,
  ): readonly number[] {
    const distanceOf = this.distancesFrom(origin);
    const sorted = [...among].sort((one, other) => distanceOf(one) - distanceOf(other));
    let [end, found] = [0, 0];
    for (; end < sorted.length && found < listings; end += 1) found += listingsOfDealer(sorted[end] as number);
    const farthest = distanceOf(sorted[end - 1] ?? this.first);
    while (end < sorted.length && distanceOf(sorted[end] as number) === farthest) end += 1;
    return sorted.slice(0, end);
  }

  /** How far a dealer is from a point, for each id of one, in thousandths of a mile. */
  distancesFrom(origin: Point): (dealer: number) => number {
    const known = new Map<number, number>();
    return (dealer) => {
      const found = known.get(dealer);
      if (found !== undefined) return found;
      const point = this.points[dealer - this.first];
      const distance = point === undefined ? nowhere : Math.round(1000 * milesBetween(origin, point));
      known.set(dealer, distance);
      return distance;
    };
  }

  private where(passes: (point: Point) => boolean): readonly number[] {
    return this.points.flatMap((point, place) => (point !== undefined && passes(point) ? [this.first + place] : []));
  }
}
