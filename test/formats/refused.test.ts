/** Files of another format or version are refused by name, with what was found, what was expected, and what to do. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { mappingOf } from "../../src/ingest/mapping/mapping.ts";
import { manifestPath, readManifest } from "../../src/lake/manifest.ts";
import { carquetHere } from "../support/command-line.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";

/** A file of the current format, written with another number. */
interface OtherFile {
  /** The arguments of a command that reads it. */
  readonly command: readonly string[];
  /** The error that names it. */
  readonly error: string;
}

/** What files have a number, and how one with another number is written. */
const kinds: Readonly<Record<string, (scope: Scope, found: number) => Promise<OtherFile>>> = {
  lake: async (scope, found) => {
    const { lake } = await createLake(scope, samplePath, { day: "2026-11-18", hasServingFiles: false });
    const path = manifestPath(lake, "2026-11-18.1");
    await writeFile(path, JSON.stringify({ ...(await readManifest(lake, "2026-11-18.1")), format: found }));
    return {
      command: ["verify", "--lake", lake],
      error:
        `${path}: unsupported lake format ${found}: expected 1. ` +
        "Use the release of Carquet that wrote the lake, or ingest its feeds again into an empty folder.",
    };
  },
  mapping: async (scope, found) => {
    const path = join(await temporaryFolder(scope), "cars.json");
    const content = { fields: { vin: "vin" }, dealer: { key: ["seller"], fields: { name: "seller" } } };
    assert.doesNotThrow(() => mappingOf({ version: 1, ...content }, path));
    await writeFile(path, JSON.stringify({ version: found, ...content }));
    return {
      command: ["ingest", samplePath, "--lake", `${path}.lake`, "--mapping", path],
      error:
        `${path}: unsupported mapping version ${found}: expected 1. ` +
        "Write the mapping again as docs/mappings.md describes, or with carquet map.",
    };
  },
};

for (const [kind, write] of Object.entries(kinds))
  for (const found of [0, 2])
    test(`a ${kind} of version ${found} is refused by name`, async (t) => {
      const { command, error } = await write(t, found);
      const { code, err } = await carquetHere(command);
      assert.deepEqual([code, err], [1, `carquet: ${error}\n`]);
    });
