/** Generates the client of a language in an empty folder, compiles it, and runs a program of `programs/` with it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { type GeneratedLanguage, generatedClients, kotlinVersions } from "./generated-clients.ts";
import { pythonPath, toolPaths } from "./tools.ts";

export const documentPath = projectPath("schemas/openapi.yaml");

export type Run = (command: string, ...args: readonly string[]) => Promise<string>;

/** Returns a function that runs commands in a folder and returns their output; fails if one fails. */
export function runnerIn(cwd: string, variables: Readonly<Record<string, string>>): Run {
  const run = promisify(execFile);
  const env = { ...process.env, ...variables };
  return async (command, ...args) => {
    const { stdout, stderr } = await run(command, args, { cwd, env, maxBuffer: 1 << 26 });
    return `${stdout}${stderr}`;
  };
}

/** Returns the output of the program: the results of its requests as JSON. */
type Call = (run: Run, folder: string) => Promise<string>;

/** Copies a file of `programs/` into the folder of a client. */
const copyProgram = (name: string, folder: string, path = name): Promise<void> =>
  copyFile(projectPath(`test/clients/programs/${name}`), join(folder, path));

/**
 * Warnings of OpenAPI Generator that lose nothing: two of every document, one about an example, two about other formats than JSON, one about names in Rust, which compile
 * and mostly stay as they were, and one about a name in PHP for the type of a parameter, which is a text there.
 */
const harmlessWarnings = [
  /OpenAPI 3\.1 support is still in beta/,
  /Failed to get the schema name: null/,
  /Ignoring complex example on request body/,
  /Only response examples of the application\/json will be taken/,
  /No application\/json content media type found in response/,
  /AbstractRustCodegen - \S+ cannot be used as an? [\w/ ]+\. Renamed to /,
  /AbstractPhpCodegen - \w+ \(reserved word\) cannot be used as model name/,
];

/** Runs OpenAPI Generator; fails if it warns of something that the client lacks. */
async function generate(run: Run, folder: string, language: GeneratedLanguage): Promise<void> {
  const parts = "--global-property=models,apis,supportingFiles,apiTests=false,modelTests=false";
  const messages = await run(
    "java",
    ...["-jar", toolPaths.openapiGenerator, "generate", "-i", documentPath, "-o", folder],
    ...[...generatedClients[language].options, parts],
  );
  const warnings = messages.split("\n").filter((line) => /\b(WARN|ERROR)\b/.test(line));
  assert.deepEqual(
    warnings.filter((line) => !harmlessWarnings.some((pattern) => pattern.test(line))),
    [],
  );
}

const callInGo: Call = async (run, folder) => {
  await mkdir(join(folder, "carquet"));
  await copyProgram("call.go", folder);
  await run("go", "mod", "init", "client");
  const output = ["-o", "carquet/carquet.go"];
  const messages = await run(toolPaths.oapiCodegen, ...generatedClients.Go.options, ...output, documentPath);
  assert.equal(messages, "");
  await run("go", "mod", "tidy");
  await run("go", "build", "-o", "call", ".");
  return run(join(folder, "call"));
};

const callInPython: Call = async (run, folder) => {
  await writeFile(join(folder, "config.yaml"), "package_name_override: carquet_client\n");
  const options = ["--config", "config.yaml", "--meta", "none", "--output-path", "carquet_client"];
  await run(toolPaths.openapiPythonClient, "generate", "--path", documentPath, ...options, "--fail-on-warning");
  await copyProgram("call.py", folder);
  return run(join(pythonPath, "python"), "call.py");
};

/** Compiles a Maven project and runs a class of it. */
async function runWithMaven(run: Run, mainClass: string, ...properties: readonly string[]): Promise<string> {
  const goals = ["compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath"];
  await run("mvn", "-q", "-B", ...goals, ...properties);
  return run("sh", "-c", `java -cp "target/classes${delimiter}$(cat classpath)" ${mainClass}`);
}

const callInJava: Call = async (run, folder) => {
  await generate(run, folder, "Java");
  await copyProgram("Call.java", folder, "src/main/java/Call.java");
  return runWithMaven(run, "Call");
};

const callInKotlin: Call = async (run, folder) => {
  await generate(run, folder, "Kotlin");
  await copyProgram("pom.xml", folder);
  await copyProgram("Call.kt", folder, "src/main/kotlin/Call.kt");
  const properties = Object.entries(kotlinVersions).map(([name, version]) => `-D${name}.version=${version}`);
  return runWithMaven(run, "CallKt", ...properties);
};

const callInRust: Call = async (run, folder) => {
  await generate(run, join(folder, "carquet"), "Rust");
  await copyProgram("Cargo.toml", folder);
  await copyProgram("call.rs", folder);
  await run("cargo", "build", "--quiet");
  return run(join(folder, "target/debug/call"));
};

const callInPhp: Call = async (run, folder) => {
  await generate(run, folder, "PHP");
  await copyProgram("call.php", folder);
  return run("php", "call.php");
};

export const callers: Readonly<Record<GeneratedLanguage, Call>> = {
  Go: callInGo,
  Python: callInPython,
  Java: callInJava,
  Kotlin: callInKotlin,
  Rust: callInRust,
  PHP: callInPhp,
};
