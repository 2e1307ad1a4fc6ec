/** The Python environment in which the Python client is built and tested. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";

/** Python with the build backend, the type checker and the optional libraries of the Python client. */
export const clientEnvironment: string = projectPath(".clients/python-client");
export const clientPython: string = join(clientEnvironment, "bin/python");

/** Returns why the Python client cannot be built and tested; false if it can. */
export function clientUnavailableReason(): string | false {
  if (!existsSync(clientPython)) return `${clientPython} is not installed: npm run test:all installs it`;
  const modules = "duckdb, hatchling, httpx, ipykernel, matplotlib, mypy, nbclient, pandas, polars, pyarrow";
  const isComplete = spawnSync(clientPython, ["-c", `import ${modules}`]).status === 0;
  return isComplete ? false : `${clientPython} lacks one of ${modules}`;
}
