/** Opens a SQL peer by its name. */
import type { Dataset, Log } from "../dataset/dataset.ts";
import type { SqlPeerName } from "../settings.ts";
import { openClickhouse, openClickhouseIntervals } from "./clickhouse.ts";
import { openDuckdb } from "./duckdb.ts";
import type { OpenPeer, SqlPeer } from "./peer.ts";
import { openPostgres } from "./postgres.ts";

const openers: Readonly<Record<SqlPeerName, OpenPeer>> = {
  duckdb: openDuckdb,
  clickhouse: openClickhouse,
  "clickhouse-intervals": openClickhouseIntervals,
  postgres: openPostgres,
};

/** Opens a peer on a dataset and fills its database if it does not exist yet. */
export const openPeer = (name: SqlPeerName, dataset: Dataset, log: Log): Promise<SqlPeer> =>
  openers[name](dataset, log);
