/** Installs Solr from Maven Central. The folder is named by a hash of `pom.xml` and `SolrServer.java`, so that it is installed once. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { projectPath } from "../../../src/base/project-files.ts";
import { messageOf } from "../../../src/base/user-error.ts";
import type { Log } from "../../dataset/dataset.ts";
import { PeerUnavailable } from "../unavailable.ts";
import { findJava, type JavaRuntime } from "./java.ts";

const execute = promisify(execFile);
const pom = projectPath("bench/peers/solr/pom.xml");
const serverSource = projectPath("bench/peers/solr/SolrServer.java");

export interface SolrInstallation {
  readonly java: JavaRuntime;
  readonly classPath: string;
  /** The versions of Solr and Java, for example `9.10.1 on Java 17`. */
  readonly version: string;
}

/** Returns Solr and its Java, installed in the folder `data`. Throws `PeerUnavailable` if either is unavailable. */
export async function installSolr(data: string, log: Log): Promise<SolrInstallation> {
  const java = await findJava(join(data, "solr", "java"), log);
  const folder = join(data, "solr", `server-${await sourceHash()}`);
  if ((await stat(folder).catch(() => undefined)) === undefined) await installServer(folder, java, log);
  const libraries = await readdir(join(folder, "lib"));
  const [core = ""] = libraries.filter((name) => name.startsWith("solr-core-"));
  return {
    java,
    classPath: [join(folder, "classes"), join(folder, "lib", "*")].join(delimiter),
    version: `${core.slice("solr-core-".length, -".jar".length)} on Java ${java.version}`,
  };
}

async function sourceHash(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of [pom, serverSource]) hash.update(await readFile(path));
  return hash.digest("hex").slice(0, 12);
}

/** Copies the artifacts of `pom.xml` and compiles `SolrServer.java` in a temporary folder, then renames the folder. */
async function installServer(folder: string, java: JavaRuntime, log: Log): Promise<void> {
  log("fetching Solr from Maven Central");
  const unfinished = `${folder}.unfinished`;
  const lib = join(unfinished, "lib");
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(lib, { recursive: true });
  try {
    const goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", `-DoutputDirectory=${lib}`];
    await execute("mvn", ["--batch-mode", "--quiet", "--file", pom, ...goal], {
      env: { ...process.env, JAVA_HOME: java.home },
    });
  } catch (thrown) {
    throw new PeerUnavailable(
      `Cannot fetch Solr: expected Maven (Debian: maven) with access to Maven Central. mvn: ${messageOf(thrown).split("\n")[0]}`,
    );
  }
  const jars = (await readdir(lib)).map((name) => join(lib, name));
  const compiler = jars.find((path) => path.includes("/ecj-"));
  if (compiler === undefined)
    throw new PeerUnavailable("Cannot compile SolrServer.java: expected the artifact ecj in pom.xml.");
  const classes = join(unfinished, "classes");
  await execute(java.command, ["-jar", compiler, "-17", "-cp", jars.join(delimiter), "-d", classes, serverSource]);
  await rename(unfinished, folder);
}
