/** Files of operators whose mapping is being chosen: kept in a temporary folder until it is saved, a newer file takes their place, or the service ends. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { refuse } from "../../contract/errors.ts";
import { DuckDatabase } from "../../db/duckdb.ts";
import { withScratch } from "../../ingest/documents/prepared-files.ts";
import { defaultFeedLimits, type FeedLimits } from "../../ingest/feed/feed-file.ts";
import { type MappedFile, type MapRequest, mapFile } from "../../ingest/proposal/map-file.ts";
import { fileAt } from "../../ingest/proposal/sample.ts";

const draftsMax = 8;
const limits: FeedLimits = { ...defaultFeedLimits, uncompressedBytes: 2 ** 28, rows: 1_000_000 };

export class FeedDrafts {
  private folder: Promise<string> | undefined;
  /** The files by their ids, the oldest first. */
  private readonly files = new Map<string, string>();
  private last: Promise<unknown> = Promise.resolve();

  /** Keeps a file; returns its id. Throws a UserError if its name is not that of a feed file. */
  async add(name: string, content: Uint8Array): Promise<string> {
    this.folder ??= createFolder();
    const id = randomUUID();
    const folder = join(await this.folder, id);
    const path = join(
      folder,
      basename(name.replaceAll("\\", "/"))
        .replaceAll(/[^\w. -]/g, "_")
        .slice(-100),
    );
    await mkdir(folder);
    await writeFile(path, content);
    await fileAt(path);
    this.files.set(id, path);
    for (const old of [...this.files.keys()].slice(0, -draftsMax)) await this.remove(old);
    return id;
  }

  async remove(id: string): Promise<void> {
    const path = this.files.get(id);
    this.files.delete(id);
    if (path !== undefined) await rm(join(path, ".."), { recursive: true, force: true });
  }

  nameOf(id: string): string {
    const path = this.files.get(id);
    if (path === undefined)
      throw refuse("not_found", { what: "file, which is kept until newer ones or a restart", id });
    return basename(path);
  }

  /** Maps a file as `carquet map` does, one at a time, with one thread. */
  map(id: string, request: MapRequest, day: string): Promise<MappedFile> {
    this.nameOf(id);
    const path = this.files.get(id) ?? "";
    const mapped = this.last.then(async () => {
      const database = await DuckDatabase.open({ threads: 1, memoryLimit: "512MiB" });
      try {
        return await database.using((session) =>
          withScratch({ limits }, async (scratch) =>
            mapFile(session, await fileAt(path), request, { limits, scratch, day }),
          ),
        );
      } finally {
        database.close();
      }
    });
    this.last = mapped.catch(() => undefined);
    return mapped;
  }
}

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-drafts-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
