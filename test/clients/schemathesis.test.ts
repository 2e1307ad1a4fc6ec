/** Schemathesis derives valid and invalid requests from the document, and compares the responses of a service on the sample delivery with it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { toolPaths, unavailableReason } from "./tools.ts";

interface Outcome {
  readonly code: number | string | null | undefined;
  readonly output: string;
}

/** Runs Schemathesis in a folder, where it writes its files; returns its exit code and output. */
function runSchemathesis(folder: string, key: string, args: readonly string[]): Promise<Outcome> {
  const options = { cwd: folder, env: { ...process.env, CARQUET_KEY: key }, maxBuffer: 1 << 26 };
  const config = ["--config-file", projectPath("test/clients/schemathesis.toml"), "--no-color"];
  return new Promise((resolve) => {
    execFile(toolPaths.schemathesis, [...config, "run", ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: `${stdout}${stderr}` }),
    );
  });
}

const skip = skipInShortRun || unavailableReason("schemathesis", { commands: [] });

test("Schemathesis finds no response that contradicts the document", { skip }, async (scope) => {
  const { lake } = await createLake(scope);
  const client = await startService(scope, lake, { exports: { sqlDeadlineMs: 20_000 } });
  const key = client.customer.bearer.Authorization.replace("Bearer ", "");
  const examples = ["--max-examples", "10"];
  const api = [projectPath("schemas/openapi.yaml"), "--url", client.url];
  const { code, output } = await runSchemathesis(await temporaryFolder(scope), key, [...api, ...examples]);
  assert.equal(code, 0, output);
  // A customer without credit would have got nothing but errors.
  assert.equal((await client.get("/v1/listings?limit=1")).status, 200);
});

test("Schemathesis finds no response of a service without keys that contradicts its document", {
  skip,
}, async (scope) => {
  const { lake } = await createLake(scope);
  const { url } = await startService(scope, lake, { isOpen: true, exports: { sqlDeadlineMs: 20_000 } });
  const api = [`${url}/v1/openapi.json`, "--url", url];
  const { code, output } = await runSchemathesis(await temporaryFolder(scope), "none", [
    ...api,
    "--max-examples",
    "10",
  ]);
  assert.equal(code, 0, output);
});
