/** Starts Solr in its own process on a Solr home: a folder with one core for each relation. */
import { closeSync, openSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { relations } from "../../dataset/flat-rows.ts";
import { launch, type ServerProcess } from "../../servers/process.ts";
import type { SolrInstallation } from "./install.ts";

const config = projectPath("bench/peers/solr/config");

export interface SolrSettings {
  readonly heapMib: number;
  /** Enables the caches of query results and documents. */
  readonly isCached: boolean;
}

/** Returns the default heap: the bitsets of facet values, of which there are thousands, take a bit per listing each. */
export const defaultHeapMib = (listings: number): number => 1024 + Math.ceil(listings / 1000);

/** Writes a Solr home with empty cores. */
export async function writeSolrHome(home: string): Promise<void> {
  for (const relation of relations) {
    await mkdir(join(home, relation), { recursive: true });
    await writeFile(join(home, relation, "core.properties"), `name=${relation}\nconfigSet=listings\n`);
  }
  await copyFile(join(config, "solr.xml"), join(home, "solr.xml"));
}

/** Starts Solr with the garbage collector settings of Solr's own start script. */
export async function startSolr(
  home: string,
  { java, classPath }: SolrInstallation,
  { heapMib, isCached }: SolrSettings,
): Promise<ServerProcess> {
  const serverLog = openSync(join(home, "server.log"), "w");
  try {
    return await launch({
      command: java.command,
      args: [
        ...[`-Xms${heapMib}m`, `-Xmx${heapMib}m`, "-Xss256k", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=250"],
        ...["-XX:+ParallelRefProcEnabled", "-XX:+PerfDisableSharedMem", "-XX:+ExplicitGCInvokesConcurrent"],
        ...["-XX:+AlwaysPreTouch", "--enable-native-access=ALL-UNNAMED"],
        `-Dlog4j2.configurationFile=${join(config, "log4j2.xml")}`,
        ...[`-Dbench.config=${config}`, `-Dbench.cached=${isCached}`, `-Dsolr.install.dir=${home}`],
        ...["-cp", classPath, "SolrServer", home],
      ],
      stderr: serverLog,
    });
  } finally {
    closeSync(serverLog);
  }
}
