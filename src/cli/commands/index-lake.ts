/** `carquet index`: the serving files of the published version, for those that are missing, damaged, or of another release. */
import { Command } from "commander";
import { UserError } from "../../base/user-error.ts";
import { currentManifest } from "../../lake/manifest.ts";
import { nextManifest, publish, withWriter } from "../../lake/writer/writer.ts";
import { withServingFiles } from "../../serving/build-serving-files.ts";
import { type EngineSettings, engineOptions, jsonOption, lakeOption, memoryOption, threadsOption } from "../options.ts";
import { createProgress } from "../progress.ts";

interface IndexSettings extends EngineSettings {
  readonly lake: string;
  readonly json: boolean;
}

export const indexCommand = (): Command =>
  new Command("index")
    .description(
      "Checks the search index and the row store of the published version, builds what is missing, damaged, or of another release, and " +
        "publishes the version anew with them. Every ingest does so for the day that it publishes; until then the Parquet files answer.",
    )
    .addOption(lakeOption())
    .addOption(jsonOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (settings: IndexSettings) => {
      const { version, built } = await index(settings);
      process.stdout.write(
        settings.json
          ? `${JSON.stringify({ version, built })}\n`
          : `${settings.lake}: version ${version}, ${built} serving files built.\n`,
      );
    });

/** Builds what is lacking; publishes nothing if nothing is. */
async function index({
  lake,
  ...settings
}: IndexSettings): Promise<{ readonly version: string; readonly built: number }> {
  const shown = createProgress();
  try {
    return await withWriter(lake, engineOptions(settings), async (writer) => {
      const published = await currentManifest(lake);
      if (published === undefined)
        throw new UserError(`${lake}: nothing has been published yet; see carquet ingest --help.`);
      const next = nextManifest(writer, published, published.as_of);
      const manifest = await withServingFiles(writer, next, "content", (done, all, what) =>
        shown.step(published.as_of, done, all, what),
      );
      const known = new Set(published.serving.map(({ path }) => path));
      const built = manifest.serving.filter(({ path }) => !known.has(path)).length;
      if (built === 0 && manifest.serving.length === published.serving.length)
        return { version: published.version, built };
      await publish(lake, manifest);
      return { version: manifest.version, built };
    });
  } finally {
    shown.end();
  }
}
