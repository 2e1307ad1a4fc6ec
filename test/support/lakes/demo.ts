/** The lake of `npm start`, with a fixed last day. */
import { join } from "node:path";
import { projectPath } from "../../../src/base/project-files.ts";
import { startServing } from "../command-line.ts";
import { withScope } from "../scope.ts";
import { cachedFolder, hashOf } from "./cache.ts";

let demo: Promise<string> | undefined;

/** Returns the demo lake, which `carquet start` fills once for all runs on the same sources. Callers copy it. */
export const demoLake = (): Promise<string> => {
  demo ??= createDemo();
  return demo;
};

async function createDemo(): Promise<string> {
  const fill = (folder: string): Promise<void> =>
    withScope(async (scope) => {
      const env = { CARQUET_LAKE: join(folder, "lake"), CARQUET_PORT: "0" };
      const service = await startServing(scope, ["start", "--end", "2026-11-19"], { env });
      service.terminate();
      await service.ended;
    });
  return join(await cachedFolder(hashOf([projectPath("src/cli/commands/start.ts")], "demo"), fill), "lake");
}
