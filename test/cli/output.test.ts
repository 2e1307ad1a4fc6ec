/** Standard output and standard error that are full, not read, or closed. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { programPath } from "../../src/base/project-files.ts";
import { drainTimeoutMs } from "../../src/http/limits.ts";
import { eventually, parseLog, type ServeProcess, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, samplePath, smallDisk, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const serve = ["serve", "--port", "0", "--lake", lake];

const requests = 700;
const lineBytes = 2000;

/** Sends requests whose log lines have together several times the size of the log's buffer; fails unless all are answered. */
async function sendManyRequests({ url }: ServeProcess): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const send = (): Promise<number | undefined> =>
    new Promise((answered, failed) => {
      get(`${url}/healthz?${"x".repeat(lineBytes)}`, { agent }, (response) => {
        response.resume().once("end", () => answered(response.statusCode));
      }).on("error", failed);
    });
  const statuses = await Promise.all(Array.from({ length: requests }, send));
  agent.destroy();
  assert.deepEqual([...new Set(statuses)], [200]);
}

async function assertEndsSoon(service: ServeProcess): Promise<void> {
  const terminatedAtMs = performance.now();
  service.terminate();
  assert.equal((await service.ended).code, 0);
  assert.ok(performance.now() - terminatedAtMs < drainTimeoutMs / 2);
}

/** Fails unless a log reports its dropped lines once and lacks exactly those. */
function assertReportsDropped(log: string): void {
  const lines = parseLog(log);
  const reports = lines.filter(({ msg }) => msg === "log lines dropped");
  assert.equal(reports.length, 1);
  const kept = lines.filter(({ msg }) => msg === "request").length;
  assert.equal(kept + Number(reports[0]?.lines), requests);
  assert.ok(log.length < 2 ** 21, `${log.length} bytes were kept`);
}

describe("the service continues, with bounded memory, and stops on SIGTERM", { concurrency: true }, () => {
  test("while its log is on a full disk; once there is space, it reports what it dropped", {
    skip: skipInShortRun,
  }, async (scope) => {
    const disk = await smallDisk(scope, "4m");
    const log = disk === undefined ? "/dev/full" : join(disk, "log");
    const stderr = openSync(log, "a");
    const service = await startServing(scope, serve, { stderr });
    closeSync(stderr);
    if (disk !== undefined) execFileSync("sh", ["-c", `head -c 10M /dev/zero > ${disk}/ballast 2> /dev/null || true`]);
    await sendManyRequests(service);
    if (disk !== undefined) {
      rmSync(join(disk, "ballast"));
      await eventually("reported", async () => readFileSync(log, "utf8").includes("log lines dropped"));
      assertReportsDropped(readFileSync(log, "utf8"));
    }
    await assertEndsSoon(service);
  });

  test("while its log goes to a pipe that is not read; once it is, it reports what it dropped", async (scope) => {
    const fifo = join(await temporaryFolder(scope), "fifo");
    execFileSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    onScopeEnd(scope, async () => closeSync(reader));
    const stderr = openSync(fifo, "w");
    const service = await startServing(scope, serve, { stderr });
    closeSync(stderr);
    await sendManyRequests(service);
    const log: Buffer[] = [];
    await eventually("reported", async () => {
      log.push(...readAvailable(reader));
      return Buffer.concat(log).includes("log lines dropped");
    });
    assertReportsDropped(String(Buffer.concat(log)));
    await sendManyRequests(service);
    await assertEndsSoon(service);
  });

  test("while its log goes to a pipe whose reader has gone", async (scope) => {
    const fifo = join(await temporaryFolder(scope), "fifo");
    execFileSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const stderr = openSync(fifo, "w");
    const service = await startServing(scope, serve, { stderr });
    closeSync(stderr);
    closeSync(reader);
    await sendManyRequests(service);
    await assertEndsSoon(service);
  });
});

/** Yields the bytes that a pipe holds, without waiting. */
function* readAvailable(fd: number): Generator<Buffer> {
  const chunk = Buffer.alloc(65_536);
  try {
    for (let bytes = readSync(fd, chunk); bytes > 0; bytes = readSync(fd, chunk))
      yield Buffer.from(chunk.subarray(0, bytes));
  } catch {
    // Empty: EAGAIN.
  }
}

/** Runs a command line of `bash`, where `carquet` is this program; returns the exit code of each command in the pipe, and the errors. */
async function runPipe(line: string): Promise<string> {
  const script = `carquet() { '${process.execPath}' '${programPath}' "$@"; }; ${line}; echo "\${PIPESTATUS[*]}"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script]);
  return `${stdout.trim().split("\n").at(-1)}${stderr}`;
}

describe("a command whose reader has gone ends quietly, as SIGPIPE ends other programs", { concurrency: true }, () => {
  test("standard output", async () => {
    const query = "SELECT range, repeat('x', 1000) FROM range(2000)";
    assert.equal(await runPipe(`carquet sql "${query}" --lake ${lake} | head -n 1`), "141 0");
    assert.equal(await runPipe(`carquet sql "${query}" --lake ${lake} | true`), "141 0");
  });

  test("standard error", async (scope) => {
    const into = join(await temporaryFolder(scope), "lake");
    assert.equal(await runPipe(`carquet ingest ${samplePath} --lake ${into} 2>&1 >/dev/null | true`), "141 0");
  });

  test("a full disk is named", async () => {
    const result = await runPipe(`carquet sql "SELECT 1" --lake ${lake} > /dev/full`);
    assert.match(result, /^1carquet: Cannot write the output: ENOSPC: [^\n]+\.\n$/);
  });
});
