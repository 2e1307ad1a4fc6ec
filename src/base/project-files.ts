/** The project's own files: schemas and reference data that belong to the program. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** The path of a file of the project, for example `data/reference/spellings.csv`. */
export function projectPath(path: string): string {
  return fileURLToPath(new URL(path, root));
}

/** The text of a file of the project. */
export function projectText(path: string): string {
  return readFileSync(projectPath(path), "utf8");
}
