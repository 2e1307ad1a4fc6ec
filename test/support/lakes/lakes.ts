/** Lakes in temporary folders that are removed when the test ends. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Row } from "../../../src/base/json.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import type { DeliveryReport } from "../../../src/ingest/delivery-report.ts";
import { deliveriesAt } from "../../../src/ingest/feed/delivery.ts";
import { type IngestOptions, ingest } from "../../../src/ingest/ingest.ts";
import { openAnalystDatabase } from "../../../src/lake/analyst-database.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

/** Creates an empty folder that is removed when the scope ends. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-"));
  onScopeEnd(scope, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The hand-written sample deliveries of two days. */
export const samplePath = projectPath("data/sample");

export interface IngestedLake {
  readonly lake: string;
  readonly reports: readonly DeliveryReport[];
}

/** Creates a lake and ingests a path into it. The lake of the sample is a copy of one that is ingested once per state of the sources. */
export async function createLake(
  scope: Scope,
  path = samplePath,
  options: IngestOptions & { day?: string } = {},
): Promise<IngestedLake> {
  const lake = join(await temporaryFolder(scope), "lake");
  if (path === samplePath && Object.keys(options).length === 0) return copySampleLake(lake);
  return { lake, reports: await ingestPath(lake, path, options) };
}

/** Copies the cached lake of the sample, and ingests it first if no test has for these sources. */
async function copySampleLake(lake: string): Promise<IngestedLake> {
  const cached = join(tmpdir(), `carquet-sample-${sourcesHash()}`);
  if (!existsSync(cached)) {
    const folder = await mkdtemp(`${cached}-`);
    const reports = await ingestPath(join(folder, "lake"), samplePath);
    await writeFile(join(folder, "reports.json"), JSON.stringify(reports));
    // Another test file may have been faster.
    await rename(folder, cached).catch(() => rm(folder, { recursive: true }));
  }
  await cp(join(cached, "lake"), lake, { recursive: true });
  return { lake, reports: JSON.parse(await readFile(join(cached, "reports.json"), "utf8")) };
}

/** Returns a hash of everything that an ingest of the sample depends on. */
function sourcesHash(): string {
  const hash = createHash("sha256");
  for (const folder of ["src", "schemas", "data/reference", "data/sample", "package-lock.json"].map(projectPath)) {
    const paths = statSync(folder).isFile() ? [""] : readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    for (const file of paths.map((path) => join(folder, path)))
      if (statSync(file).isFile()) hash.update(file).update(readFileSync(file));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Ingests a path into a lake; returns a report per day. */
export async function ingestPath(
  lake: string,
  path: string,
  { day, ...options }: IngestOptions & { day?: string } = {},
): Promise<readonly DeliveryReport[]> {
  return ingest(lake, await deliveriesAt(path, day ?? options.mapping?.day), options);
}

/** Returns the rows of a query over a lake's views, as an analyst runs it. */
export function queryLake(lake: string, query: string): Promise<readonly Row[]> {
  return openAnalystDatabase(lake, {}, async (run) => (await run(query)).rows);
}
