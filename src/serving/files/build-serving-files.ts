/**
 * Builds the serving files of a version that is about to be published, reusing intact files of the previous version.
 *
 * Runs in the writer before the version is published. A process that opens a version without some of them has them built outside the lake.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { settleAll } from "../../base/concurrency.ts";
import { sha256Of, syncToDisk } from "../../base/files.ts";
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { fileFault } from "../../lake/listed-file.ts";
import type { Manifest, ServingFile } from "../../lake/manifest.ts";
import type { Writer } from "../../lake/writer/writer.ts";
import { buildIndexFile, withDimensionTables } from "../index/index-file.ts";
import { type IndexedRows, rowsIn, rowsToIndex } from "../index/indexed-rows.ts";
import { type ListingFile, listingTableOf } from "../listing-files.ts";
import { buildRowFile } from "../rows/row-file.ts";
import {
  contentKeyOf,
  type NeededFile,
  neededFiles,
  type RebuildOrder,
  rebuiltPath,
  servingFormats,
  usableFiles,
} from "./serving-parts.ts";

/** Progress callback: listings done, listings in total, and the current task. */
type OnBuild = (done: number, total: number, task: string) => void;

type NewFile = NeededFile & Pick<ServingFile, "path">;

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
  const present = new Set(intact.map(contentKeyOf));
  const needed = neededFiles(manifest);
  const missing = needed.filter((file) => !present.has(contentKeyOf(file)));
  if (missing.length === 0) return { ...manifest, serving: intact };
  const progress = createBuildProgress(missing, onBuild);
  const first = firstFreeNumber(manifest);
  const numbered = missing.map((file, index) => ({
    ...file,
    path: `serving/${manifest.version}-${first + index}.${file.kind === "index" ? "duckdb" : "db"}`,
  }));
  const built = await writer.database.using((session) =>
    settleAll([
      buildFiles(writer, manifest, { files: numbered.filter(({ kind }) => kind === "index"), progress }),
      buildFiles({ ...writer, session }, manifest, { files: numbered.filter(({ kind }) => kind === "rows"), progress }),
    ]),
  );
  await syncToDisk(join(writer.lake, "serving"));
  const ranks = new Map(needed.map((file, index) => [contentKeyOf(file), index]));
  const rankOf = (file: ServingFile): number => ranks.get(contentKeyOf(file)) ?? needed.length;
  return { ...manifest, serving: [...intact, ...built.flat()].sort((one, other) => rankOf(one) - rankOf(other)) };
}

/** Returns the number after those of the listed files that are named after the version, which another release may have built. */
function firstFreeNumber({ version, serving }: Manifest): number {
  const prefix = `serving/${version}-`;
  const own = serving.filter(({ path }) => path.startsWith(prefix));
  return Math.max(-1, ...own.map(({ path }) => Number.parseInt(path.slice(prefix.length), 10))) + 1;
}

/** Returns the usable listed files that pass the check. */
async function intactFiles(
  lake: string,
  manifest: Manifest,
  check: "size" | "content",
): Promise<readonly ServingFile[]> {
  const intact: ServingFile[] = [];
  for (const file of usableFiles(manifest)) if ((await fileFault(lake, file, check)) === undefined) intact.push(file);
  return intact;
}

interface BuildOrder {
  readonly files: readonly NewFile[];
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
  needed: NewFile,
  progress: BuildProgress,
): Promise<ServingFile> {
  const { kind, source, path } = needed;
  const target = join(writer.lake, path);
  await mkdir(dirname(target), { recursive: true });
  await buildAt(writer, manifest, { needed, target }, progress);
  await syncToDisk(target);
  const { size } = await stat(target);
  return { kind, source, path, format: servingFormats[kind], bytes: size, sha256: await sha256Of(target) };
}

interface BuildTarget {
  readonly needed: NeededFile;
  readonly target: string;
}

async function buildAt(
  writer: LakeSession,
  manifest: Manifest,
  { needed, target }: BuildTarget,
  progress: BuildProgress,
): Promise<void> {
  await rm(target, { force: true });
  if (needed.kind === "index") await buildIndex(writer, manifest, { rows: needed.of, target }, progress);
  else await buildRows(writer, { of: needed.of, target }, progress);
}

/** Builds serving files of a published version in a folder outside the lake. */
export async function rebuildServingFiles(
  { lake, manifest, files, into }: RebuildOrder,
  options: DatabaseOptions,
): Promise<void> {
  const database = await DuckDatabase.open(options);
  try {
    await database.using(async (session) => {
      for (const needed of files)
        await buildAt({ lake, session }, manifest, { needed, target: rebuiltPath(into, needed) }, noProgress);
    });
  } finally {
    database.close();
  }
}

interface BuildProgress {
  /** Reports more listings as done. */
  readonly add: (listings: number) => void;
}

const noProgress: BuildProgress = { add: () => undefined };

type LakeSession = Pick<Writer, "lake" | "session">;

/** Measures progress in rows: one costs about the same in an index and in a row file. */
function createBuildProgress(missing: readonly NeededFile[], onBuild: OnBuild): BuildProgress {
  const total = missing.reduce((sum, { kind, of }) => sum + (kind === "index" ? rowsIn(of) : of.file.rows), 0);
  let done = 0;
  const add = (listings: number): void => {
    done += listings;
    onBuild(done, total, "building search index and row store");
  };
  add(0);
  return { add };
}

async function buildIndex(
  { session, lake }: LakeSession,
  manifest: Manifest,
  { rows, target }: { readonly rows: IndexedRows; readonly target: string },
  progress: BuildProgress,
): Promise<void> {
  await withDimensionTables(session, { tables: manifest.tables, folder: lake }, () =>
    buildIndexFile(session, rowsToIndex(rows, lake), target),
  );
  progress.add(rowsIn(rows));
}

async function buildRows(
  { session, lake }: LakeSession,
  { of, target }: { readonly of: ListingFile; readonly target: string },
  progress: BuildProgress,
): Promise<void> {
  let reported = 0;
  await buildRowFile(session, { ...of, table: listingTableOf(of), folder: lake }, target, (rows) => {
    progress.add(rows - reported);
    reported = rows;
  });
}
