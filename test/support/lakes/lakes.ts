/** Lakes in temporary folders that are removed when the test ends. */
import { execFile, execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Row } from "../../../src/base/json.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { Sql } from "../../../src/db/sql.ts";
import type { DeliveryReport } from "../../../src/ingest/delivery-report.ts";
import { deliveriesAt, mappedDayOf } from "../../../src/ingest/feed/delivery.ts";
import { type IngestOptions, ingest } from "../../../src/ingest/ingest.ts";
import { viewsOf } from "../../../src/lake/analyst/analyst-views.ts";
import { currentManifest } from "../../../src/lake/manifest.ts";
import { onScopeEnd, type Scope } from "../scope.ts";
import { cachedFolder, hashOf } from "./cache.ts";

/** Creates an empty folder that is removed when the scope ends. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-"));
  onScopeEnd(scope, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Mounts an empty disk of a size until the scope ends; undefined without the permission to do so. */
export async function smallDisk(scope: Scope, size: string): Promise<string | undefined> {
  const disk = join(await temporaryFolder(scope), "small");
  await mkdir(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onScopeEnd(scope, async () => void execFileSync("umount", [disk]));
  return disk;
}

/** The hand-written sample deliveries of two days. */
export const samplePath = projectPath("data/sample");

export interface IngestedLake {
  readonly lake: string;
  readonly reports: readonly DeliveryReport[];
}

/** Copies a lake to a folder, which may exist. The `cp` of Node.js needs a tenth of a second for the files of a small one. */
export async function copyLake(lake: string, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true });
  await promisify(execFile)("cp", ["-RP", `${lake}/.`, copy]);
}

/** Copies a lake to a temporary folder; returns its path there. */
export async function temporaryCopy(scope: Scope, lake: string): Promise<string> {
  const copy = join(await temporaryFolder(scope), "lake");
  await copyLake(lake, copy);
  return copy;
}

/**
 * Creates a lake and ingests a path into it: copies the lake that was ingested from the same files by the same sources, if there is one.
 */
export async function createLake(
  scope: Scope,
  path = samplePath,
  options: IngestOptions & { day?: string } = {},
): Promise<IngestedLake> {
  const lake = join(await temporaryFolder(scope), "lake");
  const hasCallback = Object.values(options).some((option) => typeof option === "function");
  if (hasCallback) return { lake, reports: await ingestPath(lake, path, options) };
  const cached = await cachedFolder(hashOf([path], JSON.stringify(options)), async (folder) => {
    const reports = await ingestPath(join(folder, "lake"), path, options);
    await writeFile(join(folder, "reports.json"), JSON.stringify(reports));
  });
  await copyLake(join(cached, "lake"), lake);
  return { lake, reports: JSON.parse(await readFile(join(cached, "reports.json"), "utf8")) };
}

/** Ingests a path into a lake; returns a report per day. In one thread unless options say otherwise, which needs less processor time for a small lake. */
export async function ingestPath(
  lake: string,
  path: string,
  { day, ...options }: IngestOptions & { day?: string } = {},
): Promise<readonly DeliveryReport[]> {
  return ingest(lake, await deliveriesAt(path, day, mappedDayOf(options.mapping)), { threads: 1, ...options });
}

/** Returns the rows of a query over a lake's views. Unlike those of `carquet sql`, it may read and write other files. */
export type LakeQuery = (query: string) => Promise<readonly Row[]>;

export const queryLake = (lake: string, query: string, more: readonly Sql[] = []): Promise<readonly Row[]> => {
  const text = [query, ...more.map((view) => view.text)].join(" ");
  return withViews(
    lake,
    (views) => [...viewsNamedIn(text, views), ...more],
    (rows) => rows(query),
  );
};

/** Calls `work` with a function that runs queries over a lake's views, all in one database, because opening it takes longer than most queries. */
export const withLakeQueries = <T>(lake: string, work: (rows: LakeQuery) => Promise<T>): Promise<T> =>
  withViews(lake, (views) => views, work);

async function withViews<T>(
  lake: string,
  choose: (views: readonly Sql[]) => readonly Sql[],
  work: (rows: LakeQuery) => Promise<T>,
): Promise<T> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) throw new Error(`Lake ${lake} has no published version.`);
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    return await database.using(async (session) => {
      for (const view of choose(viewsOf(manifest, lake))) await session.run(view);
      return work((query) => session.rows(new Sql([query], [])));
    });
  } finally {
    database.close();
  }
}

/** Returns the views that a text names, and those over which they are: creating all takes most of the time of a query over a small lake. */
function viewsNamedIn(text: string, views: readonly Sql[]): readonly Sql[] {
  if (text.includes("duckdb_")) return views;
  const named: Sql[] = [];
  for (const view of [...views].reverse()) {
    const [, name = ""] = /^CREATE OR REPLACE (?:VIEW|MACRO) "?(\w+)/.exec(view.text) ?? [];
    if ([text, ...named.map((one) => one.text)].some((one) => new RegExp(`\\b${name}\\b`).test(one)))
      named.unshift(view);
  }
  return named;
}
