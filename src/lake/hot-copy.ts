/**
 * The hot copy: what a version's active listings are searched by, in the engine's own format. It is a cache below
 * `hot/`, made from the Parquet files after a version has been opened; while it is not ready, and where it cannot be made,
 * the Parquet files answer. It can be deleted at any time.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../base/files.ts";
import { literal, type Sql, sql } from "../base/sql.ts";
import { makeWhole, removeOthers } from "./caches.ts";
import type { Database, Session } from "./duckdb.ts";
import {
  columnsNumbered,
  countsOf,
  firstsOf,
  hotFormat,
  hotStorage,
  type ListingKey,
  makeHotTables,
  readOnce,
  valuesOf,
} from "./hot-tables.ts";
import type { RepeatingColumn } from "./layout.ts";
import type { OrderName } from "./orders.ts";

/** The values of a column, `key` and `value`, where `HotCopy.numbered` names it. */
export const hotValues = (column: RepeatingColumn): Sql => valuesOf("hot", column);

/** The copy's listings, in the order of the snapshot, so that a row's place in it is its `row_number`. */
export const hotListings = sql`SELECT *, rowid AS row_number FROM hot.listings`;

/** The first of them in an order. */
export const hotFirsts = (order: OrderName): Sql => sql`FROM ${firstsOf("hot", order)}`;

/** How many `listings` have which key. */
export const hotCounts = (key: ListingKey): Sql => sql`FROM ${countsOf("hot", key)}`;

/** The file of a version's copy, below `hot/`. */
export const hotCopyName = (version: string): string => `${version}-${hotFormat}.duckdb`;

export class HotCopy {
  /** Whether `hot.listings` can be asked. */
  isReady = false;
  /** The columns whose values are numbered; known when it is ready. */
  numbered: readonly RepeatingColumn[] = [];
  private building: Promise<void> = Promise.resolve();
  private session: Session | undefined;
  private isStopped = false;

  /**
   * Begins to make the copy of a version's active listings, given in the order of the snapshot with their `row_number`, or takes the
   * one that is there. `onFailure` is told why there will be none.
   */
  constructor(
    private readonly database: Database,
    private readonly folder: string,
    private readonly version: string,
    listings: Sql,
    onFailure: (message: string) => void,
  ) {
    this.building = this.build(listings).catch((thrown: unknown) => {
      if (!this.isStopped) onFailure(thrown instanceof Error ? thrown.message : String(thrown));
    });
  }

  /** Resolves when the copy is ready, or will not be made. */
  settled(): Promise<void> {
    return this.building;
  }

  /** Ends the making of the copy; the database can be closed afterwards. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.session?.interrupt();
    await this.building;
  }

  private async build(listings: Sql): Promise<void> {
    const hot = join(this.folder, "hot");
    const name = hotCopyName(this.version);
    await makeFolder(hot);
    this.session = await this.database.connect();
    try {
      if (!(await readdir(hot)).includes(name)) await this.write(this.session, join(hot, name), listings);
      if (this.isStopped) return;
      await this.session.run(sql`ATTACH ${literal(join(hot, name))} AS hot (READ_ONLY)`);
      this.numbered = await columnsNumbered(this.session, "hot");
      await readOnce(this.session, "hot", this.numbered);
      this.isReady = true;
    } finally {
      this.session.close();
      this.session = undefined;
    }
    await removeOthers(hot, new Set([name]));
  }

  private async write(session: Session, path: string, listings: Sql): Promise<void> {
    await makeWhole(path, async (fresh) => {
      if (this.isStopped) return false;
      await session.run(sql`ATTACH ${literal(fresh)} AS hot_in_the_making (${hotStorage})`);
      try {
        await makeHotTables(session, "hot_in_the_making", listings, () => this.isStopped);
      } finally {
        await session.run(sql`DETACH hot_in_the_making`);
      }
      return true;
    });
  }
}
