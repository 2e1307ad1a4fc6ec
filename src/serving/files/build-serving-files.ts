/**
 * Builds the serving files of a version that is about to be published, reusing intact files of the previous version.
 *
 * Runs in the writer before the version is published. A process that opens a version without some of them has them built outside the lake.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { settleAll } from "../../base/concurrency.ts";
import { sha256Of, syncToDisk } from "../../base/files.ts";
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { interruptible } from "../../db/session-pool.ts";
import { fileFault } from "../../lake/listed-file.ts";
import type { Manifest, ServingFile } from "../../lake/manifest.ts";
import type { Writer } from "../../lake/writer/writer.ts";
import { buildIndex } from "../index/build.ts";
import { rowsIn, rowsToIndex } from "../index/indexed-rows.ts";
import { buildRowFile } from "../rows/row-store.ts";
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
  const { lake } = writer;
  const intact: ServingFile[] = [];
  for (const file of usableFiles(manifest)) if ((await fileFault(lake, file, check)) === undefined) intact.push(file);
  const present = new Set(intact.map(contentKeyOf));
  const needed = neededFiles(manifest);
  const missing = needed.filter((file) => !present.has(contentKeyOf(file)));
  if (missing.length === 0) return { ...manifest, serving: intact };
  const onRows = createProgress(missing, onBuild);
  const first = firstFreeNumber(manifest);
  const files = missing.map((file, index) => ({
    ...file,
    path: `serving/${manifest.version}-${first + index}.${file.kind === "index" ? "duckdb" : "db"}`,
  }));
  const ofKind = (kind: NeededFile["kind"]): readonly NewFile[] => files.filter((file) => file.kind === kind);
  await mkdir(join(lake, "serving"), { recursive: true });
  // A search index keeps the engine busy, row files this thread; so the two are built side by side.
  const built = await writer.database.using((session) =>
    settleAll([
      buildFiles(writer, manifest, ofKind("index"), onRows),
      buildFiles({ lake, session }, manifest, ofKind("rows"), onRows),
    ]),
  );
  await syncToDisk(join(lake, "serving"));
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

/** Measures progress in rows: one costs about the same in an index and in a row file. Returns the function that more rows are reported to. */
function createProgress(missing: readonly NeededFile[], onBuild: OnBuild): (rows: number) => void {
  const total = missing.reduce((sum, { kind, of }) => sum + (kind === "index" ? rowsIn(of) : of.file.rows), 0);
  let done = 0;
  const add = (rows: number): void => {
    done += rows;
    onBuild(done, total, "building search index and row store");
  };
  add(0);
  return add;
}

type LakeSession = Pick<Writer, "lake" | "session">;

/** Builds serving files one after another and syncs them to disk. */
async function buildFiles(
  writer: LakeSession,
  manifest: Manifest,
  files: readonly NewFile[],
  onRows: (rows: number) => void,
): Promise<readonly ServingFile[]> {
  const built: ServingFile[] = [];
  for (const file of files) {
    const { kind, source, path } = file;
    const target = join(writer.lake, path);
    await buildAt(writer, manifest, file, target, onRows);
    await syncToDisk(target);
    const { size: bytes } = await stat(target);
    built.push({ kind, source, path, format: servingFormats[kind], bytes, sha256: await sha256Of(target) });
  }
  return built;
}

/** Builds a serving file. Replaces one that an interrupted build left at the path. */
async function buildAt(
  { lake, session }: LakeSession,
  { tables }: Manifest,
  needed: NeededFile,
  target: string,
  onRows: (rows: number) => void = () => undefined,
): Promise<void> {
  await rm(target, { force: true });
  if (needed.kind === "rows") return buildRowFile(session, { ...needed.of, folder: lake }, target, onRows);
  const order = { tables, folder: lake, path: target };
  await buildIndex(session, rowsToIndex(needed.of, lake), order, (detach) => detach());
  onRows(rowsIn(needed.of));
}

/** Builds serving files of a published version in a folder outside the lake. */
export async function rebuildServingFiles(
  { lake, manifest, files, into }: RebuildOrder,
  options: DatabaseOptions,
  signal = new AbortController().signal,
): Promise<void> {
  await DuckDatabase.use(options, (opened) =>
    interruptible(opened, signal, async (session) => {
      for (const needed of files) {
        signal.throwIfAborted();
        await buildAt({ lake, session }, manifest, needed, rebuiltPath(into, needed));
      }
    }),
  );
}
