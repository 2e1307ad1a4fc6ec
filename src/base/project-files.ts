/** Finds and reads files of this project by their path from its root: schemas, reference data, `package.json`. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the nearest folder with a `package.json`: the compiled program lies deeper than its sources. */
function findRoot(folder: URL): URL {
  return existsSync(new URL("package.json", folder)) ? folder : findRoot(new URL("../", folder));
}

const root = findRoot(new URL("./", import.meta.url));

/** Returns the absolute path of a project file such as `data/reference/spellings.csv`. */
export function projectPath(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** The path of the command-line program, which Node.js runs without options. */
export const programPath: string = projectPath("bin/carquet.cjs");

export function projectText(path: string): string {
  return readFileSync(projectPath(path), "utf8");
}
