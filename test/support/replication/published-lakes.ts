/** Lakes that are published and followed. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../../src/base/files.ts";
import { currentManifest, type Manifest, manifestPath, manifestText } from "../../../src/lake/manifest.ts";
import { activeListingsText, lakeFaults, unreferencedFiles } from "../lakes/contents.ts";
import { temporaryCopy, temporaryFolder } from "../lakes/lakes.ts";
import type { Scope } from "../scope.ts";

/** Returns the path of a lake that does not exist yet. */
export const newLake = async (scope: Scope): Promise<string> => join(await temporaryFolder(scope), "lake");

export const copyOf = temporaryCopy;

export const manifestOf = async (lake: string): Promise<Manifest> =>
  (await currentManifest(lake)) ?? assert.fail(`${lake} has no version`);

/** Fails unless a lake has the published version of another one, whole and without anything else. */
export async function assertEqualLakes(lake: string, source: string): Promise<void> {
  const found = await manifestOf(lake);
  const expected = await manifestOf(source);
  assert.deepEqual([found.version, found.tables], [expected.version, expected.tables]);
  assert.deepEqual([await lakeFaults(lake), await unreferencedFiles(lake)], [[], []]);
  assert.equal(await activeListingsText(lake), await activeListingsText(source));
  assert.ok(!existsSync(join(lake, "incoming")), "incoming files are left");
}

/** Replaces the published manifest. */
export const rewriteManifest = async (lake: string, changes: Partial<Manifest>): Promise<void> => {
  const manifest = await manifestOf(lake);
  await replaceFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, ...changes }));
};
