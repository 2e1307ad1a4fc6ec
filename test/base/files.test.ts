/** Folders and files that are on disk when the functions return. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";

test("a folder is created by a relative path, however short its name is", async (t) => {
  const cwd = await temporaryFolder(t);
  const script = `import(${JSON.stringify(projectPath("src/base/files.ts"))}).then(({ createFolder }) => createFolder("q/a"))`;
  const options = { cwd, timeout: 20_000, env: { ...process.env, NODE_PATH: projectPath("node_modules") } };
  execFileSync(
    process.execPath,
    ["--import", projectPath("node_modules/tsx/dist/esm/index.mjs"), "-e", script],
    options,
  );
  assert.ok(existsSync(join(cwd, "q/a")));
});
