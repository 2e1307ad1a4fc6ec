/** Positions that answer a page without a statement, read once per version: the first listings of each sort, and those of each dealer. */
import { bounds } from "../../base/bounds.ts";
import type { Engine } from "../../db/session-pool.ts";
import { integerLiteral, sql } from "../../db/sql.ts";
import type { FixedSort } from "../../listing/sorts.ts";
import { rankOf } from "./build.ts";
import { DealerPositions } from "./dealer-positions.ts";
import { choosePage, pairsIn } from "./page.ts";
import { type IndexContext, listingsOf } from "./where.ts";

export class KeptPositions {
  private readonly firstListings = new Map<FixedSort, Promise<readonly number[]>>();
  private dealerPositions: Promise<DealerPositions> | undefined;

  /** `engine` runs the statements on behalf of all requests, so that no request that ends early takes them with it. */
  constructor(
    private readonly engine: Engine,
    private readonly context: IndexContext,
  ) {}

  /** Returns the positions of the first `bounds.firstListings` listings of a sort. */
  firstListingsIn(sort: FixedSort): Promise<readonly number[]> {
    const known = this.firstListings.get(sort);
    if (known !== undefined) return known;
    const rank = rankOf(sort);
    const found = this.engine
      .vectors(
        sql`SELECT ${rank}, position FROM ${listingsOf(this.context.catalog)} WHERE ${rank} < ${integerLiteral(bounds.firstListings)}`,
      )
      .then((parts) => choosePage(pairsIn(parts), 0, bounds.firstListings));
    this.firstListings.set(sort, found);
    found.catch(() => this.firstListings.delete(sort));
    return found;
  }

  /** Returns the positions of each dealer's listings in the default order. */
  byDealer(): Promise<DealerPositions> {
    this.dealerPositions ??= DealerPositions.read(this.engine, this.context).catch((thrown: unknown) => {
      this.dealerPositions = undefined;
      throw thrown;
    });
    return this.dealerPositions;
  }
}
