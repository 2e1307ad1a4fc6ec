/** Dealers of a search index, in memory: those with an id, within a radius or inside a box, and their distances. */
import { integerIn } from "../../base/json.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, sql } from "../../db/sql.ts";
import { type Box, degreesOf, isInside, milesBetween, type Point } from "../../listing/geography.ts";

/** Distance of a dealer without coordinates, in thousandths of a mile: greater than any on the globe. */
const unknownDistance = 2 ** 25;

export class Dealers {
  private constructor(
    /** The first dealer; dealers are consecutive. */
    private readonly first: number,
    /** The id of the value of attribute `dealer_id`, and the coordinates, NaN without any, of each dealer. */
    private readonly columns: {
      readonly ids: Int32Array;
      readonly latitudes: Float64Array;
      readonly longitudes: Float64Array;
    },
  ) {}

  /** Reads the dealers of an attached index, and their coordinates from the table `dealers`. */
  static async read(session: Session, catalog: string): Promise<Dealers> {
    const rows = await session.rows(sql`
      SELECT of.dealer, of.dealer_id, latitude, longitude
      FROM   ${ident(catalog, "dealers")} AS of JOIN dealers USING (dealer_key) ORDER BY of.dealer`);
    const degrees = (name: string): Float64Array =>
      Float64Array.from(rows, ({ [name]: value }) => (typeof value === "number" ? value : Number.NaN));
    return new Dealers(rows[0] === undefined ? 0 : integerIn(rows[0], "dealer"), {
      ids: Int32Array.from(rows, (row) => integerIn(row, "dealer_id")),
      latitudes: degrees("latitude"),
      longitudes: degrees("longitude"),
    });
  }

  /** Returns the dealers whose value of `dealer_id` has one of some ids. */
  withIds(ids: readonly number[]): readonly number[] {
    const wanted = new Set(ids);
    return this.where((index) => wanted.has(this.columns.ids[index] ?? 0));
  }

  within(origin: Point, miles: number): readonly number[] {
    const { latitudes } = this.columns;
    const degrees = degreesOf(miles);
    return this.where(
      (index) =>
        Math.abs((latitudes[index] ?? 0) - origin.latitude) <= degrees &&
        milesBetween(origin, this.pointAt(index)) <= miles,
    );
  }

  inside(box: Box): readonly number[] {
    return this.where((index) => isInside(this.pointAt(index), box));
  }

  get all(): readonly number[] {
    return this.where(() => true);
  }

  /** Returns a function from a dealer to its distance from a point, in thousandths of a mile. */
  distancesFrom(origin: Point): (dealer: number) => number {
    const known = new Int32Array(this.columns.ids.length).fill(-1);
    return (dealer) => {
      const index = dealer - this.first;
      const found = known[index] ?? unknownDistance;
      if (found >= 0) return found;
      const miles = milesBetween(origin, this.pointAt(index));
      const distance = Number.isNaN(miles) ? unknownDistance : Math.round(1000 * miles);
      known[index] = distance;
      return distance;
    };
  }

  private pointAt(index: number): Point {
    const { latitudes, longitudes } = this.columns;
    return { latitude: latitudes[index] ?? Number.NaN, longitude: longitudes[index] ?? Number.NaN };
  }

  private where(passes: (index: number) => boolean): readonly number[] {
    const found: number[] = [];
    const { length } = this.columns.ids;
    for (let index = 0; index < length; index += 1) if (passes(index)) found.push(this.first + index);
    return found;
  }
}
