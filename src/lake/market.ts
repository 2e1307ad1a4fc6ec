/**
 * One published version, open for questions: dimensions in memory, listings in their Parquet files.
 *
 * Everything a market answers is of its version. It never writes, and reaches no file outside of its lake.
 */
import { resolve } from "node:path";
import { bounds } from "../base/bounds.ts";
import type { Row } from "../base/json.ts";
import { name, type Sql, sql } from "../base/sql.ts";
import { refuse } from "../contract/errors.ts";
import { Database, type DatabaseOptions } from "./duckdb.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { Pool, type PoolBounds } from "./pool.ts";
import { filesIn, positioned, rowsOfFiles, tokensInOrder } from "./views.ts";

export type MarketOptions = DatabaseOptions & Partial<PoolBounds>;

export class Market {
  private constructor(
    readonly manifest: Manifest,
    private readonly folder: string,
    private readonly database: Database,
    private readonly pool: Pool,
  ) {}

  /** Opens a version of a lake and reads its dimensions; fails when a file is not there or not readable. */
  static async open(lake: string, version: string, options: MarketOptions = {}): Promise<Market> {
    const manifest = await readManifest(lake, version);
    const folder = resolve(lake);
    const database = await Database.open(options);
    try {
      await database.using(async (session) => {
        for (const table of ["builds", "dealers", "tokens", "options"] as const) {
          const rows = rowsOfFiles(table, manifest.tables[table], folder);
          await session.run(sql`CREATE TABLE ${name(table)} AS ${rows}`);
        }
        await session.run(sql`CREATE TABLE tokens_in_order AS ${tokensInOrder}`);
        const active = positioned(filesIn(manifest.tables, "snapshots", manifest.as_of), folder);
        await session.run(sql`SELECT count(*), max(days_on_market) FROM (${active})`);
      });
      await database.lockDown([folder]);
      return new Market(manifest, folder, database, await Pool.open(database, { ...bounds, ...options }));
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  }

  /** The rows of a query over `builds`, `dealers`, `tokens`, `options` and relations that this market gives. */
  rows(query: Sql): Promise<readonly Row[]> {
    return this.pool.rows(query);
  }

  /** What collections say of where their answer comes from. */
  get meta(): { readonly as_of: string; readonly version: string } {
    return { as_of: this.manifest.as_of, version: this.manifest.version };
  }

  /** The active inventory as of a day, as a relation of listings with `row_number`. Refuses a day without a snapshot. */
  activeOn(day: string): Sql {
    const files = filesIn(this.manifest.tables, "snapshots", day);
    if (files.length === 0 && day !== this.manifest.as_of) throw this.unavailable(day);
    return positioned(files, this.folder);
  }

  /** All sold listings, or those of the months since a day, as a relation of listings with `row_number`. */
  soldSince(day: string | undefined): Sql {
    const files = this.manifest.tables.sold.filter(
      ({ partition }) => day === undefined || (partition ?? "") >= day.slice(0, 7),
    );
    return positioned(files, this.folder);
  }

  private unavailable(day: string): Error {
    const days = this.manifest.tables.snapshots.map((file) => file.partition ?? "").sort();
    const asOf = this.manifest.as_of;
    return refuse("snapshot_unavailable", { value: day, first: days[0] ?? asOf, last: days.at(-1) ?? asOf });
  }

  close(): void {
    this.pool.close();
    this.database.close();
  }
}
