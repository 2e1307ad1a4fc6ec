/** Dealer locations of a search index, in memory: radius, box and distance. */
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, sql } from "../../db/sql.ts";
import { type Box, degreesOf, isInside, milesBetween, type Point } from "../../listing/geography.ts";

/** Distance of a dealer without coordinates, in thousandths of a mile: greater than any on the globe. */
const unknownDistance = 2 ** 25;

export class Dealers {
  private constructor(
    /** The first dealer id; ids are consecutive. */
    private readonly first: number,
    private readonly points: readonly (Point | undefined)[],
  ) {}

  /** Reads the dealers of an attached index, and their coordinates from the table `dealers`. */
  static async read(session: Session, catalog: string): Promise<Dealers> {
    const rows = await session.rows(sql`
      SELECT dealer, latitude, longitude
      FROM   ${ident(catalog, "dealers")} JOIN dealers USING (dealer_key) ORDER BY dealer`);
    const points = rows.map(({ latitude, longitude }) =>
      typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined,
    );
    return new Dealers(rows[0] === undefined ? 0 : integerIn(rows[0], "dealer"), points);
  }

  within(origin: Point, miles: number): readonly number[] {
    const degrees = degreesOf(miles);
    return this.where(
      (point) => Math.abs(point.latitude - origin.latitude) <= degrees && milesBetween(origin, point) <= miles,
    );
  }

  inside(box: Box): readonly number[] {
    return this.where((point) => isInside(point, box));
  }

  get ids(): readonly number[] {
    return this.points.map((_, place) => this.first + place);
  }

  /** Returns a function from a dealer to its distance from a point, in thousandths of a mile. */
  distancesFrom(origin: Point): (dealer: number) => number {
    const known = new Map<number, number>();
    return (dealer) => {
      const found = known.get(dealer);
      if (found !== undefined) return found;
      const point = this.points[dealer - this.first];
      const distance = point === undefined ? unknownDistance : Math.round(1000 * milesBetween(origin, point));
      known.set(dealer, distance);
      return distance;
    };
  }

  private where(passes: (point: Point) => boolean): readonly number[] {
    return this.points.flatMap((point, place) => (point !== undefined && passes(point) ? [this.first + place] : []));
  }
}
