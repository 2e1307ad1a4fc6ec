/** Feeds in a folder of this machine, such as one that dealers upload to. Links in it are not followed: they could lead anywhere. */
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound } from "../../base/files.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import { type FeedServer, findFiles, type ListFolder } from "../feed-server.ts";
import type { FilePattern } from "../file-pattern.ts";
import type { FolderSettings } from "../sources-file.ts";

export function folderServer({ path: root }: FolderSettings, pattern: FilePattern): FeedServer {
  const listFolder: ListFolder = async (folder) => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    const used = entries.filter((entry) => entry.isFile() || entry.isDirectory());
    const listed = used.map(async (entry) => {
      const found = await lstat(join(root, folder, entry.name)).catch((thrown: unknown) => {
        if (!isNotFound(thrown)) throw thrown;
      });
      if (found === undefined) return [];
      return [{ name: entry.name, isFolder: entry.isDirectory(), bytes: found.size, modifiedMs: found.mtimeMs }];
    });
    return (await Promise.all(listed)).flat();
  };
  const readable = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown: unknown) => {
      throw thrown instanceof UserError ? thrown : new UserError(messageOf(thrown));
    });
  return {
    list: () => readable(findFiles(pattern, listFolder)),
    open: async (file) => {
      const handle = await readable(open(join(root, file.path), constants.O_RDONLY | constants.O_NOFOLLOW));
      return { ...file, content: handle.createReadStream() };
    },
  };
}
