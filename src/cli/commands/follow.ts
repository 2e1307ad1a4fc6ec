/** `carquet follow`: keeps a lake equal to a published one, once or until it is stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import { UserError } from "../../base/user-error.ts";
import { type Followed, type Follower, mebibytes } from "../../replication/follower.ts";
import { secondsParser } from "../option-parsers.ts";
import { jsonOption, lakeOption, memoryOption, metricsFileOption, threadsOption } from "../options.ts";
import {
  createFollower,
  openSource,
  type ReplicationSettings,
  s3EndpointOption,
  stallTimeoutOption,
  transfersOption,
} from "../replication-options.ts";
import { graceOption, versionsOption } from "../retention-options.ts";
import { commandProgress, reportFailure, ScheduledRun } from "../scheduled.ts";

interface FollowSettings extends ReplicationSettings {
  readonly lake: string;
  readonly source?: string;
  readonly once: boolean;
  readonly interval: number;
  readonly metricsFile?: string;
}

const sourceOption = (): Option =>
  new Option("--source <location>", "the lake to follow, in place of the argument, which other users can see").env(
    "CARQUET_SOURCE",
  );

export const followCommand = (): Command =>
  new Command("follow")
    .description(
      "Keep a lake equal to the version that another one publishes: fetch the files that it lacks, compare them with the SHA-256 in the " +
        "manifest, build the search index and the row store unless the source has them, and publish the version. Interrupted transfers " +
        "are resumed. The lake serves one whole version at any moment, whatever is killed.",
    )
    .argument(
      "[source]",
      "the lake to follow: a folder, an https:// or http:// URL below which its files are, or s3://<bucket>/<prefix>",
    )
    .addOption(sourceOption())
    .addOption(lakeOption())
    .addOption(jsonOption())
    .addOption(new Option("--once", "end when the lake is equal; end with an error if it cannot be").default(false))
    .addOption(
      new Option("--interval <seconds>", "time between two checks for a new version")
        .env("CARQUET_FOLLOW_INTERVAL")
        .default(10)
        .argParser(secondsParser),
    )
    .addOption(transfersOption())
    .addOption(stallTimeoutOption())
    .addOption(versionsOption())
    .addOption(graceOption())
    .addOption(s3EndpointOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .addOption(metricsFileOption())
    .action(follow);

async function follow(argument: string | undefined, settings: FollowSettings): Promise<void> {
  const location = argument ?? settings.source;
  if (location === undefined) throw new UserError("No source: expected a location as argument, or CARQUET_SOURCE.");
  const progress = commandProgress("follow");
  const source = await openSource(location, settings);
  const follower = createFollower(source, settings.lake, { ...settings, buildsServingFiles: true }, progress);
  try {
    if (settings.once) printFollowed(await followOnce(follower, settings), settings);
    else await followForever(follower, settings);
  } finally {
    progress.end();
  }
}

/** Makes the lake equal to its source, and measures that. */
function followOnce(follower: Follower, { metricsFile }: FollowSettings): Promise<Followed | undefined> {
  const run = new ScheduledRun("follow", metricsFile);
  return run.measure(async () => {
    const followed = await follower.follow();
    if (followed !== undefined)
      run.add({ files: followed.files, bytes: followed.bytes, versions_removed: followed.removed });
    return followed;
  });
}

/** Follows until a signal ends the process: it can be ended at any moment. Failures are printed, and repeated at the next check. */
async function followForever(follower: Follower, settings: FollowSettings): Promise<never> {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
  for (;;) {
    try {
      const followed = await followOnce(follower, settings);
      if (followed !== undefined) printFollowed(followed, settings);
    } catch (thrown) {
      if (!(thrown instanceof UserError)) throw thrown;
      reportFailure("follow", thrown);
    }
    await sleep(settings.interval * 1000);
  }
}

/** Prints what was done; undefined for nothing. */
function printFollowed(followed: Followed | undefined, { lake, json }: FollowSettings): void {
  if (json) process.stdout.write(`${JSON.stringify(followed ?? null)}\n`);
  else if (followed === undefined) process.stdout.write(`${lake}: nothing to do.\n`);
  else {
    const { version, files, bytes, built, removed } = followed;
    process.stdout.write(
      `${lake}: version ${version}, ${files} files (${mebibytes(bytes)}) fetched, ${built} serving files built, ${removed} versions removed.\n`,
    );
  }
}
