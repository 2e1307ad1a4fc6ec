/** Positions of each dealer's listings in the default order, in memory: a page of one dealer's inventory takes no statement. */
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { dealerPositionsOf } from "./build.ts";
import type { Dealers } from "./dealers.ts";
import type { Dictionary } from "./dictionary.ts";

export class DealerPositions {
  private constructor(
    private readonly positions: Int32Array,
    /** Where the positions of each dealer begin, by composite id. */
    private readonly starts: ReadonlyMap<number, number>,
    private readonly dictionary: Dictionary,
  ) {}

  /** Reads the positions from an attached index. */
  static async read(
    engine: Pick<Session, "vectors">,
    {
      catalog,
      dealers,
      dictionary,
    }: { readonly catalog: string; readonly dealers: Dealers; readonly dictionary: Dictionary },
  ): Promise<DealerPositions> {
    const starts = new Map<number, number>();
    let count = 0;
    for (const dealer of dealers.ids) {
      starts.set(dealer, count);
      count += dictionary.totalOf(dealer);
    }
    const positions = new Int32Array(count);
    let next = 0;
    for (const [part = new Int32Array()] of await engine.vectors(
      sql`SELECT position FROM ${dealerPositionsOf(catalog)}`,
    )) {
      positions.set(part, next);
      next += part.length;
    }
    return new DealerPositions(positions, starts, dictionary);
  }

  /** Returns the total and a page of the listings of a dealer, given by its composite id. */
  pageOf(
    dealer: number,
    offset: number,
    limit: number,
  ): { readonly total: number; readonly places: readonly number[] } {
    const total = this.dictionary.totalOf(dealer);
    const start = this.starts.get(dealer) ?? 0;
    const end = start + Math.min(total, offset + limit);
    return { total, places: [...this.positions.subarray(Math.min(end, start + offset), end)] };
  }
}
