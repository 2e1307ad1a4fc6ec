/** `carquet verify`: checks every file of the published version against its manifest, and the consistency of its tables. */
import { Command } from "commander";
import { UserError } from "../../base/user-error.ts";
import { lacksServingFiles, verify } from "../../lake/maintenance/verify.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { verifyServingFiles } from "../../serving/files/verify-serving-files.ts";
import { createProgress } from "../progress.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const verifySettings = sharedSettings("lake", "threads", "memoryLimit");

export const verifyCommand = (): Command =>
  addSettings(new Command("verify"), verifySettings)
    .description(
      "Check the size, checksum and row count of every file of the published version, that every key has a row, that listing states " +
        "agree with the recorded claims, that the Iceberg metadata is that of the version, and that the search index and the row store " +
        "agree with the Parquet files.",
    )
    .action(async (settings: ValuesOf<typeof verifySettings>) => {
      const manifest = await requireManifest(settings.lake);
      const progress = createProgress();
      const onFile = (path: string, index: number, count: number): void =>
        progress.step(manifest.version, index, count, path);
      const lakeFaults = await verify(settings.lake, manifest, settings, onFile);
      const faults =
        lakeFaults.length > 0 ? lakeFaults : await verifyServingFiles(settings.lake, manifest, settings, onFile);
      progress.end();
      for (const fault of faults) process.stdout.write(`${fault}\n`);
      if (faults.length > 0)
        throw new UserError(`${settings.lake}: version ${manifest.version} has ${faults.length} faults.`);
      process.stdout.write(`${settings.lake}: version ${manifest.version} has no faults.\n`);
      if (lacksServingFiles(settings.lake, manifest))
        process.stdout.write(
          `${settings.lake}: serving/ is missing: a service builds its search index in memory until carquet index builds it.\n`,
        );
    });
