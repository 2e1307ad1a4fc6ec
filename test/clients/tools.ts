/** Client generators and the folder that they are installed into. */
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

/** Returns why a client cannot be generated and compiled; false if it can. */
export function unavailableReason(generator: keyof typeof generators, ...commands: readonly string[]): string | false {
  if (!existsSync(generators[generator]))
    return `${generators[generator]} is not installed: npm run test:all installs it`;
  const missing = commands.find((command) => spawnSync(command, ["--help"]).error !== undefined);
  return missing === undefined ? false : `${missing} is not installed`;
}
