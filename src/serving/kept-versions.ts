/** The versions of a lake that requests can name: those whose manifest exists, until `vacuum` removes it. */

import { stat, statfs } from "node:fs/promises";
import { type Refusal, refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import { compareVersions, filesOf, manifestPath, readManifest, versionsIn } from "../lake/manifest.ts";

export interface KeptVersion {
  readonly version: string;
  /** When its manifest was written, as Unix time in milliseconds. */
  readonly publishedAtMs: number;
  readonly files: number;
  /** The size of its files, most of which other versions share. */
  readonly bytes: number;
}

/** Returns the newest kept versions of a lake, the newest first, and how many are kept. */
export async function keptVersions(lake: string, limit: number): Promise<readonly [readonly KeptVersion[], number]> {
  const names = [...(await versionsIn(lake))].sort(compareVersions).reverse();
  const described = names.slice(0, limit).map(async (version) => {
    const files = filesOf(await readManifest(lake, version));
    const { mtimeMs: publishedAtMs } = await stat(manifestPath(lake, version));
    return { version, publishedAtMs, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  });
  return [await Promise.all(described), names.length];
}

/** Returns the size of the disk of a lake, and what of it is free. */
export async function diskOf(lake: string): Promise<{ readonly bytes: number; readonly freeBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(lake);
  return { bytes: bsize * blocks, freeBytes: bsize * bavail };
}

/** Refuses with `version_unavailable` if a version is not kept; `parameter` names where the request has it. */
export async function requireKept(lake: string, version: string, parameter: string): Promise<void> {
  const kept = await versionsIn(lake);
  if (!kept.includes(version)) throw unavailable(version, parameter, [...kept].sort(compareVersions));
}

function unavailable(version: string, parameter: string, kept: readonly string[]): Refusal {
  const oldest = kept[0] ?? "none";
  const newest = kept.at(-1) ?? oldest;
  return refuse("version_unavailable", { parameter, value: quoted(version), oldest, newest });
}
