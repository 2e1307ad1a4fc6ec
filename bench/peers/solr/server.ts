/** Apache Solr, asked at its own HTTP API; installed and filled first when it has not been. */
import { dirname } from "node:path";
import { type Dataset, peerFolder, type Say } from "../../dataset/dataset.ts";
import { httpClient } from "../../servers/http.ts";
import type { Server } from "../../servers/server.ts";
import { askSolr, fieldsByOrdinals } from "./ask.ts";
import { fillSolr } from "./fill.ts";
import { installSolr } from "./install.ts";
import { heapMibFor, startSolr } from "./process.ts";

/** Its percentiles are t-digests. */
const tolerance = 0.35;

export interface SolrOptions {
  /** By the size of the dataset, unless given. */
  readonly heapMib?: number | undefined;
  readonly isCached: boolean;
}

/** Starts Solr on a dataset. Fails with `Unavailable` where Java or Maven cannot be had. */
export async function openSolr(dataset: Dataset, { heapMib, isCached }: SolrOptions, say: Say): Promise<Server> {
  const installation = await installSolr(dirname(dataset.folder), say);
  const home = await peerFolder(dataset, "solr", say, (unfinished) => fillSolr(unfinished, dataset.flat, installation));
  const heap = heapMib ?? heapMibFor(dataset.shape.listings);
  const running = await startSolr(home, installation, { heapMib: heap, isCached });
  const client = httpClient(running.url);
  const mode = { isCached, countedByOrdinals: await fieldsByOrdinals(client) };
  return {
    ...{ name: "solr", version: `${installation.version}, heap ${heap} MiB`, tolerance },
    processorMs: running.processorMs,
    ask: ({ subject }) => askSolr(subject, client, mode),
    stop: async () => {
      client.close();
      await running.stop();
    },
  };
}
