/** Serves a lake with the program of a commit, to compare it with the working tree. */
import { execFile } from "node:child_process";
import { constants, cp, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import type { Log } from "../dataset/dataset.ts";
import type { Acquire } from "../resources.ts";
import { type ScriptServer, startScript, uncached } from "./carquet.ts";

const run = promisify(execFile);

export interface CommitOptions {
  readonly commit: string;
  readonly lake: string;
  /** An empty folder for the commit's files and its own copy of the lake, whose serving files it may build again. */
  readonly folder: string;
  readonly log: Log;
}

/** Serves until the scope ends, without a response cache. Throws a `UserError` for an unknown commit. */
export async function serveCommit(
  acquire: Acquire,
  { commit, lake, folder, log }: CommitOptions,
): Promise<ScriptServer> {
  const root = join(folder, "commit");
  const ownLake = join(folder, "lake");
  const accounts = join(folder, "accounts.db");
  log(`checking out ${commit}`);
  await acquire(checkOut(commit, root), () =>
    run("git", ["worktree", "remove", "--force", root], { cwd: projectPath(".") }),
  );
  await install(root, log);
  await cp(lake, ownLake, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  await run(process.execPath, ["bin/carquet.cjs", "index", "--lake", ownLake], { cwd: root });
  const { stdout: key } = await run(process.execPath, [...scriptOptions, createKey, accounts], { cwd: root });
  return acquire(startScript("bin/carquet.cjs", uncached(ownLake, accounts), key.trim(), root), (server) =>
    server.stop(),
  );
}

async function checkOut(commit: string, root: string): Promise<void> {
  try {
    await run("git", ["worktree", "add", "--detach", root, commit], { cwd: projectPath(".") });
  } catch (thrown) {
    throw new UserError(`Invalid value "${commit}" for --against: expected a commit. ${messageOf(thrown).trim()}`);
  }
}

/** Shares the installed packages if the commit has the same ones. */
async function install(root: string, log: Log): Promise<void> {
  const lock = "package-lock.json";
  const [ours, theirs] = await Promise.all([readFile(projectPath(lock), "utf8"), readFile(join(root, lock), "utf8")]);
  if (ours === theirs) return symlink(projectPath("node_modules"), join(root, "node_modules"));
  log("installing the packages of the commit");
  await run("npm", ["ci"], { cwd: root });
}

/** Creates the key with the commit's own code: its accounts file may have another version. */
const scriptOptions = ["--import", "tsx/esm", "--input-type=module", "--eval"];
const createKey = `
  import { createBenchKey } from "./bench/servers/api-key.ts";
  console.log(await createBenchKey(process.argv.at(-1)));`;
