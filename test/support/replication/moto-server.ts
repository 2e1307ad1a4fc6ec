/** moto's server of buckets, an implementation by others: in the full run, from the environment of the other engines. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { enginesPython } from "../../other-engines/python.ts";
import { skipInShortRun } from "../extent.ts";
import { onScopeEnd, type Scope } from "../scope.ts";

const program = join(dirname(enginesPython), "moto_server");

/** The `skip` option of tests that need the server. */
export const skipWithoutMoto = skipInShortRun || (existsSync(program) ? false : `no ${program}`);

/** Starts the server with the bucket `cars` on a free port until the scope ends. Returns the settings of a client's environment. */
export async function startMotoServer(scope: Scope): Promise<{ readonly env: Readonly<Record<string, string>> }> {
  const child = spawn(program, ["-H", "127.0.0.1", "-p", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "exit");
  onScopeEnd(scope, async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let endpoint: string | undefined;
  for await (const line of createInterface({ input: child.stderr })) {
    endpoint = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
    if (endpoint !== undefined) break;
  }
  child.stderr.resume();
  if (endpoint === undefined) throw new Error(`${program} did not start.`);
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const client = new S3Client({ endpoint, forcePathStyle: true, region: "us-east-1", credentials });
  await client.send(new CreateBucketCommand({ Bucket: "cars" }));
  client.destroy();
  return { env: { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test", CARQUET_S3_ENDPOINT: endpoint } };
}
