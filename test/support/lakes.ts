/** Lakes for a test: in a folder of their own that goes when the test has ended. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Row } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project.ts";
import type { Account } from "../../src/ingest/account.ts";
import { deliveriesAt } from "../../src/ingest/delivery.ts";
import { type IngestOptions, ingest } from "../../src/ingest/ingest.ts";
import { openForAnalysts } from "../../src/lake/analysts.ts";

/** What a folder can be tied to: a test, or a whole file's `after`. */
export interface Scope {
  after(work: () => Promise<void>): void;
}

/** A scope for what all tests of a file share. */
export const wholeFile: Scope = { after: (work) => after(work) };

/** An empty folder that is removed when the scope ends. */
export async function temporaryFolder(scope: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-"));
  scope.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The hand-made sample delivery of two days. */
export const samplePath = projectPath("data/sample");

export interface Filled {
  readonly lake: string;
  readonly accounts: readonly Account[];
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
): Promise<readonly Account[]> {
  return ingest(lake, await deliveriesAt(path, day ?? options.mapping?.day), options);
}

/** The rows of a query over a lake's views, as an analyst would ask. */
export function ask(lake: string, query: string): Promise<readonly Row[]> {
  return openForAnalysts(lake, {}, async (run) => (await run(query)).rows);
}
