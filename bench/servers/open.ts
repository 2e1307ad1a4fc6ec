/** Starts the server of a peer, by its name. */

import type { Dataset, Say } from "../dataset/dataset.ts";
import { openSolr, type SolrOptions } from "../peers/solr/server.ts";
import { Unavailable } from "../peers/unavailable.ts";
import { at } from "../questions/question.ts";
import type { PeerName, SqlPeerName } from "../settings.ts";
import { start } from "./carquet.ts";
import { type Server, serverOf } from "./server.ts";

export interface Opening {
  readonly dataset: Dataset;
  readonly solr: SolrOptions;
  readonly say: Say;
}

/** Undefined if the peer cannot be had on this machine, which is said. */
export async function openServer(name: PeerName, { dataset, solr, say }: Opening): Promise<Server | undefined> {
  if (name !== "solr") return openSqlServer(name, dataset);
  try {
    return await openSolr(dataset, solr, say);
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown;
    say(`solr is left out. ${thrown.message}`);
    return undefined;
  }
}

async function openSqlServer(name: SqlPeerName, dataset: Dataset): Promise<Server> {
  const running = await start("bench/servers/serve-peer.ts", [name, JSON.stringify(dataset)]);
  return serverOf(name, String(at(await running.answer("/version"), "version")), running);
}
