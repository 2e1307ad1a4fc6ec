/** `carquet verify`: is everything there, as it was written? */
import { Command } from "commander";
import { UserError } from "../../base/user-error.ts";
import { verify } from "../../lake/maintenance/verify.ts";
import { currentManifest } from "../../lake/manifest.ts";
import { type EngineSettings, engineOptions, lakeOption, memoryOption, threadsOption } from "../options.ts";
import { createProgress } from "../progress.ts";

export const verifyCommand = (): Command =>
  new Command("verify")
    .description(
      "Checks the size, content and rows of every file of the published version, that every key leads somewhere, that states agree with the claims that prove them.",
    )
    .addOption(lakeOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (settings: EngineSettings & { readonly lake: string }) => {
      const manifest = await currentManifest(settings.lake);
      if (manifest === undefined) throw new UserError(`${settings.lake}: nothing has been published yet.`);
      const shown = createProgress();
      const faults = await verify(settings.lake, manifest, engineOptions(settings), (path, index, count) =>
        shown.step(manifest.version, index, count, path),
      );
      shown.end();
      for (const fault of faults) process.stdout.write(`${fault}\n`);
      if (faults.length > 0)
        throw new UserError(`${settings.lake}: version ${manifest.version} has ${faults.length} faults.`);
      process.stdout.write(`${settings.lake}: version ${manifest.version} is whole.\n`);
    });
