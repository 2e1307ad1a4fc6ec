/** `carquet follow`: keeps a lake equal to a published one, once or until it is stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { UsageError } from "../../base/user-error.ts";
import { connectorAt } from "../../connectors/location.ts";
import { requireLakeFolder } from "../../lake/published-lake.ts";
import { Follower, type FollowResult, mebibytes } from "../../replication/follower.ts";
import { inUnits, secondsParser } from "../option-parsers.ts";
import { printResult } from "../print.ts";
import { commandProgress, reportFailure, reportRecovery, ScheduledRun } from "../scheduled.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

// biome-ignore format: a table is read by its columns
const followSettings = {
  source: { flags: "--source <location>", env: "CARQUET_SOURCE",
    help: "the lake to follow, instead of the argument, which other users can see" },
  ...sharedSettings("lake", "json"),
  once: { flags: "--once", help: "end when the lake is equal; end with an error if it cannot be" },
  intervalMs: { flags: "--interval <seconds>", env: "CARQUET_FOLLOW_INTERVAL", ...inUnits(1000, 10, secondsParser),
    help: "time between two checks for a new version" },
  ...sharedSettings("transfers", "stallMs", "versionDays", "graceMs", "s3Endpoint", "threads", "memoryLimit", "metricsFile"),
} as const satisfies SettingRows;

type FollowValues = ValuesOf<typeof followSettings>;

export const followCommand = (): Command =>
  addSettings(new Command("follow"), followSettings)
    .description(
      "Keep a lake equal to the version that another one publishes: fetch the files that it lacks, compare them with the SHA-256 in the " +
        "manifest, build the search index and the row store unless the source has them, and publish the version. Interrupted transfers " +
        "are resumed. The lake serves one complete version at any moment, even after a kill.",
    )
    .argument(
      "[source]",
      "the lake to follow: a folder, an https:// or http:// URL below which its files are, or s3://<bucket>/<prefix>",
    )
    .action(follow);

async function follow(argument: string | undefined, settings: FollowValues): Promise<void> {
  const location = argument ?? settings.source;
  if (location === undefined) throw new UsageError("No source: expected a location as argument, or CARQUET_SOURCE.");
  await requireLakeFolder(settings.lake);
  const progress = commandProgress("follow");
  const source = await connectorAt(location, settings.stallMs, settings.s3Endpoint);
  const follower = new Follower(source, settings.lake, {
    ...settings,
    engine: settings,
    buildsServingFiles: true,
    nowMs: Date.now,
    onStep: progress.step,
  });
  try {
    if (settings.once) printFollowed(await followOnce(follower, settings), settings);
    else await followForever(follower, settings);
  } finally {
    progress.end();
  }
}

/** Follows once and records the metrics of the run. */
function followOnce(follower: Follower, { metricsFile }: FollowValues): Promise<FollowResult | undefined> {
  const run = new ScheduledRun("follow", metricsFile);
  return run.measure(async () => {
    const followed = await follower.follow();
    if (followed !== undefined)
      run.add({ files: followed.files, bytes: followed.bytes, versions_removed: followed.removed });
    return followed;
  });
}

/** Follows until a signal ends the process: it can be ended at any moment. Failures are printed, and repeated at the next check. */
async function followForever(follower: Follower, settings: FollowValues): Promise<never> {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
  for (let hasFailed = false; ; ) {
    try {
      const followed = await followOnce(follower, settings);
      if (hasFailed) reportRecovery("follow");
      hasFailed = false;
      if (followed !== undefined) printFollowed(followed, settings);
    } catch (thrown) {
      hasFailed = true;
      reportFailure("follow", thrown);
    }
    await sleep(settings.intervalMs);
  }
}

/** Prints the outcome; undefined if there was nothing to do. */
function printFollowed(followed: FollowResult | undefined, { lake, json }: FollowValues): void {
  const text =
    followed === undefined
      ? "nothing to do."
      : `version ${followed.version}, ${followed.files} files (${mebibytes(followed.bytes)}) fetched, ${followed.built} serving files built, ${followed.removed} versions removed.`;
  printResult(followed ?? null, `${lake}: ${text}`, json);
}
