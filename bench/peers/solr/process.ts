/** Solr in a process of its own, over a home in a dataset's folder. */
import { closeSync, openSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { relations } from "../../dataset/flat-rows.ts";
import { launch, type ServerProcess } from "../../servers/process.ts";
import type { Installation } from "./install.ts";

const config = projectPath("bench/peers/solr/config");

export interface SolrSettings {
  readonly heapMib: number;
  /** Whether the caches of whole answers and of documents are on. */
  readonly isCached: boolean;
}

/** Enough for the listings: bitsets of facet constraints take a bit a listing each, and there are thousands. */
export const heapMibFor = (listings: number): number => 1024 + Math.ceil(listings / 1000);

/** Makes a home: one core a relation. */
export async function writeHome(home: string): Promise<void> {
  for (const relation of relations) {
    await mkdir(join(home, relation), { recursive: true });
    await writeFile(join(home, relation, "core.properties"), `name=${relation}\nconfigSet=listings\n`);
  }
  await copyFile(join(config, "solr.xml"), join(home, "solr.xml"));
}

/** Starts Solr; garbage collection is set as Solr's own start script sets it. */
export async function startSolr(
  home: string,
  { java, classPath }: Installation,
  { heapMib, isCached }: SolrSettings,
): Promise<ServerProcess> {
  const log = openSync(join(home, "server.log"), "w");
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
      errors: log,
    });
  } finally {
    closeSync(log);
  }
}
