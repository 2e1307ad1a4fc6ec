/** Files that operators map: kept in a temporary folder until the mapping is saved, newer files of the account take their place, or the process ends. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { removeAtExit } from "../../base/files.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { UserError } from "../../base/user-error.ts";
import { DuckDatabase } from "../../db/duckdb.ts";
import { slotPool } from "../../db/fair-pool.ts";
import { jobUntil } from "../../db/job.ts";
import { interruptible } from "../../db/session-pool.ts";
import { withScratch } from "../../ingest/documents/prepared-files.ts";
import { defaultFeedLimits, type FeedLimits } from "../../ingest/feed/feed-file.ts";
import { type MappedFile, type MapRequest, mapFile } from "../../ingest/proposal/map-file.ts";
import { fileAt } from "../../ingest/proposal/sample.ts";

/** Files that are kept of an account. */
const draftsMax = 4;
const limits: FeedLimits = { ...defaultFeedLimits, uncompressedBytes: 2 ** 28, rows: 1_000_000 };

/** Files that are mapped at once, those that wait, and how long both may take together: less than a response may. */
const mappedMax = 2;
const waitingMax = 16;
const mappingMs = 50_000;

const mappers = slotPool(mappedMax, waitingMax);

interface Draft {
  readonly accountId: string;
  readonly path: string;
}

/** By their ids, the oldest first. */
const drafts = new Map<string, Draft>();
let parent: Promise<string> | undefined;

/** Keeps a file; returns its id. */
export async function addDraft(accountId: string, file: File): Promise<string> {
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
  drafts.set(id, { accountId, path });
  const own = [...drafts].flatMap(([other, draft]) => (draft.accountId === accountId ? other : []));
  for (const old of own.slice(0, -draftsMax)) await removeDraft(old);
  return id;
}

async function createParent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-drafts-"));
  removeAtExit(folder);
  return folder;
}

export async function removeDraft(id: string): Promise<void> {
  const draft = drafts.get(id);
  drafts.delete(id);
  if (draft !== undefined) await rm(dirname(draft.path), { recursive: true, force: true });
}

interface MapTask {
  readonly accountId: string;
  readonly request: MapRequest;
  readonly day: string;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

/** Maps a file of an account as `carquet map` does. Throws a UserError if it is not kept, or cannot be mapped in time. */
export async function mapDraft(id: string, task: MapTask): Promise<MappedFile> {
  const { accountId, signal } = task;
  const draft = drafts.get(id);
  if (draft?.accountId !== accountId) throw new UserError("The file is not kept any more: upload it again.");
  const error = new UserError(`not mapped within ${mappingMs / 1000} seconds: expected a smaller file.`);
  return withTimeLimit({ ms: mappingMs, error, signal }, (limited) => {
    const job = jobUntil(limited, accountId);
    return job.race(mappers.use(job, () => mapPath(draft.path, task, limited)));
  });
}

const mapPath = (path: string, { request, day }: MapTask, signal: AbortSignal): Promise<MappedFile> =>
  DuckDatabase.use({ threads: 1, memoryLimit: "256MiB" }, (opened) =>
    interruptible(opened, signal, async (session) => {
      const file = await fileAt(path);
      return withScratch({ limits }, (scratch) => mapFile(session, file, request, { limits, scratch, day }));
    }),
  );
