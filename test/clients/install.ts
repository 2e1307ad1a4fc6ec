/**
 * Installs the client generators, oasdiff, Schemathesis, and the environment of the Python client into `.clients`, or those of them that are arguments; the
 * tests of a tool that cannot be installed are skipped.
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import { clientEnvironment } from "./python-environment.ts";
import { pythonEnvironments, type ToolName, toolPaths, toolVersions } from "./tools.ts";

type Step = readonly [command: string, ...args: string[]];

interface Installation {
  readonly steps: readonly Step[];
  readonly environment?: Readonly<Record<string, string>>;
}

const artifact = `org.openapitools:openapi-generator-cli:${toolVersions.openapiGenerator}`;

/** Installs Python packages into an environment that they share with no others, because such packages require different versions of others. */
const installInPython = (environment: string, ...requirements: readonly string[]): Installation => ({
  steps: [
    ["python3", "-m", "venv", environment],
    [join(environment, "bin/python"), "-m", "pip", "install", "--quiet", ...requirements],
  ],
});

/** Installs a program that is written in Go. */
const installFromGo = (tool: "oapiCodegen" | "oasdiff", module: string): Installation => ({
  steps: [["go", "install", `${module}@v${toolVersions[tool]}`]],
  environment: { GOBIN: dirname(toolPaths[tool]) },
});

const installations: Readonly<Record<ToolName | "pythonClient", Installation>> = {
  oapiCodegen: installFromGo("oapiCodegen", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"),
  oasdiff: installFromGo("oasdiff", "github.com/oasdiff/oasdiff"),
  pythonClient: installInPython(clientEnvironment, "-r", projectPath("test/clients/python/requirements.txt")),
  openapiPythonClient: installInPython(
    pythonEnvironments.openapiPythonClient,
    `openapi-python-client==${toolVersions.openapiPythonClient}`,
  ),
  openapiGenerator: {
    steps: [
      ["mvn", "-q", "-B", "dependency:get", `-Dartifact=${artifact}`, "-Dtransitive=false"],
      [
        ...(["mvn", "-q", "-B", "dependency:copy"] as const),
        `-Dartifact=${artifact}`,
        `-DoutputDirectory=${dirname(toolPaths.openapiGenerator)}`,
      ],
    ],
  },
  schemathesis: installInPython(pythonEnvironments.schemathesis, `schemathesis==${toolVersions.schemathesis}`),
};

const chosen = process.argv.slice(2);

for (const [tool, { steps, environment = {} }] of Object.entries(installations)) {
  if (chosen.length > 0 && !chosen.includes(tool)) continue;
  const env = { ...process.env, ...environment };
  if (!steps.every(([command, ...args]) => spawnSync(command, args, { stdio: "inherit", env }).status === 0))
    process.stderr.write(`${tool} was not installed: its tests will be skipped.\n`);
}
