/** The listings of the published day, in the index of today: a page takes one statement that fetches the ranks of all matches. */
import { createOnce, forEachInTurns } from "../../base/concurrency.ts";
import type { Engine } from "../../db/session-pool.ts";
import { ident, type Sql, sql } from "../../db/sql.ts";
import type { FixedSort } from "../../listing/sorts.ts";
import type { PageRequest, PageResult } from "../../listing/source.ts";
import { isToday, rankOf } from "./build.ts";
import { type IndexedListings, type IndexMatches, matchesIn } from "./count-matches.ts";
import { IndexSource, withSortValue } from "./index-source.ts";
import { choosePage, countOf, type KeyedChunk, keyedChunksOf } from "./page.ts";
import { overMatches } from "./where.ts";

export class TodaySource extends IndexSource {
  constructor(
    indexed: IndexedListings,
    private readonly positions: RankedPositions,
  ) {
    super(indexed);
  }

  override async findPage(request: PageRequest): Promise<PageResult> {
    const { filters, order, limit, offset } = request;
    const [part] = matchesIn(this.indexed.contexts, filters);
    if (part === undefined) return { total: 0, keys: [] };
    if (order.by === "distance") {
      const distanceOf = part.context.dealers.distancesFrom(order.origin);
      const parts = keyedChunksOf(await this.columnsOf(part, sql`dealer, position`));
      const keyed: KeyedChunk[] = [];
      await forEachInTurns(parts, ([dealers, positions]) => keyed.push([dealers.map(distanceOf), positions]));
      return { total: countOf(parts), keys: choosePage(keyed, offset, limit) };
    }
    const positions = await this.positions.of(order.sort);
    if (part.matches === "always")
      return { total: this.indexed.count, keys: [...positions.subarray(offset, offset + limit)] };
    const ranks = (await this.columnsOf(part, rankOf(order.sort))).map(
      ([vector = new Int32Array()]) => [vector, vector] as const,
    );
    return { total: countOf(ranks), keys: choosePage(ranks, offset, limit).map((rank) => positions[rank] as number) };
  }

  override orderedMatches({ filters, order }: Pick<PageRequest, "filters" | "order">): Sql {
    const [part] = matchesIn(this.indexed.contexts, filters);
    if (part === undefined) return sql`SELECT 0::BIGINT AS row_number, 0::BIGINT AS sort_key WHERE false`;
    if (order.by === "distance") {
      const matches = withSortValue(sql`position`, part, order);
      return sql`SELECT position::BIGINT AS row_number, (sort_value::BIGINT << 32) + position AS sort_key FROM (${matches})`;
    }
    return sql`SELECT position::BIGINT AS row_number, ${rankOf(order.sort)}::BIGINT AS sort_key ${overMatches(part.matches, part.context)}`;
  }

  private columnsOf({ context, matches }: IndexMatches, columns: Sql): Promise<readonly (readonly Int32Array[])[]> {
    return this.indexed.engine.vectors(sql`SELECT ${columns} ${overMatches(matches, context)}`);
  }
}

/** The positions of the listings of the published day in the order of each sort, read when a page needs them. */
export class RankedPositions {
  private readonly read = new Map<FixedSort, Promise<Int32Array>>();

  /** `engine` runs the statements on behalf of all requests, so that no request that ends early takes them with it. */
  constructor(
    private readonly engine: Engine,
    private readonly catalog: string,
  ) {}

  /** Returns the position of each rank of a sort. */
  of(sort: FixedSort): Promise<Int32Array> {
    return createOnce(this.read, sort, () => this.readPositions(sort));
  }

  private async readPositions(sort: FixedSort): Promise<Int32Array> {
    const parts = keyedChunksOf(
      await this.engine.vectors(
        sql`SELECT ${rankOf(sort)}, position FROM ${ident(this.catalog, "listings")} WHERE ${isToday}`,
      ),
    );
    const positions = new Int32Array(countOf(parts));
    for (const [ranks, values] of parts)
      for (let at = 0; at < ranks.length; at += 1) positions[ranks[at] as number] = values[at] as number;
    return positions;
  }
}
