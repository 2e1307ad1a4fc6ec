/**
 * Clients that common generators make of the document: each is generated without a warning, compiled, and called against a service on the
 * sample delivery. Every client must get what plain requests get.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";
import { callWithOpenapiFetch } from "./call.ts";
import { generators, python, pythonPath, unavailableReason } from "./tools.ts";

const document = projectPath("schemas/openapi.yaml");

type Run = (command: string, ...args: readonly string[]) => Promise<string>;

/** Returns a function that runs commands in a folder and returns their output; fails if one fails. */
function runnerIn(cwd: string, variables: Readonly<Record<string, string>>): Run {
  const run = promisify(execFile);
  const env = { ...process.env, ...variables };
  return async (command, ...args) => {
    const { stdout, stderr } = await run(command, args, { cwd, env, maxBuffer: 1 << 26 });
    return `${stdout}${stderr}`;
  };
}

/** Generates a client in an empty folder, compiles it, and returns the output of its program. */
type Call = (run: Run, folder: string) => Promise<string>;

const callInGo: Call = async (run, folder) => {
  await mkdir(join(folder, "carquet"));
  await copyFile(projectPath("test/clients/call.go"), join(folder, "call.go"));
  await run("go", "mod", "init", "client");
  const messages = await run(
    generators.oapiCodegen,
    ...["-generate", "types,client", "-package", "carquet", "-o", "carquet/carquet.go", document],
  );
  assert.equal(messages, "");
  await run("go", "mod", "tidy");
  await run("go", "build", "-o", "call", ".");
  return run(join(folder, "call"));
};

const callInPython: Call = async (run, folder) => {
  await writeFile(join(folder, "config.yaml"), "package_name_override: carquet_client\n");
  const options = ["--config", "config.yaml", "--meta", "none", "--output-path", "carquet_client"];
  await run(generators.openapiPythonClient, "generate", "--path", document, ...options, "--fail-on-warning");
  await copyFile(projectPath("test/clients/call.py"), join(folder, "call.py"));
  return run(python, "call.py");
};

/** Warnings of OpenAPI Generator that lose nothing: two of every document, and two about other formats than JSON. */
const harmlessWarnings = [
  /OpenAPI 3\.1 support is still in beta/,
  /Failed to get the schema name: null/,
  /Only response examples of the application\/json will be taken/,
  /No application\/json content media type found in response/,
];

const callInJava: Call = async (run, folder) => {
  const options = ["--library", "native", "--additional-properties=useSingleRequestParameter=true"];
  const parts = "--global-property=models,apis,supportingFiles,apiTests=false,modelTests=false";
  const messages = await run(
    "java",
    ...["-jar", generators.openapiGenerator, "generate", "-g", "java", "-i", document, "-o", folder],
    ...[...options, parts],
  );
  const warnings = messages.split("\n").filter((line) => /\b(WARN|ERROR)\b/.test(line));
  assert.deepEqual(
    warnings.filter((line) => !harmlessWarnings.some((pattern) => pattern.test(line))),
    [],
  );
  await copyFile(projectPath("test/clients/Call.java"), join(folder, "src/main/java/Call.java"));
  await run("mvn", "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath");
  return run("sh", "-c", `java -cp "target/classes${delimiter}$(cat classpath)" Call`);
};

/** Serves the sample delivery; returns the URL, a key, and the answers that each client must get. */
async function serveSample(scope: Scope) {
  const { lake } = await createLake(scope);
  const client = await startService(scope, lake);
  const key = client.customer.bearer.Authorization.replace("Bearer ", "");
  return { client, key, expected: JSON.parse(JSON.stringify(await callWithOpenapiFetch(client.url, key))) };
}

test("a TypeScript client of openapi-fetch gets the answers of the service", {
  skip: skipInShortRun,
}, async (scope) => {
  const { client, expected } = await serveSample(scope);
  const totalOf = async (query: string): Promise<number> =>
    (await client.getBody("searchListings", `/v1/listings?${query}`)).pagination.total;
  const { data } = await client.getBody("getFacets", "/v1/facets?facets=make&metric=price.median");
  assert.equal(expected.listings[0], await totalOf("make=Toyota,Honda"));
  assert.equal(expected.located, await totalOf("assembly_location=Georgetown,%20Kentucky|Dearborn,%20Michigan"));
  assert.ok(expected.listings[0] > 5 && expected.located > 0 && expected.ranges.length > 1);
  assert.deepEqual(
    expected.facets,
    data.facets.make?.map(({ value, count, metric }) => [value, count, metric?.value]),
  );
  assert.deepEqual(expected.missing, [404, "not_found"]);
  assert.deepEqual(expected.refused, [400, "incompatible_parameters"]);
});

for (const [name, generator, commands, call] of [
  ["Go client of oapi-codegen", "oapiCodegen", ["go"], callInGo],
  ["Python client of openapi-python-client", "openapiPythonClient", [], callInPython],
  ["Java client of OpenAPI Generator", "openapiGenerator", ["java", "mvn"], callInJava],
] as const) {
  const skip = skipInShortRun || unavailableReason(generator, ...commands);
  test(`a ${name} gets the answers of the service`, { skip }, async (scope) => {
    const { client, key, expected } = await serveSample(scope);
    const folder = await temporaryFolder(scope);
    const path = [pythonPath, process.env.PATH].join(delimiter);
    const run = runnerIn(folder, { CARQUET_URL: client.url, CARQUET_KEY: key, PATH: path });
    assert.deepEqual(JSON.parse(await call(run, folder)), expected);
  });
}
