/** Campaign `feeds`: ingests of mutated feed files, in child processes, which a crash would end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { isObject } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import type { Campaign } from "./campaign.ts";

/** A process runs this many draws, and may take this long for one. */
const drawsPerProcess = 50;
const drawMsMax = 60_000;

/** The most that a process may take up: the engine's limit of 1 GiB, and the memory outside of it. */
const peakMebibytesMax = 2500;

interface DrawCounts {
  published: number;
  refused: number;
  peakMebibytes: number;
}

export default {
  describe: "an ingest of a mutated feed publishes an intact version or names the file and changes nothing",
  draws: 500,
  async run({ seed, draws }) {
    const total: DrawCounts = { published: 0, refused: 0, peakMebibytes: 0 };
    for (let first = 0; first < draws; first += drawsPerProcess) {
      const counts = await runProcess(seed, first, Math.min(drawsPerProcess, draws - first));
      total.published += counts.published;
      total.refused += counts.refused;
      total.peakMebibytes = Math.max(total.peakMebibytes, counts.peakMebibytes);
    }
    if (total.peakMebibytes > peakMebibytesMax)
      throw new Error(`peak memory ${total.peakMebibytes} MiB: expected at most ${peakMebibytesMax}`);
    return `${total.published} published, ${total.refused} refused; peak memory ${total.peakMebibytes} MiB`;
  },
} satisfies Campaign;

/** Runs draws in a process. Throws if it crashes, fails, or takes too long for a draw. */
async function runProcess(seed: number, first: number, draws: number): Promise<DrawCounts> {
  const script = projectPath("test/support/campaigns/feed-draws-process.ts");
  const child = spawn(
    process.execPath,
    [
      "--require",
      projectPath("src/base/thread-pool.cjs"),
      "--import",
      "tsx/esm",
      script,
      ...[seed, first, draws].map(String),
    ],
    {
      cwd: projectPath("."),
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const exited = once(child, "exit");
  const errors = text(child.stderr);
  let last: string = "before the first draw";
  let counts: DrawCounts | undefined;
  let timer = setTimeout(() => child.kill("SIGKILL"), drawMsMax);
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), drawMsMax);
    counts = countsIn(JSON.parse(line));
    if (counts === undefined) last = line;
  }
  clearTimeout(timer);
  const [code, signal] = await exited;
  if (code === 0 && counts !== undefined) return counts;
  throw new Error(`seed ${seed}, ${last}: exit code ${code}, signal ${signal}: ${(await errors).slice(0, 3000)}`);
}

/** Returns the counts of a process's last line; undefined for the others. */
function countsIn(line: unknown): DrawCounts | undefined {
  if (!isObject(line)) return undefined;
  const { published, refused, peakMebibytes } = line;
  if (typeof published !== "number" || typeof refused !== "number" || typeof peakMebibytes !== "number")
    return undefined;
  return { published, refused, peakMebibytes };
}
