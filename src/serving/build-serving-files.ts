/** Builds the serving files of a version that is about to be published, those that it does not have from the one before. */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256Of, syncToDisk } from "../base/files.ts";
import type { Session } from "../db/duckdb.ts";
import { ident, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "../lake/file-rows.ts";
import type { Manifest, ServingFile } from "../lake/manifest.ts";
import { filesIn, withRowNumbers } from "../lake/views.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { buildStatements, storage } from "./index/build.ts";
import { listingFiles } from "./listing-files.ts";
import { buildRowFile } from "./rows/row-file.ts";
import { checkFile, neededSources, servingFormats, usableFiles } from "./serving-files.ts";

/** Called as work goes on: what is being built, and how much of it is done. */
export type OnBuild = (done: number, all: number, what: string) => void;

/**
 * The manifest with all its serving files, of which those are built that are missing, of another format, or not what the manifest says.
 * `how` tells how closely the others are checked.
 */
export async function withServingFiles(
  writer: Writer,
  manifest: Manifest,
  how: "size" | "content",
  onBuild: OnBuild = () => {},
): Promise<Manifest> {
  const sound = await soundFiles(writer.lake, manifest, how);
  const has = new Set(sound.map(({ kind, source }) => `${kind} ${source}`));
  const lacking = neededSources(manifest).filter(({ kind, source }) => !has.has(`${kind} ${source}`));
  const built: ServingFile[] = [];
  const progress = progressOf(manifest, lacking, onBuild);
  for (const [number, { kind, source }] of lacking.entries()) {
    const path = `serving/${manifest.version}-${number}.${kind === "index" ? "duckdb" : "db"}`;
    const target = join(writer.lake, path);
    await mkdir(dirname(target), { recursive: true });
    await rm(target, { force: true });
    if (kind === "index") await buildIndex(writer, manifest, target, progress);
    else await buildRows(writer, manifest, { source, target }, progress);
    await syncToDisk(target);
    built.push({
      kind,
      source,
      path,
      format: servingFormats[kind],
      bytes: (await stat(target)).size,
      sha256: await sha256Of(target),
    });
  }
  if (built.length > 0) await syncToDisk(join(writer.lake, "serving"));
  return { ...manifest, serving: [...sound, ...built] };
}

/** The listed files that can go on serving. */
async function soundFiles(lake: string, manifest: Manifest, how: "size" | "content"): Promise<readonly ServingFile[]> {
  const sound: ServingFile[] = [];
  for (const file of usableFiles(manifest)) {
    const isSound = await checkFile(lake, file, how).then(
      () => true,
      () => false,
    );
    if (isSound) sound.push(file);
  }
  return sound;
}

/** Adds up what is done, in listings: an index and the rows of a file cost about as much for each. */
function progressOf(manifest: Manifest, lacking: readonly Pick<ServingFile, "kind" | "source">[], onBuild: OnBuild) {
  const active = filesIn(manifest.tables, "snapshots", manifest.as_of).reduce((sum, { rows }) => sum + rows, 0);
  const rowsOf = new Map(listingFiles(manifest).map(({ file }) => [file.sha256, file.rows]));
  const all = lacking.reduce(
    (sum, { kind, source }) => sum + (kind === "index" ? active : (rowsOf.get(source) ?? 0)),
    0,
  );
  let done = 0;
  return {
    begin: (what: string) => onBuild(done, all, what),
    add: (listings: number, what: string) => {
      done += listings;
      onBuild(done, all, what);
    },
  };
}

type Progress = ReturnType<typeof progressOf>;

async function buildIndex(
  { session, lake }: Writer,
  { tables, as_of }: Manifest,
  target: string,
  progress: Progress,
): Promise<void> {
  const what = "builds the search index";
  const files = filesIn(tables, "snapshots", as_of);
  const statements = buildStatements("index_in_the_making", withRowNumbers(files, lake));
  progress.begin(what);
  await withTables(
    session,
    (table) => rowsOfFiles(table, tables[table], lake),
    async () => {
      await session.run(sql`ATTACH ${literal(target)} AS index_in_the_making (${storage})`);
      try {
        for (const statement of statements) await session.run(statement);
      } finally {
        await session.run(sql`DETACH index_in_the_making`);
      }
    },
  );
  progress.add(
    files.reduce((sum, { rows }) => sum + rows, 0),
    what,
  );
}

/** Does some work beside the dimensions as temporary tables. */
async function withTables(
  session: Session,
  rowsOf: (table: "builds" | "dealers" | "tokens") => Sql,
  work: () => Promise<void>,
): Promise<void> {
  const tables = ["builds", "dealers", "tokens"] as const;
  try {
    for (const table of tables)
      await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE ${ident(table)} AS ${rowsOf(table)}`);
    await work();
  } finally {
    await session.drop(...tables);
  }
}

async function buildRows(
  { session, lake }: Writer,
  manifest: Manifest,
  { source, target }: { readonly source: string; readonly target: string },
  progress: Progress,
): Promise<void> {
  const what = "builds the row store";
  const file = listingFiles(manifest).find((one) => one.file.sha256 === source)?.file;
  if (file === undefined) return;
  let before = 0;
  await buildRowFile(session, { file, folder: lake }, target, (rows) => {
    progress.add(rows - before, what);
    before = rows;
  });
}
