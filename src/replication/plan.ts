/** The transfer plan: the files that a lake lacks of a version published elsewhere. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  filesOf,
  type LakeFile,
  type Manifest,
  readManifest,
  type ServingFile,
  tableFilesOf,
  versionsIn,
} from "../lake/manifest.ts";
import { neededFiles, usableFiles } from "../serving/files/serving-files.ts";
import { requireSameLake } from "./source-manifest.ts";

export interface TransferPlan {
  readonly missing: readonly (LakeFile | ServingFile)[];
  /** The serving files of the version after the transfer: those of the lake, and those to fetch. */
  readonly serving: readonly ServingFile[];
}

/** Returns the versions of a lake from the published one back, as far as their manifests exist. */
export async function versionChain(lake: string, published: Manifest | undefined): Promise<readonly Manifest[]> {
  const existing = new Set(await versionsIn(lake));
  const chain: Manifest[] = [];
  for (let at = published; at !== undefined; ) {
    chain.push(at);
    const previous: string | null = at.previous;
    at = previous !== null && existing.has(previous) ? await readManifest(lake, previous) : undefined;
  }
  return chain;
}

/**
 * Returns the plan for a lake whose versions are `chain`. Throws a UserError if the manifest lists a file that the lake has with another content.
 */
export async function planTransfer(
  lake: string,
  manifest: Manifest,
  chain: readonly Manifest[],
  place: string,
): Promise<TransferPlan> {
  requireSameLake(manifest, place, chain, lake);
  const known = new Map(chain.flatMap(filesOf).map((file) => [file.path, file]));
  const isPresent = async (file: LakeFile | ServingFile): Promise<boolean> =>
    known.get(file.path)?.sha256 === file.sha256 && (await hasSize(join(lake, file.path), file.bytes));
  const missing: (LakeFile | ServingFile)[] = [];
  for (const file of tableFilesOf(manifest)) if (!(await isPresent(file))) missing.push(file);
  const [local, offered] = [chain[0]?.serving ?? [], manifest.serving].map((files) =>
    usableFiles({ ...manifest, serving: files }),
  );
  const serving: ServingFile[] = [];
  for (const { kind, source } of neededFiles(manifest)) {
    const isNeeded = (file: ServingFile): boolean => file.kind === kind && file.source === source;
    const candidates = [...(local ?? []), ...(offered ?? [])].filter(isNeeded);
    const [present] = await filter(candidates, isPresent);
    const chosen = present ?? offered?.find(isNeeded);
    if (chosen === undefined) continue;
    serving.push(chosen);
    if (chosen !== present) missing.push(chosen);
  }
  return { missing, serving };
}

async function filter<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<readonly T[]> {
  const passed = await Promise.all(items.map(test));
  return items.filter((_, index) => passed[index]);
}

async function hasSize(path: string, bytes: number): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size === bytes,
    () => false,
  );
}
