/** Files that operators map: kept in a temporary folder until the mapping is saved, newer files take their place, or the process ends. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { DuckDatabase } from "../../db/duckdb.ts";
import { withScratch } from "../../ingest/documents/prepared-files.ts";
import { defaultFeedLimits, type FeedLimits } from "../../ingest/feed/feed-file.ts";
import { type MappedFile, type MapRequest, mapFile } from "../../ingest/proposal/map-file.ts";
import { fileAt } from "../../ingest/proposal/sample.ts";

const draftsMax = 8;
const limits: FeedLimits = { ...defaultFeedLimits, uncompressedBytes: 2 ** 28, rows: 1_000_000 };

/** The paths of the files by their ids, the oldest first. */
const paths = new Map<string, string>();
let parent: Promise<string> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Keeps a file; returns its id. */
export async function addDraft(file: File): Promise<string> {
  parent ??= createParent();
  const folder = await mkdtemp(join(await parent, "draft-"));
  const path = join(
    folder,
    basename(file.name.replaceAll("\\", "/"))
      .replaceAll(/[^\w. -]/g, "_")
      .slice(-100)
      .replace(/^\.*$/, "feed"),
  );
  await writeFile(path, new Uint8Array(await file.arrayBuffer()));
  const id = randomUUID();
  paths.set(id, path);
  for (const old of [...paths.keys()].slice(0, -draftsMax)) await removeDraft(old);
  return id;
}

async function createParent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-drafts-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function removeDraft(id: string): Promise<void> {
  const path = paths.get(id);
  paths.delete(id);
  if (path !== undefined) await rm(dirname(path), { recursive: true, force: true });
}

/** Maps a file as `carquet map` does: one at a time, with one thread. Throws a UserError if it is not kept, or cannot be mapped. */
export function mapDraft(id: string, request: MapRequest, day: string): Promise<MappedFile> {
  const path = paths.get(id);
  if (path === undefined) throw new UserError("The file is not kept any more: upload it again.");
  const mapped = last.then(async () => {
    const database = await DuckDatabase.open({ threads: 1, memoryLimit: "512MiB" });
    try {
      const file = await fileAt(path);
      const map = (scratch: string) =>
        database.using((session) => mapFile(session, file, request, { limits, scratch, day }));
      return await withScratch({ limits }, map);
    } finally {
      database.close();
    }
  });
  last = mapped.catch(() => undefined);
  return mapped;
}
