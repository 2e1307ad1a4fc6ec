/** The peers that are asked in SQL, by their names. */
import type { Dataset, Say } from "../dataset/dataset.ts";
import type { SqlPeerName } from "../settings.ts";
import { openClickhouse } from "./clickhouse.ts";
import { openDuckdb } from "./duckdb.ts";
import type { OpenPeer, SqlPeer } from "./peer.ts";
import { openSqlite } from "./sqlite.ts";

const openers: Readonly<Record<SqlPeerName, OpenPeer>> = {
  duckdb: openDuckdb,
  clickhouse: openClickhouse,
  sqlite: openSqlite,
};

/** Opens a peer on a dataset. */
export const openPeer = (name: SqlPeerName, dataset: Dataset, say: Say): Promise<SqlPeer> =>
  openers[name](dataset, say);
