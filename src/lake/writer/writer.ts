/**
 * Writing a lake: one writer at a time, files that are never overwritten, and a version that appears at once.
 *
 * Publish = files under new names, synced -> manifest, synced -> atomic rename of CURRENT, synced. A kill at any moment
 * leaves the old version or the new one, whole; what it leaves behind besides, the next writer removes.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join as joinPath, relative, resolve } from "node:path";
import { createFolder, replaceFile, sha256Of, syncToDisk } from "../../base/files.ts";
import { integerIn, isObject, type Row } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase, engineVersion, type Session } from "../../db/duckdb.ts";
import { faultOf, lockHolderOf } from "../../db/engine-faults.ts";
import { columnType, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { fingerprintOf } from "../file-rows.ts";
import {
  currentManifest,
  currentPath,
  currentVersion,
  type LakeFile,
  lakeFormat,
  type Manifest,
  manifestPath,
  noFiles,
  readManifest,
  versionsIn,
} from "../manifest.ts";
import { rowGroupSize, type TableName, tableNames, tableOf } from "../tables.ts";
import { viewsOf } from "../views.ts";

export interface Writer {
  readonly lake: string;
  readonly session: Session;
  /** The greatest sequence of each day that some file is named after: names are not used twice. */
  readonly sequences: ReadonlyMap<string, number>;
}

/** The lakes that this process is writing: the kernel's lock is per process. */
const beingWritten = new Set<string>();

/** Runs some work as the lake's only writer, on a database that spills into the lake's own folder. */
export async function withWriter<T>(
  lake: string,
  options: DatabaseOptions,
  work: (writer: Writer) => Promise<T>,
): Promise<T> {
  const folder = resolve(lake);
  if (beingWritten.has(folder)) throw new UserError(`${lake} is being written by this process already.`);
  await createFolder(joinPath(lake, "versions"));
  const database = await DuckDatabase.open({ ...options, temporaryFolder: joinPath(lake, "spill") });
  beingWritten.add(folder);
  try {
    return await database.using(async (session) => {
      await lock(session, lake);
      const { kept } = await removeOrphans(lake);
      try {
        return await work({ lake, session, sequences: sequencesIn(kept) });
      } finally {
        await rm(joinPath(lake, "spill"), { recursive: true, force: true });
      }
    });
  } catch (thrown) {
    if (faultOf(thrown) === "disk full") {
      throw new UserError(`${lake}: the disk is full; what was published stays as it was.`);
    }
    throw thrown;
  } finally {
    database.close();
    beingWritten.delete(folder);
  }
}

/**
 * Takes the lake's lock: a tiny database that is open for writing. The kernel gives the lock back when the process
 * ends, however it ends.
 */
async function lock(session: Session, lake: string): Promise<void> {
  const path = joinPath(lake, "writer.lock");
  const take = (): Promise<void> => session.run(sql`ATTACH ${literal(path)} AS writer_lock`);
  try {
    await take();
  } catch (thrown) {
    if (faultOf(thrown) === "busy")
      throw new UserError(`${lake} is being written by process ${lockHolderOf(thrown) ?? "?"}; one writer at a time.`);
    await rm(path, { force: true });
    await take();
  }
}

/** Tables that earlier releases wrote and this one does not read. */
const retiredTables = ["live_by_vin", "live_by_id", "past_by_vin", "past_by_id"];

/** The names that a writer gives to files; nothing else in a lake's folder is its to remove. */
const isOfLake = new RegExp(
  `^(${[...tableNames, ...retiredTables].join("|")})/([^/]+/)?\\d{4}-\\d{2}-\\d{2}\\.\\d+(-\\d+)?\\.parquet$` +
    "|^serving/\\d{4}-\\d{2}-\\d{2}\\.\\d+-\\d+\\.(duckdb|db)(\\.wal)?$|^versions/\\d{4}-\\d{2}-\\d{2}\\.\\d+\\.(json|sql)(\\.new)?$|^CURRENT\\.new$",
);

/**
 * Removes what a writer that was killed left behind: files and manifests that the published version does not lead to. Serving files stay
 * only as long as it lists them itself: a server that has one open keeps it.
 */
export async function removeOrphans(
  lake: string,
): Promise<{ readonly kept: ReadonlySet<string>; readonly removed: number }> {
  const kept = new Set<string>();
  if ((await currentVersion(lake)) === undefined && (await versionsIn(lake)).length > 1) {
    throw new UserError(`${lake}: there are versions, but CURRENT is lost; write the newest one's name into it.`);
  }
  const published = await currentManifest(lake);
  for (const { path } of published?.serving ?? []) kept.add(path);
  for (let at = published; at !== undefined; ) {
    kept.add(relative(lake, manifestPath(lake, at.version)));
    kept.add(relative(lake, viewsPath(lake, at.version)));
    for (const file of Object.values(at.tables).flat()) kept.add(file.path);
    const previous: string | null = at.previous;
    at =
      previous !== null && (await versionsIn(lake)).includes(previous) ? await readManifest(lake, previous) : undefined;
  }
  const orphans = (await readdir(lake, { recursive: true })).filter(
    (entry) => isOfLake.test(entry) && !kept.has(entry),
  );
  for (const orphan of orphans) await rm(joinPath(lake, orphan), { force: true });
  return { kept, removed: orphans.length };
}

function sequencesIn(paths: Iterable<string>): ReadonlyMap<string, number> {
  const sequences = new Map<string, number>();
  for (const path of paths) {
    const [, day = "", sequence = "0"] = /(\d{4}-\d{2}-\d{2})\.(\d+)(?:-\d+)?\.\w+$/.exec(path) ?? [];
    sequences.set(day, Math.max(sequences.get(day) ?? 0, Number(sequence)));
  }
  return sequences;
}

const viewsPath = (lake: string, version: string): string => joinPath(lake, "versions", `${version}.sql`);

/** What the rows of a table are sorted by. */
export const sortOrderOf = (table: TableName): Sql => join(tableOf(table).order.map((column) => ident(column)));

/**
 * Writes a query's rows as one file of a table, sorted and named after the version to come. Nothing is written, and
 * nothing given, when there are no rows.
 */
export async function writeFile(
  { lake, session }: Writer,
  version: string,
  table: TableName,
  partition: string | null,
  query: Sql,
  order: Sql,
): Promise<LakeFile | undefined> {
  const layout = tableOf(table);
  const folder = partition !== null ? `${table}/${layout.partition}=${partition}` : table;
  const path = `${folder}/${version}.parquet`;
  const target = joinPath(lake, path);
  await createFolder(dirname(target));
  const columns = Object.entries(layout.columns).map(
    ([column, of]) => sql`${ident(column)}::${columnType(of)} AS ${ident(column)}`,
  );
  const written = await session.row(sql`
    COPY (SELECT ${join(columns)} FROM (${query}) ORDER BY ${order})
    TO ${literal(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${integerLiteral(layout.rowGroupSize ?? rowGroupSize)}, RETURN_STATS)`);
  const rows = integerIn({ rows: Number(written?.count) }, "rows");
  if (rows === 0) {
    await rm(target);
    return undefined;
  }
  await syncToDisk(target);
  await syncToDisk(dirname(target));
  const { min, max } = rangeOf(written, layout.order[0] ?? "");
  const [bytes, sha256] = [(await stat(target)).size, await sha256Of(target)];
  return { path, partition, rows, bytes, sha256, min, max, schema: fingerprintOf(layout.columns) };
}

/** The least and the greatest value of a column, from what COPY reports of the file it wrote. */
function rangeOf(written: Row | undefined, column: string): { min: string | null; max: string | null } {
  const statistics = Array.isArray(written?.column_statistics) ? written.column_statistics : [];
  const ofColumn = statistics.find((entry) => isObject(entry) && entry.key === `"${column}"`);
  const pairs = isObject(ofColumn) && Array.isArray(ofColumn.value) ? ofColumn.value : [];
  const statistic = (key: string): string | null => {
    const pair = pairs.find((entry) => isObject(entry) && entry.key === key);
    return isObject(pair) && typeof pair.value === "string" ? pair.value : null;
  };
  return { min: statistic("min"), max: statistic("max") };
}

/** Makes a manifest the published version. Its files must have been written, and so synced, before. */
export async function publish(lake: string, manifest: Manifest): Promise<void> {
  const views = viewsOf(manifest, "").map((view) => `${view.text};`);
  await replaceFile(viewsPath(lake, manifest.version), `${views.join("\n\n")}\n`);
  await replaceFile(manifestPath(lake, manifest.version), `${JSON.stringify(manifest, null, 1)}\n`);
  await replaceFile(currentPath(lake), `${manifest.version}\n`);
}

/** The manifest that comes after another, for a day, with nothing changed yet. */
export function nextManifest({ sequences }: Writer, previous: Manifest | undefined, day: string): Manifest {
  const sequence = 1 + (sequences.get(day) ?? 0);
  return {
    format: lakeFormat,
    version: `${day}.${sequence}`,
    as_of: day,
    sequence,
    previous: previous?.version ?? null,
    engine: engineVersion,
    keys: previous?.keys ?? { builds: 0, dealers: 0, tokens: 0, options: 0 },
    tables: previous?.tables ?? noFiles,
    serving: previous?.serving ?? [],
  };
}
