/** Client generators, oasdiff and Schemathesis: the versions that the tests use, and the folder that they are installed into. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";

const folder = projectPath(".clients");

/** The newest versions that were tested. */
export const toolVersions = {
  oapiCodegen: "2.8.2",
  oasdiff: "1.37.0",
  openapiPythonClient: "0.29.1",
  openapiGenerator: "7.17.0",
  schemathesis: "4.32.5",
} as const;

export type ToolName = keyof typeof toolVersions;

/** The Python environments of the tools that are Python packages. */
export const pythonEnvironments = {
  openapiPythonClient: join(folder, "python"),
  schemathesis: join(folder, "schemathesis"),
} as const;

/** The folder of the executables of openapi-python-client, which calls others of them by name. */
export const pythonPath = join(pythonEnvironments.openapiPythonClient, "bin");

/** Executables and archives, by tool. */
export const toolPaths: Readonly<Record<ToolName, string>> = {
  oapiCodegen: join(folder, "bin/oapi-codegen"),
  oasdiff: join(folder, "bin/oasdiff"),
  openapiPythonClient: join(pythonPath, "openapi-python-client"),
  schemathesis: join(pythonEnvironments.schemathesis, "bin/schemathesis"),
  openapiGenerator: join(folder, `openapi-generator-cli-${toolVersions.openapiGenerator}.jar`),
};

interface Needs {
  /** Programs that must start. */
  readonly commands: readonly string[];
  /** Files that must exist, and what installs them. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Returns why a test of a tool cannot run here; false if it can. */
export function unavailableReason(tool: ToolName, { commands, files = {} }: Needs): string | false {
  if (!existsSync(toolPaths[tool])) return `${toolPaths[tool]} is not installed: npm run test:all installs it`;
  const missing = commands.find((command) => spawnSync(command, ["--help"]).error !== undefined);
  if (missing !== undefined) return `${missing} is not installed`;
  const absent = Object.keys(files).find((path) => !existsSync(path));
  return absent === undefined ? false : `${absent} does not exist: expected ${files[absent]}`;
}
