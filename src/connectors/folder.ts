/** A folder of this machine: one that dealers upload to, or a published lake on a mounted share. */
import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { isNotFound } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { type Connector, type FolderEntry, findFiles, type OpenedFile } from "./connector.ts";

/** Returns the connector of a folder. Lists no links: they could lead anywhere. Refuses to read files outside the folder, and irregular ones. */
export function folderConnector(root: string): Connector {
  const locationOf = (path: string): string => join(root, path);
  return {
    locationOf,
    async list(pattern) {
      try {
        return await findFiles(pattern, (folder) => entriesOf(locationOf(folder)));
      } catch (thrown) {
        throw thrown instanceof UserError ? thrown : new UserError(messageOf(thrown));
      }
    },
    async read(path, { offset = 0 }, signal) {
      const location = locationOf(path);
      try {
        const [folder, target] = await Promise.all([realpath(root), realpath(location)]);
        if (!target.startsWith(folder.endsWith(sep) ? folder : folder + sep))
          throw new UserError(`${location}: links to ${target}: expected a file in ${root}.`);
        return await openFile(location, target, offset, signal);
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        throw thrown;
      }
    },
  };
}

async function entriesOf(folder: string): Promise<readonly FolderEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const used = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  const listed = used.map(async (entry) => {
    const found = await lstat(join(folder, entry.name)).catch((thrown: unknown) => {
      if (!isNotFound(thrown)) throw thrown;
    });
    if (found === undefined) return [];
    return [{ name: entry.name, isFolder: entry.isDirectory(), bytes: found.size, modifiedMs: found.mtimeMs }];
  });
  return (await Promise.all(listed)).flat();
}

/** Opens a regular file. Without waiting: the open of a pipe would wait for its writer, and could not be aborted. */
async function openFile(location: string, target: string, offset: number, signal: AbortSignal): Promise<OpenedFile> {
  const file = await open(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  const status = await file.stat();
  if (!status.isFile()) {
    await file.close();
    throw new UserError(`${location}: not a regular file: expected one.`);
  }
  const content = file.createReadStream({ start: offset, signal, highWaterMark: 1 << 20 });
  // Without a listener, an abort before the first byte is read would end the process.
  return { offset, bytes: status.size, tag: undefined, content: content.on("error", () => undefined) };
}
