/** The peers, by their names. */
import type { Dataset, Say } from "../dataset.ts";
import type { PeerName } from "../settings.ts";
import { openClickhouse } from "./clickhouse.ts";
import { openDuckdb } from "./duckdb.ts";
import type { OpenPeer, Peer } from "./peer.ts";
import { openSqlite } from "./sqlite.ts";

const openers: Readonly<Record<PeerName, OpenPeer>> = {
  duckdb: openDuckdb,
  clickhouse: openClickhouse,
  sqlite: openSqlite,
};

/** Opens a peer on a dataset. */
export const openPeer = (name: PeerName, dataset: Dataset, say: Say): Promise<Peer> => openers[name](dataset, say);
