/** Apache Solr as a measured server, queried through its own HTTP API. */
import { dirname } from "node:path";
import { type Dataset, type Log, peerFolder } from "../../dataset/dataset.ts";
import { httpClient } from "../../servers/http.ts";
import type { Server } from "../../servers/server.ts";
import { fillSolr } from "./fill.ts";
import { installSolr } from "./install.ts";
import { defaultHeapMib, startSolr } from "./process.ts";
import { highCardinalityFields, querySolr } from "./run-query.ts";

/** Solr's percentiles are t-digests, whose ranks are approximate: where few values lie far apart, as the largest discounts do, values differ more. */
const tolerance = 0.5;

export interface SolrOptions {
  /** Undefined: derived from the number of listings. */
  readonly heapMib?: number | undefined;
  readonly isCached: boolean;
}

/** Installs and fills Solr if needed, and starts it on a dataset. Throws `PeerUnavailable` without Java or Maven. */
export async function openSolr(dataset: Dataset, { heapMib, isCached }: SolrOptions, log: Log): Promise<Server> {
  const installation = await installSolr(dirname(dataset.folder), log);
  const home = await peerFolder(dataset, "solr", log, (unfinished) => fillSolr(unfinished, dataset.flat, installation));
  const heap = heapMib ?? defaultHeapMib(dataset.shape.listings);
  const server = await startSolr(home, installation, { heapMib: heap, isCached });
  const client = httpClient(server.url);
  const mode = { isCached, highCardinalityFields: await highCardinalityFields(client) };
  return {
    name: "solr",
    version: `${installation.version}, heap ${heap} MiB`,
    tolerance,
    processorMs: server.processorMs,
    send: ({ spec }) => querySolr(spec, client, mode),
    stop: async () => {
      client.close();
      await server.stop();
    },
  };
}
