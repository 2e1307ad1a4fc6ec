/** Finds and reads files of this project by their path from its root: schemas, reference data, `package.json`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Returns the absolute path of a project file such as `data/reference/spellings.csv`. */
export function projectPath(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** Returns the text of a project file. */
export function projectText(path: string): string {
  return readFileSync(projectPath(path), "utf8");
}
