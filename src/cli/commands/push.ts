/** `carquet push`: copies the published version of a lake to a folder or a bucket, where followers and other readers find it. */
import { Command } from "commander";
import { UsageError } from "../../base/user-error.ts";
import { folderConnector } from "../../connectors/folder.ts";
import { openBucket, protocolOf, withoutSecrets } from "../../connectors/location.ts";
import { currentPath, currentVersion } from "../../lake/manifest.ts";
import { requireLakeFolder, requireManifest } from "../../lake/published-lake.ts";
import { Follower, mebibytes } from "../../replication/follower.ts";
import { Push, type PushResult, requireNotNewer } from "../../replication/push.ts";
import { type Progress, printResult } from "../print.ts";
import { commandProgress, ScheduledRun } from "../scheduled.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

// biome-ignore format: a table is read by its columns
const pushSettings = {
  ...sharedSettings("lake", "json", "transfers", "stallMs", "versionDays", "graceMs"),
  remove: { flags: "--remove",
    help: "remove versions that --versions and --grace expire from a bucket too, with the files that only they list" },
  ...sharedSettings("s3Endpoint", "metricsFile"),
} as const satisfies SettingRows;

type PushValues = ValuesOf<typeof pushSettings>;

export const pushCommand = (): Command =>
  addSettings(new Command("push"), pushSettings)
    .description(
      "Copy the published version of a lake: its files first, then the manifest, then CURRENT, so that readers find a whole version at any " +
        "moment. Files that the target has are skipped. A folder becomes a lake, whose lock is held meanwhile and whose old versions are " +
        "removed; from a bucket, they are removed with --remove.",
    )
    .argument("<target>", "a folder, or s3://<bucket>/<prefix>")
    .action((target: string, settings: PushValues) => {
      const run = new ScheduledRun("push", settings.metricsFile);
      return run.measure(() => pushAndReport(target, settings, run));
    });

/** Pushes, and prints what was copied. */
async function pushAndReport(target: string, settings: PushValues, run: ScheduledRun<"push">): Promise<void> {
  const progress = commandProgress("push");
  try {
    const { version, files, bytes, removed } = await pushTo(target, settings, progress);
    run.add({ files, bytes, versions_removed: removed });
    const report = { version, files, bytes, ...(settings.remove ? { removed } : {}) };
    const removal = settings.remove ? `, ${removed} versions removed` : "";
    printResult(
      report,
      `${target}: version ${version}, ${files} files (${mebibytes(bytes)}) copied${removal}.`,
      settings.json,
    );
  } finally {
    progress.end();
  }
}

/** A folder is a follower of the lake. */
async function pushTo(target: string, settings: PushValues, progress: Progress): Promise<PushResult> {
  const { lake, transfers, stallMs, versionDays, graceMs, s3Endpoint } = settings;
  const manifest = await requireManifest(lake);
  const { version } = manifest;
  const protocol = protocolOf(target);
  if (protocol === undefined) {
    await requireLakeFolder(target);
    const found = await currentVersion(target);
    if (found !== undefined) requireNotNewer(found, currentPath(target), version, lake);
    const follower = new Follower(folderConnector(lake), target, {
      ...settings,
      engine: {},
      buildsServingFiles: false,
      nowMs: Date.now,
      onStep: progress.step,
    });
    return (await follower.follow()) ?? { version, files: 0, bytes: 0, removed: 0 };
  }
  if (protocol !== "s3")
    throw new UsageError(`Invalid target ${withoutSecrets(target)}: expected a folder or s3://<bucket>/<prefix>.`);
  return new Push(lake, manifest, await openBucket(target, stallMs, s3Endpoint), {
    transfers,
    stallMs,
    retention: settings.remove ? { versionDays, graceMs } : undefined,
    onStep: (done, files, description) => progress.step(version, done, files, description),
  }).push();
}
