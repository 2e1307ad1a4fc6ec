/** Runs builds of past indexes in child processes, one at a time, until it is stopped. */
import { text } from "node:stream/consumers";
import { UserError } from "../../base/user-error.ts";
import { startProcess } from "../../base/worker-threads.ts";
import type { PastBuild } from "./build-past-index.ts";

export class BuildRunner {
  isStopped = false;
  private kill: () => void = () => {};

  /** Runs a build. Throws a UserError if it fails or is stopped. */
  async run(build: PastBuild): Promise<void> {
    if (this.isStopped) throw stopped();
    const child = startProcess(new URL("./build-process.ts", import.meta.url), JSON.stringify(build));
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
      // Does not wait for the end of the process, which can take long on a busy machine because of its priority.
      this.kill = () => {
        child.kill("SIGKILL");
        child.unref();
        for (const stream of [child.stdin, child.stderr]) stream?.destroy();
        reject(stopped());
      };
    });
    const [code, message] = await Promise.all([ended, child.stderr === null ? "" : text(child.stderr)]);
    if (code !== 0) throw new UserError(message.trim() || "The build ended without an error message.");
  }

  /** Kills the running build. */
  stop(): void {
    this.isStopped = true;
    this.kill();
  }
}

const stopped = (): UserError => new UserError("The service stops.");
