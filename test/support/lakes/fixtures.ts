/** Copies of the fixtures of released formats. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import type { Scope } from "../scope.ts";
import { createLake, temporaryFolder } from "./lakes.ts";

const folder = projectPath("test/fixtures");

/** The days in the lake of each format. */
export const fixtureDays = {
  1: ["2026-11-23", "2026-11-24"],
  2: ["18", "19", "20", "21", "22", "23", "24"].map((day) => `2026-11-${day}`),
} as const;

export async function copyFixtureLake(scope: Scope, format: 1 | 2): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(join(folder, `format-${format}`, "lake"), lake, { recursive: true, verbatimSymlinks: true });
  return lake;
}

/** Creates a lake in the current format from the fixtures' feeds, without what earlier releases did not fill. */
export async function createCurrentLake(scope: Scope): Promise<string> {
  return (await createLake(scope, join(folder, "feeds"), { fillsFromVins: false })).lake;
}
