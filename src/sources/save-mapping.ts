/** Saves a mapping as that of a source: in the file that the source names, else in `mappings/` beside the sources, which then name it. */
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseDocument } from "yaml";
import { replaceFile } from "../base/files.ts";
import { printable, UserError } from "../base/user-error.ts";
import { describeSystemError } from "../ingest/feed/file-errors.ts";
import type { FileMapping } from "../ingest/mapping/rules.ts";
import { readSources } from "./sources-file.ts";

/** Returns the mappings of the sources in a file, as a service uses them. */
export const mappingsOfSources = (path: string) => ({
  names: async () => (await readSources(path)).sources.map(({ name }) => name),
  save: (name: string, content: FileMapping) => saveMapping(path, name, content),
});

async function saveMapping(path: string, name: string, content: FileMapping): Promise<string> {
  const { sources } = await readSources(path);
  const source = sources.find((one) => one.name === name);
  if (source === undefined)
    throw new UserError(
      `Unknown source "${printable(name, 40)}": expected one of ${sources.map((one) => one.name).join(", ")}.`,
    );
  const isOwn =
    source.mapping !== undefined && sources.every((one) => one === source || one.mapping !== source.mapping);
  const own = `mappings/${name}.json`;
  const target = isOwn && source.mapping !== undefined ? source.mapping : join(dirname(path), own);
  try {
    await mkdir(dirname(target), { recursive: true });
    await replaceFile(target, `${JSON.stringify(content, undefined, 2)}\n`);
    if (isOwn) return target;
    const document = parseDocument(await readFile(path, "utf8"));
    document.setIn(["sources", name, "mapping"], own);
    document.deleteIn(["sources", name, "preset"]);
    await replaceFile(path, String(document));
    return target;
  } catch (thrown) {
    throw new UserError(`${printable(target)}: ${describeSystemError(thrown)}.`);
  }
}
