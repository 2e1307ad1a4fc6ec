/** Starts the server of a peer by its name. */
import type { Dataset, Log } from "../dataset/dataset.ts";
import { openSolr, type SolrOptions } from "../peers/solr/server.ts";
import { PeerUnavailable } from "../peers/unavailable.ts";
import { at } from "../queries/query.ts";
import type { PeerName, SqlPeerName } from "../settings.ts";
import { startScript } from "./carquet.ts";
import { exactServer, type Server } from "./server.ts";

export interface PeerServerOptions {
  readonly dataset: Dataset;
  readonly solr: SolrOptions;
  readonly log: Log;
}

/** Returns the running server; undefined, after logging the reason, if the peer is unavailable on this machine. */
export async function openServer(
  name: PeerName,
  { dataset, solr, log }: PeerServerOptions,
): Promise<Server | undefined> {
  if (name !== "solr") return openSqlServer(name, dataset);
  try {
    return await openSolr(dataset, solr, log);
  } catch (thrown) {
    if (!(thrown instanceof PeerUnavailable)) throw thrown;
    log(`solr is left out. ${thrown.message}`);
    return undefined;
  }
}

async function openSqlServer(name: SqlPeerName, dataset: Dataset): Promise<Server> {
  const server = await startScript("bench/servers/serve-peer.ts", [name, JSON.stringify(dataset)]);
  return exactServer(name, String(at(await server.fetchJson("/version"), "version")), server);
}
