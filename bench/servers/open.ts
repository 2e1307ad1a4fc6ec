/** Starts the server of a peer by its name. */
import type { Dataset, Log } from "../dataset/dataset.ts";
import { openSolr, type SolrOptions } from "../peers/solr/server.ts";
import { PeerUnavailable } from "../peers/unavailable.ts";
import { at } from "../queries/query.ts";
import type { PeerName, SqlPeerName } from "../settings.ts";
import { startScript } from "./carquet.ts";
import { postgresPrograms } from "./postgres.ts";
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
  try {
    if (name === "postgres" && postgresPrograms() === undefined)
      throw new PeerUnavailable("Expected initdb in /usr/lib/postgresql or on the PATH.");
    return await (name === "solr" ? openSolr(dataset, solr, log) : openSqlServer(name, dataset));
  } catch (thrown) {
    if (!(thrown instanceof PeerUnavailable)) throw thrown;
    log(`${name} is left out. ${thrown.message}`);
    return undefined;
  }
}

async function openSqlServer(name: SqlPeerName, dataset: Dataset): Promise<Server> {
  const server = await startScript("bench/servers/serve-peer.ts", [name, JSON.stringify(dataset)]);
  return exactServer(name, String(at(await server.fetchJson("/version"), "version")), server);
}
