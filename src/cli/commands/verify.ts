/** `carquet verify`: checks every file of the published version against its manifest, and the consistency of its tables. */
import { Command } from "commander";
import { UserError } from "../../base/user-error.ts";
import { lacksServingFiles, verify } from "../../lake/maintenance/verify.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { verifyServingFiles } from "../../serving/files/verify-serving-files.ts";
import { printResult } from "../print.ts";
import { commandProgress, ScheduledRun } from "../scheduled.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const verifySettings = sharedSettings("lake", "json", "threads", "memoryLimit", "metricsFile");

export const verifyCommand = (): Command =>
  addSettings(new Command("verify"), verifySettings)
    .description(
      "Check the size, checksum and row count of every file of the published version, that every key has a row, that listing states " +
        "agree with the recorded claims, that the Iceberg metadata is that of the version, and that the search index and the row store " +
        "agree with the Parquet files.",
    )
    .action((settings: ValuesOf<typeof verifySettings>) => {
      const run = new ScheduledRun("verify", settings.metricsFile);
      return run.measure(async () => {
        const { lake, json } = settings;
        const manifest = await requireManifest(lake);
        const progress = commandProgress("verify");
        const onFile = (path: string, index: number, count: number): void =>
          progress.step(manifest.version, index, count, path);
        const lakeFaults = await verify(lake, manifest, settings, onFile);
        const faults = lakeFaults.length > 0 ? lakeFaults : await verifyServingFiles(lake, manifest, settings, onFile);
        progress.end();
        run.add({ faults: faults.length });
        const isIndexMissing = lacksServingFiles(lake, manifest);
        const notes = isIndexMissing
          ? [`${lake}: serving/ is missing: a service rebuilds it outside the lake until carquet index builds it.`]
          : [];
        const text = faults.length > 0 ? faults : [`${lake}: version ${manifest.version} has no faults.`, ...notes];
        printResult({ version: manifest.version, faults, is_index_missing: isIndexMissing }, text, json);
        if (faults.length > 0) throw new UserError(`${lake}: version ${manifest.version} has ${faults.length} faults.`);
      });
    });
