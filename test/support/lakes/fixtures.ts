/** Copies of the fixtures of released formats. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { vacuum } from "../../../src/lake/maintenance/vacuum.ts";
import { withWriter } from "../../../src/lake/writer/writer.ts";
import type { Scope } from "../scope.ts";
import { createLake, temporaryFolder } from "./lakes.ts";

const folder = projectPath("test/fixtures");

/** The first day of the fixtures' feeds, and the days in their lake. */
export const [firstFixtureDay, keptFixtureDays] = ["2026-11-18", ["2026-11-23", "2026-11-24"]] as const;

/** Copies the lake of a format. */
export async function copyFixtureLake(scope: Scope, format: 1): Promise<string> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(join(folder, `format-${format}`, "lake"), lake, { recursive: true });
  return lake;
}

/** Copies the accounts file of a schema version. */
export async function copyFixtureAccounts(scope: Scope, version: 1 | 2 | 3): Promise<string> {
  const path = join(await temporaryFolder(scope), "accounts.db");
  await cp(join(folder, version === 1 ? "format-1" : `accounts-${version}`, "accounts.db"), path);
  return path;
}

/** Creates a lake in the current format from the fixtures' feeds, in the way the fixtures were created. */
export async function createCurrentLake(scope: Scope): Promise<string> {
  const { lake } = await createLake(scope, join(folder, "feeds"), { replayFrom: firstFixtureDay });
  const retention = { dailyDays: 1, weeklyDays: 0, versionDays: 0 };
  await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now(), 0));
  return lake;
}
