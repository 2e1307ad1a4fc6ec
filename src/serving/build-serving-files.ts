/**
 * Builds the serving files of a version that is about to be published, reusing intact files of the previous version.
 *
 * Runs in the writer before the version is published; the server never builds.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256Of, syncToDisk } from "../base/files.ts";
import type { Manifest, ServingFile } from "../lake/manifest.ts";
import { activeOn, positionedListings } from "../lake/market.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { buildIndexFile, withDimensionTables } from "./index/index-file.ts";
import { listingFiles } from "./listing-files.ts";
import { buildRowFile } from "./rows/row-file.ts";
import { checkFile, neededSources, servingFormats, usableFiles } from "./serving-files.ts";

/** Progress callback: listings done, listings in total, and the current task. */
export type OnBuild = (done: number, total: number, task: string) => void;

type SourceKey = Pick<ServingFile, "kind" | "source">;

/**
 * Returns the manifest with all serving files that the version needs. Listed files that fail the check (size, or size and SHA-256) are
 * rebuilt, as are missing ones and those of another format.
 */
export async function withServingFiles(
  writer: Writer,
  manifest: Manifest,
  check: "size" | "content",
  onBuild: OnBuild = () => {},
): Promise<Manifest> {
  const intact = await intactFiles(writer.lake, manifest, check);
  const present = new Set(intact.map(({ kind, source }) => `${kind} ${source}`));
  const missing = neededSources(manifest).filter(({ kind, source }) => !present.has(`${kind} ${source}`));
  if (missing.length === 0) return { ...manifest, serving: intact };
  const progress = createBuildProgress(manifest, missing, onBuild);
  const first = firstFreeNumber(manifest);
  const numbered = missing.map((needed, index) => ({
    ...needed,
    path: `serving/${manifest.version}-${first + index}.${needed.kind === "index" ? "duckdb" : "db"}`,
  }));
  const built = await writer.database.using((session) =>
    settleAll([
      buildFiles(writer, manifest, { files: numbered.filter(({ kind }) => kind === "index"), progress }),
      buildFiles({ ...writer, session }, manifest, { files: numbered.filter(({ kind }) => kind === "rows"), progress }),
    ]),
  );
  await syncToDisk(join(writer.lake, "serving"));
  return { ...manifest, serving: [...intact, ...built.flat()] };
}

/** Returns the number after those of the listed files that are named after the version, which another release may have built. */
function firstFreeNumber({ version, serving }: Manifest): number {
  const prefix = `serving/${version}-`;
  const own = serving.filter(({ path }) => path.startsWith(prefix));
  return Math.max(-1, ...own.map(({ path }) => Number.parseInt(path.slice(prefix.length), 10))) + 1;
}

/** Waits for all promises, then returns their values or throws the first error: nothing runs on a session that is closed afterwards. */
async function settleAll<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Returns the usable listed files that pass the check. */
async function intactFiles(
  lake: string,
  manifest: Manifest,
  check: "size" | "content",
): Promise<readonly ServingFile[]> {
  const intact: ServingFile[] = [];
  for (const file of usableFiles(manifest)) {
    const isIntact = await checkFile(lake, file, check).then(
      () => true,
      () => false,
    );
    if (isIntact) intact.push(file);
  }
  return intact;
}

interface BuildOrder {
  readonly files: readonly (SourceKey & Pick<ServingFile, "path">)[];
  readonly progress: BuildProgress;
}

/** Builds serving files one after another. The search index keeps the engine busy, row files this thread; so the two run side by side. */
async function buildFiles(
  writer: Writer,
  manifest: Manifest,
  { files, progress }: BuildOrder,
): Promise<readonly ServingFile[]> {
  const built: ServingFile[] = [];
  for (const file of files) built.push(await buildFile(writer, manifest, file, progress));
  return built;
}

/** Builds one serving file and syncs it to disk. Replaces a file that an interrupted build left at the path. */
async function buildFile(
  writer: Writer,
  manifest: Manifest,
  { kind, source, path }: SourceKey & Pick<ServingFile, "path">,
  progress: BuildProgress,
): Promise<ServingFile> {
  const target = join(writer.lake, path);
  await mkdir(dirname(target), { recursive: true });
  await rm(target, { force: true });
  if (kind === "index") await buildIndex(writer, manifest, target, progress);
  else await buildRows(writer, manifest, { source, target }, progress);
  await syncToDisk(target);
  const { size } = await stat(target);
  return { kind, source, path, format: servingFormats[kind], bytes: size, sha256: await sha256Of(target) };
}

interface BuildProgress {
  /** Reports more listings as done. */
  readonly add: (listings: number) => void;
}

/** Measures progress in listings: one listing costs about the same in the index and in a row file. */
function createBuildProgress(manifest: Manifest, missing: readonly SourceKey[], onBuild: OnBuild): BuildProgress {
  const active = activeOn(manifest, manifest.as_of).count;
  const rowsBySource = new Map(listingFiles(manifest).map(({ file, source }) => [source, file.rows]));
  const total = missing.reduce(
    (sum, { kind, source }) => sum + (kind === "index" ? active : (rowsBySource.get(source) ?? 0)),
    0,
  );
  let done = 0;
  const add = (listings: number): void => {
    done += listings;
    onBuild(done, total, "building search index and row store");
  };
  add(0);
  return { add };
}

async function buildIndex(
  { session, lake }: Writer,
  manifest: Manifest,
  target: string,
  progress: BuildProgress,
): Promise<void> {
  const active = activeOn(manifest, manifest.as_of);
  const listings = positionedListings(active, { folder: lake, hasDeliveries: false });
  await withDimensionTables(session, { tables: manifest.tables, folder: lake }, () =>
    buildIndexFile(session, listings, target),
  );
  progress.add(active.count);
}

async function buildRows(
  { session, lake }: Writer,
  manifest: Manifest,
  { source, target }: { readonly source: string; readonly target: string },
  progress: BuildProgress,
): Promise<void> {
  const inventory = listingFiles(manifest).find((listingFile) => listingFile.source === source)?.inventory;
  if (inventory === undefined) return;
  let reported = 0;
  await buildRowFile(session, { inventory, folder: lake }, target, (rows) => {
    progress.add(rows - reported);
    reported = rows;
  });
}
