/** Installs the client generators, and the environment of the Python client, into `.clients`; the tests of one that cannot be installed are skipped. */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import {
  clientEnvironment,
  clientPython,
  generators,
  openapiGeneratorVersion,
  python,
  pythonEnvironment,
} from "./tools.ts";

interface Installation {
  readonly generator: string;
  readonly steps: readonly (readonly [command: string, ...args: string[]])[];
  readonly environment?: Readonly<Record<string, string>>;
}

const artifact = `org.openapitools:openapi-generator-cli:${openapiGeneratorVersion}`;

const installations: readonly Installation[] = [
  {
    generator: "oapi-codegen",
    steps: [["go", "install", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@latest"]],
    environment: { GOBIN: dirname(generators.oapiCodegen) },
  },
  {
    generator: "openapi-python-client",
    steps: [
      ["python3", "-m", "venv", pythonEnvironment],
      [python, "-m", "pip", "install", "--quiet", "openapi-python-client"],
    ],
  },
  {
    generator: "the environment of the Python client",
    steps: [
      ["python3", "-m", "venv", clientEnvironment],
      [clientPython, "-m", "pip", "install", "--quiet", "-r", projectPath("test/clients/python/requirements.txt")],
    ],
  },
  {
    generator: "openapi-generator",
    steps: [
      ["mvn", "-q", "-B", "dependency:get", `-Dartifact=${artifact}`, "-Dtransitive=false"],
      [
        "mvn",
        "-q",
        "-B",
        "dependency:copy",
        `-Dartifact=${artifact}`,
        `-DoutputDirectory=${dirname(generators.openapiGenerator)}`,
      ],
    ],
  },
];

for (const { generator, steps, environment = {} } of installations) {
  const env = { ...process.env, ...environment };
  if (!steps.every(([command, ...args]) => spawnSync(command, args, { stdio: "inherit", env }).status === 0))
    process.stderr.write(`${generator} was not installed: its tests will be skipped.\n`);
}
