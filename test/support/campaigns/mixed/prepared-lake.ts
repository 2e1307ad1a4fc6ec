/**
 * A lake with several versions, each with its serving files, and the right answers of each version, which the Parquet source computes in
 * another process state than the service: it opens the versions before anything is damaged and uses no serving files.
 */
import assert from "node:assert/strict";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "../../../../src/lake/manifest.ts";
import { LakeVersion } from "../../../../src/serving/lake-version.ts";
import { forEachConcurrently } from "../../../oracle/compare/oracle.ts";
import { clientOf } from "../../implementations.ts";
import { cachedFolder, hashOf } from "../../lakes/cache.ts";
import { ingestPath, temporaryFolder } from "../../lakes/lakes.ts";
import type { Scope } from "../../scope.ts";
import { withNonce } from "./nonce.ts";
import { type RequestForm, requestForms } from "./request-forms.ts";

/** A request, and the text of its right answer by version. */
export interface CheckedRequest {
  readonly form: RequestForm;
  readonly answers: ReadonlyMap<string, string>;
}

export interface PreparedLake {
  readonly lake: string;
  /** The versions to publish, oldest first; the newest is published. */
  readonly versions: readonly string[];
  /** All versions that requests can name, oldest first. */
  readonly kept: readonly string[];
  /** Paths of serving files by version. */
  readonly servingFiles: ReadonlyMap<string, readonly string[]>;
  readonly requests: readonly CheckedRequest[];
}

export interface PreparedLakeOptions {
  /** Writes the feeds of several days; returns their folder. */
  readonly feeds: () => Promise<string>;
  /** Identifies the feeds: the prepared lake is cached. */
  readonly name: string;
  /** Number of versions to publish; earlier days are history. */
  readonly versions: number;
  /** Number of listings that requests look up. */
  readonly lookedUp: number;
  readonly seed: number;
}

/** Ingests day by day, and keeps the serving files of each day: a writer removes those of earlier versions. */
async function ingestDays(folder: string, feeds: string): Promise<void> {
  const lake = join(folder, "lake");
  const intact = join(folder, "serving");
  for (const day of (await readdir(feeds)).filter((name) => /^\d{4}-\d{2}-\d{2}$/.test(name)).sort()) {
    await ingestPath(lake, feeds, { day });
    await cp(join(lake, "serving"), intact, { recursive: true, verbatimSymlinks: true });
  }
  await cp(intact, join(lake, "serving"), { recursive: true, verbatimSymlinks: true });
}

/** Creates the lake and computes all right answers. */
export async function prepareLake(scope: Scope, options: PreparedLakeOptions): Promise<PreparedLake> {
  const cached = await cachedFolder(hashOf([], `versions ${options.name}`), async (folder) =>
    ingestDays(folder, await options.feeds()),
  );
  const folder = await temporaryFolder(scope);
  await cp(cached, folder, { recursive: true, verbatimSymlinks: true });
  const lake = join(folder, "lake");
  const published = (await readdir(join(lake, "versions"))).filter((name) => name.endsWith(".json")).sort();
  const all = published.map((name) => name.slice(0, -".json".length));
  const versions = all.slice(-options.versions);
  const since = all[0] ?? assert.fail("nothing is published");
  const pastDay = since.slice(0, "YYYY-MM-DD".length);
  const servingFiles = new Map<string, readonly string[]>();
  for (const version of versions) {
    const { serving } = await readManifest(lake, version);
    servingFiles.set(
      version,
      serving.map(({ path }) => path),
    );
  }
  // The oldest version that is published decides the requests. Others can be in service while it is damaged.
  const opened = [...versions, ...all.slice(0, -options.versions)];
  const requests = await answerAll(lake, opened, (version) => requestForms(version, { ...options, pastDay, since }));
  const isAnswered = ({ answers }: CheckedRequest): boolean => versions.every((version) => answers.has(version));
  return { lake, versions, kept: all, servingFiles, requests: requests.filter(isAnswered) };
}

/** Returns the requests with the answers of each version that answers them. The first version decides the requests. */
async function answerAll(
  lake: string,
  versions: readonly string[],
  formsOf: (first: LakeVersion) => Promise<readonly RequestForm[]>,
): Promise<readonly CheckedRequest[]> {
  let requests: readonly { readonly form: RequestForm; readonly answers: Map<string, string> }[] = [];
  for (const [index, name] of versions.entries()) {
    const version = await LakeVersion.open(lake, name, { hasServingFiles: false });
    try {
      if (index === 0) requests = (await formsOf(version)).map((form) => ({ form, answers: new Map() }));
      await forEachConcurrently(requests, async ({ form, answers }) => {
        const { status, body } = await clientOf(version).get(withNonce(form.path, 0));
        if (status === 200) answers.set(name, JSON.stringify(body));
      });
    } finally {
      version.close();
    }
  }
  return requests;
}
