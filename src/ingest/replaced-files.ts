/** Files that newer ones of the same name have replaced, in a folder beside them: the n-th of a name is `<n>-<name>`. */
import { basename, dirname, join } from "node:path";
import { createFolder, folderEntries } from "../base/files.ts";

/** Returns the path in a folder for the next file of a name. Creates the folder. */
export async function pathForReplaced(folder: string, file: string): Promise<string> {
  const path = numberedPath(folder, file, 1 + (await lastNumber(folder, file)));
  await createFolder(dirname(path));
  return path;
}

/** Returns the path of the file of a name that was replaced last; undefined if none was. */
export async function lastReplacedFile(folder: string, file: string): Promise<string | undefined> {
  const number = await lastNumber(folder, file);
  return number === 0 ? undefined : numberedPath(folder, file, number);
}

const numberedPath = (folder: string, file: string, number: number): string =>
  join(folder, dirname(file), `${number}-${basename(file)}`);

async function lastNumber(folder: string, file: string): Promise<number> {
  const names = await folderEntries(join(folder, dirname(file)));
  const ofFile = names.filter((name) => name.replace(/^\d+-/, "") === basename(file));
  return Math.max(0, ...ofFile.map((name) => Number.parseInt(name, 10) || 0));
}
