/** Installs Solr from Maven Central into a folder, once for each version of the suite's files. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { projectPath } from "../../../src/base/project-files.ts";
import { messageOf } from "../../../src/base/user-error.ts";
import type { Say } from "../../dataset/dataset.ts";
import { Unavailable } from "../unavailable.ts";
import { findJava, type Java } from "./java.ts";

const execute = promisify(execFile);
const [pom, source] = ["pom.xml", "SolrServer.java"].map((name) => projectPath(join("bench/peers/solr", name))) as [
  string,
  string,
];

export interface Installation {
  readonly java: Java;
  readonly classPath: string;
  /** Of Solr and of Java. */
  readonly version: string;
}

/** Returns Solr and its Java; `data` is the folder that keeps both. Fails with `Unavailable` where they cannot be had. */
export async function installSolr(data: string, say: Say): Promise<Installation> {
  const java = await findJava(join(data, "solr", "java"), say);
  const folder = join(data, "solr", `server-${await fingerprint()}`);
  if ((await stat(folder).catch(() => undefined)) === undefined) await build(folder, java, say);
  const libraries = await readdir(join(folder, "lib"));
  const [core = ""] = libraries.filter((name) => name.startsWith("solr-core-"));
  return {
    java,
    classPath: [join(folder, "classes"), join(folder, "lib", "*")].join(delimiter),
    version: `${core.slice("solr-core-".length, -".jar".length)} on Java ${java.version}`,
  };
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of [pom, source]) hash.update(await readFile(path));
  return hash.digest("hex").slice(0, 12);
}

async function build(folder: string, java: Java, say: Say): Promise<void> {
  say("Solr is fetched from Maven Central");
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
    throw new Unavailable(
      `Solr cannot be fetched: install Maven (Debian: maven) and check that it reaches Maven Central. mvn: ${messageOf(thrown).split("\n")[0]}`,
    );
  }
  const jars = (await readdir(lib)).map((name) => join(lib, name));
  const compiler = jars.find((path) => path.includes("/ecj-"));
  if (compiler === undefined) throw new Unavailable("Solr's server cannot be compiled: pom.xml names no ecj.");
  const classes = join(unfinished, "classes");
  await execute(java.command, ["-jar", compiler, "-17", "-cp", jars.join(delimiter), "-d", classes, source]);
  await rename(unfinished, folder);
}
