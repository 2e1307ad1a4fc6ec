/** `carquet push`: copies the published version of a lake to a folder or a bucket, where followers and other readers find it. */
import { Command, Option } from "commander";
import { UserError } from "../../base/user-error.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { folderSource } from "../../replication/folder-source.ts";
import { mebibytes } from "../../replication/follower.ts";
import { type Pushed, push } from "../../replication/push.ts";
import { jsonOption, lakeOption, metricsFileOption } from "../options.ts";
import type { Progress } from "../progress.ts";
import {
  createFollower,
  openStore,
  type ReplicationSettings,
  remoteUrl,
  s3EndpointOption,
  stallTimeoutOption,
  transfersOption,
  withoutSecrets,
} from "../replication-options.ts";
import { graceOption, versionsOption } from "../retention-options.ts";
import { commandProgress, ScheduledRun } from "../scheduled.ts";

interface PushSettings extends ReplicationSettings {
  readonly lake: string;
  readonly remove: boolean;
  readonly metricsFile?: string;
}

export const pushCommand = (): Command =>
  new Command("push")
    .description(
      "Copy the published version of a lake: its files first, then the manifest, then CURRENT, so that readers find a whole version at any " +
        "moment. Files that are there already are left out. A folder becomes a lake, whose lock is held meanwhile and whose old versions are " +
        "removed; from a bucket, they are removed with --remove.",
    )
    .argument("<target>", "a folder, or s3://<bucket>/<prefix>")
    .addOption(lakeOption())
    .addOption(jsonOption())
    .addOption(transfersOption())
    .addOption(stallTimeoutOption())
    .addOption(versionsOption())
    .addOption(graceOption())
    .addOption(
      new Option(
        "--remove",
        "remove versions that --versions and --grace expire from a bucket too, with the files that only they list",
      ).default(false),
    )
    .addOption(s3EndpointOption())
    .addOption(metricsFileOption())
    .action((target: string, settings: PushSettings) => {
      const run = new ScheduledRun("push", settings.metricsFile);
      return run.measure(() => pushAndReport(target, settings, run));
    });

/** Pushes, and prints what was copied. */
async function pushAndReport(target: string, settings: PushSettings, run: ScheduledRun<"push">): Promise<void> {
  const progress = commandProgress("push");
  try {
    const { version, files, bytes, removed } = await pushTo(target, settings, progress);
    run.add({ files, bytes, versions_removed: removed });
    const report = { version, files, bytes, ...(settings.remove ? { removed } : {}) };
    const removal = settings.remove ? `, ${removed} versions removed` : "";
    process.stdout.write(
      settings.json
        ? `${JSON.stringify(report)}\n`
        : `${target}: version ${version}, ${files} files (${mebibytes(bytes)}) copied${removal}.\n`,
    );
  } finally {
    progress.end();
  }
}

/** A folder is a follower of the lake. */
async function pushTo(target: string, settings: PushSettings, progress: Progress): Promise<Pushed> {
  const { lake, transfers, versions, grace, remove } = settings;
  const manifest = await requireManifest(lake);
  const { version } = manifest;
  const url = remoteUrl(target);
  if (url === undefined) {
    const options = { ...settings, buildsServingFiles: false };
    const followed = await createFollower(folderSource(lake), target, options, progress).follow();
    return followed ?? { version, files: 0, bytes: 0, removed: 0 };
  }
  if (url.protocol !== "s3:")
    throw new UserError(`Invalid target ${withoutSecrets(target)}: expected a folder or s3://<bucket>/<prefix>.`);
  return push(lake, manifest, await openStore(url, settings), {
    transfers,
    stallMs: settings.stallTimeout * 1000,
    retention: remove ? { versionDays: versions, graceMs: grace * 60_000 } : undefined,
    onStep: (done, files, description) => progress.step(version, done, files, description),
  });
}
