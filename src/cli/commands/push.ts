/** `carquet push`: copies the published version of a lake to a folder or a bucket, where followers and other readers find it. */
import { Command } from "commander";
import { bounds } from "../../base/bounds.ts";
import { UserError } from "../../base/user-error.ts";
import { folderSource } from "../../replication/folder-source.ts";
import { mebibytes } from "../../replication/follower.ts";
import { type Pushed, push } from "../../replication/push.ts";
import { jsonOption, lakeOption } from "../options.ts";
import { createProgress, type Progress } from "../progress.ts";
import { requireManifest } from "../published-lake.ts";
import {
  createFollower,
  openStore,
  type ReplicationSettings,
  remoteUrl,
  s3EndpointOption,
  stallTimeoutOption,
  transfersOption,
} from "../replication-options.ts";
import { graceOption, versionsOption } from "../retention-options.ts";

interface PushSettings extends ReplicationSettings {
  readonly lake: string;
}

export const pushCommand = (): Command =>
  new Command("push")
    .description(
      "Copy the published version of a lake: its files first, then the manifest, then CURRENT, so that readers find a whole version at any " +
        "moment. Files that are there already are left out. A folder becomes a lake, whose lock is held meanwhile and whose old versions are " +
        "removed; nothing is removed from a bucket.",
    )
    .argument("<target>", "a folder, or s3://<bucket>/<prefix>")
    .addOption(lakeOption())
    .addOption(jsonOption())
    .addOption(transfersOption())
    .addOption(stallTimeoutOption())
    .addOption(versionsOption())
    .addOption(graceOption())
    .addOption(s3EndpointOption())
    .action(async (target: string, settings: PushSettings) => {
      const progress = createProgress();
      try {
        const { version, files, bytes } = await pushTo(target, settings, progress);
        process.stdout.write(
          settings.json
            ? `${JSON.stringify({ version, files, bytes })}\n`
            : `${target}: version ${version}, ${files} files (${mebibytes(bytes)}) copied.\n`,
        );
      } finally {
        progress.end();
      }
    });

/** A folder is a follower of the lake. */
async function pushTo(target: string, settings: PushSettings, progress: Progress): Promise<Pushed> {
  const { lake, transfers } = settings;
  const manifest = await requireManifest(lake);
  const { version } = manifest;
  const url = remoteUrl(target);
  if (url === undefined) {
    const options = { ...settings, buildsServingFiles: false };
    const followed = await createFollower(folderSource(lake), target, options, progress).follow();
    return followed ?? { version, files: 0, bytes: 0 };
  }
  if (url.protocol !== "s3:")
    throw new UserError(`Invalid target ${target}: expected a folder or s3://<bucket>/<prefix>.`);
  return push(lake, manifest, await openStore(url, settings), {
    transfers,
    retryMs: bounds.transferRetryMs,
    onFile: (done, files, path) => progress.step(version, done, files, path),
  });
}
