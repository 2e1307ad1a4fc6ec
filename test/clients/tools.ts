/** Client generators, the environment of the Python client, and the folder that they are installed into. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";

const folder = projectPath(".clients");

/** The newest version that was tested; the repositories of Maven have no name for the newest one. */
export const openapiGeneratorVersion = "7.17.0";

/** Executables and archives, by generator. */
export const generators = {
  oapiCodegen: join(folder, "bin/oapi-codegen"),
  openapiPythonClient: join(folder, "python/bin/openapi-python-client"),
  openapiGenerator: join(folder, `openapi-generator-cli-${openapiGeneratorVersion}.jar`),
} as const;

/** The Python environment of openapi-python-client, and the folder of its executables. */
export const pythonEnvironment = join(folder, "python");
export const pythonPath = join(pythonEnvironment, "bin");
export const python = join(pythonPath, "python");

/** Python with the build backend, the type checker and the optional libraries of the Python client. */
export const clientEnvironment = join(folder, "python-client");
export const clientPython = join(clientEnvironment, "bin/python");

/** Returns why the Python client cannot be built and tested; false if it can. */
export function clientUnavailableReason(): string | false {
  if (!existsSync(clientPython)) return `${clientPython} is not installed: npm run test:all installs it`;
  const modules = "duckdb, hatchling, httpx, ipykernel, matplotlib, mypy, nbclient, pandas, polars, pyarrow";
  const isComplete = spawnSync(clientPython, ["-c", `import ${modules}`]).status === 0;
  return isComplete ? false : `${clientPython} lacks one of ${modules}`;
}

/** Returns why a client cannot be generated and compiled; false if it can. */
export function unavailableReason(generator: keyof typeof generators, ...commands: readonly string[]): string | false {
  if (!existsSync(generators[generator]))
    return `${generators[generator]} is not installed: npm run test:all installs it`;
  const missing = commands.find((command) => spawnSync(command, ["--help"]).error !== undefined);
  return missing === undefined ? false : `${missing} is not installed`;
}
