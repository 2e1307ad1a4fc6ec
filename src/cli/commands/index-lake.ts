/** `carquet index`: builds the serving files (search index and row store) that the published version lacks, and publishes it again. */
import { Command } from "commander";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { nextManifest, publish, withWriter } from "../../lake/writer/writer.ts";
import { withServingFiles } from "../../serving/files/build-serving-files.ts";
import { createProgress, type Progress, printResult } from "../print.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const indexSettings = sharedSettings("lake", "json", "threads", "memoryLimit");

export const indexCommand = (): Command =>
  addSettings(new Command("index"), indexSettings)
    .description(
      "Check the search index and the row store of the published version, rebuild files that are missing, damaged or of another release, " +
        "and publish the version again with them. `carquet ingest` does this for the last version it publishes; a service that lacks one of " +
        "these files rebuilds it outside the lake.",
    )
    .action(async (settings: ValuesOf<typeof indexSettings>) => {
      const progress = createProgress();
      const { version, built } = await indexLake(settings, progress.step).finally(progress.end);
      printResult(
        { version, built },
        `${settings.lake}: version ${version}, ${built} serving files built.`,
        settings.json,
      );
    });

/** Builds the missing serving files. Publishes nothing if none is missing. Returns the published version and the number of built files. */
export async function indexLake(
  { lake, ...options }: DatabaseOptions & { readonly lake: string },
  onStep: Progress["step"] = () => undefined,
): Promise<{ readonly version: string; readonly built: number }> {
  await requireManifest(lake);
  return withWriter(lake, options, async (writer) => {
    const published = await requireManifest(lake);
    const next = nextManifest(writer, published, published.as_of);
    const manifest = await withServingFiles(writer, next, "content", (step, steps, description) =>
      onStep(published.as_of, step, steps, description),
    );
    const existing = new Set(published.serving.map(({ path }) => path));
    const built = manifest.serving.filter(({ path }) => !existing.has(path)).length;
    if (built === 0 && manifest.serving.length === published.serving.length)
      return { version: published.version, built };
    await publish(lake, manifest);
    return { version: manifest.version, built };
  });
}
