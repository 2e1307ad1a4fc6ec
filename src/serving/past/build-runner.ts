/** Runs builds of past indexes in child processes, one at a time, until it is stopped. */
import type { ChildProcess } from "node:child_process";
import { text } from "node:stream/consumers";
import { UserError } from "../../base/user-error.ts";
import { startProcess } from "../../base/worker-threads.ts";
import type { PastBuild } from "./build-past-index.ts";

export class BuildRunner {
  isStopped = false;
  private child: ChildProcess | undefined;

  /** Runs a build. Throws a UserError if it fails or is stopped. */
  async run(build: PastBuild): Promise<void> {
    if (this.isStopped) throw new UserError("The service stops.");
    const child = startProcess(new URL("./build-process.ts", import.meta.url), JSON.stringify(build));
    this.child = child;
    try {
      const ended = new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", resolve);
      });
      const [code, message] = await Promise.all([ended, child.stderr === null ? "" : text(child.stderr)]);
      if (code !== 0) throw new UserError(message.trim() || "The build ended without an error message.");
    } finally {
      this.child = undefined;
    }
  }

  /** Kills the running build. */
  stop(): void {
    this.isStopped = true;
    this.child?.kill("SIGKILL");
  }
}
