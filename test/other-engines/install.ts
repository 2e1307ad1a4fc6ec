/** Installs the other engines and the Iceberg runtime of Spark into `.venv` one by one; the tests of an engine that cannot be installed are skipped. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { icebergArtifact, icebergJar } from "./iceberg-jar.ts";

const environment = projectPath(".venv");
const requirements = projectText("test/other-engines/requirements.txt").trim().split("\n");

const run = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: "inherit" }).status === 0;

if (!existsSync(`${environment}/bin/python`) && !run("python3", "-m", "venv", environment))
  process.stderr.write("python3 -m venv failed: the tests of other engines will be skipped.\n");
else
  for (const requirement of requirements)
    if (!run(`${environment}/bin/python`, "-m", "pip", "install", "--quiet", requirement))
      process.stderr.write(`${requirement} was not installed: its tests will be skipped.\n`);

if (!existsSync(icebergJar)) {
  const maven = (goal: string, ...options: readonly string[]): boolean =>
    run("mvn", "-q", "-B", goal, `-Dartifact=${icebergArtifact}`, ...options);
  const isInstalled =
    maven("dependency:get", "-Dtransitive=false") &&
    maven("dependency:copy", `-DoutputDirectory=${dirname(icebergJar)}`);
  if (!isInstalled) process.stderr.write(`${icebergArtifact} was not installed: its tests will be skipped.\n`);
}
