/**
 * The next release: a copy of this program with a higher version, which its charges name in their notes.
 */
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { cachedFolder, hashOf } from "../lakes/cache.ts";

/** The files of the program. */
const copied = ["bin", "src", "schemas", "docs", "data/reference", "data/mappings", "package.json", "CHANGELOG.md"];

export const nextVersion = "99.0.0";

/** The differences from this release: a file, a text in it, and its replacement. */
const changes: readonly (readonly [path: string, before: RegExp, after: string])[] = [
  ["package.json", /"version": "[^"]+"/, `"version": "${nextVersion}"`],
  ["src/accounts/ledger/charging.ts", /price, key_id\)(?=\n +SELECT)/, "price, key_id, note)"],
  ["src/accounts/ledger/charging.ts", /\$\{keyId\}(?=\n +FROM)/, `\${keyId}, '${nextVersion}'`],
];

/** Returns the path of the program of the next release. */
export async function nextRelease(): Promise<string> {
  const folder = await cachedFolder(
    hashOf(
      copied.map((path) => projectPath(path)),
      // The folder has a link to the packages of this one.
      `next release of ${projectPath("node_modules")}`,
    ),
    async (created) => {
      for (const path of copied) {
        await mkdir(dirname(join(created, path)), { recursive: true });
        await cp(projectPath(path), join(created, path), { recursive: true });
      }
      await symlink(projectPath("node_modules"), join(created, "node_modules"));
      for (const [path, before, after] of changes) {
        const text = await readFile(join(created, path), "utf8");
        if (!before.test(text)) throw new Error(`${path}: expected a text that matches ${before}.`);
        await writeFile(join(created, path), text.replace(before, after));
      }
    },
  );
  return join(folder, "bin/carquet.cjs");
}
