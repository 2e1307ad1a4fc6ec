/** Lakes for a test: in a folder of their own that goes when the test has ended. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Row } from "../../../src/base/json.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import type { DeliveryReport } from "../../../src/ingest/delivery-report.ts";
import { deliveriesAt } from "../../../src/ingest/feed/delivery.ts";
import { type IngestOptions, ingest } from "../../../src/ingest/ingest.ts";
import { openAnalystDatabase } from "../../../src/lake/analyst-database.ts";
import { atEndOf, type Scope } from "../scope.ts";

/** An empty folder that is removed when the scope ends. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-"));
  atEndOf(scope, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The hand-made sample delivery of two days. */
export const samplePath = projectPath("data/sample");

export interface Filled {
  readonly lake: string;
  readonly accounts: readonly DeliveryReport[];
}

/** A lake filled from a path. */
export async function lakeOf(
  scope: Scope,
  path = samplePath,
  options: IngestOptions & { day?: string } = {},
): Promise<Filled> {
  const lake = join(await temporaryFolder(scope), "lake");
  return { lake, accounts: await ingestPath(lake, path, options) };
}

/** Ingests what is at a path into a lake. */
export async function ingestPath(
  lake: string,
  path: string,
  { day, ...options }: IngestOptions & { day?: string } = {},
): Promise<readonly DeliveryReport[]> {
  return ingest(lake, await deliveriesAt(path, day ?? options.mapping?.day), options);
}

/** The rows of a query over a lake's views, as an analyst would ask. */
export function ask(lake: string, query: string): Promise<readonly Row[]> {
  return openAnalystDatabase(lake, {}, async (run) => (await run(query)).rows);
}
