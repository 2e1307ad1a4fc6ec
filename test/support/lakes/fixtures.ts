/** Copies of the fixtures of released formats. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import type { Scope } from "../scope.ts";
import { temporaryFolder } from "./lakes.ts";

const folder = projectPath("test/fixtures");

/** Copies the accounts file of a schema version. */
export async function copyFixtureAccounts(scope: Scope, version: 1 | 2 | 3 | 4 | 5): Promise<string> {
  const path = join(await temporaryFolder(scope), "accounts.db");
  await cp(join(folder, version === 1 ? "format-1" : `accounts-${version}`, "accounts.db"), path);
  return path;
}
