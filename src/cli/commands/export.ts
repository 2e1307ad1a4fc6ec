/** `carquet export`: writes all listings of a search to a Parquet, Arrow, CSV or NDJSON file. */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { Command, Option } from "commander";
import { bounds } from "../../base/bounds.ts";
import { UserError } from "../../base/user-error.ts";
import { decoderOf } from "../../contract/decode.ts";
import { Refusal } from "../../contract/errors.ts";
import { type ExportFormat, exportFormats, formatOfPath } from "../../export/export-formats.ts";
import { type ExportQuery, type WrittenExport, writeExport } from "../../export/write-export.ts";
import { LakeVersion } from "../../serving/lake-version.ts";
import {
  type EngineSettings,
  engineOptions,
  jsonOption,
  lakeOption,
  mandatory,
  memoryParser,
  threadsOption,
} from "../options.ts";
import { createProgress } from "../progress.ts";
import { requireManifest } from "../published-lake.ts";

interface ExportCommandSettings extends EngineSettings {
  readonly lake: string;
  readonly lakeVersion?: string;
  readonly output: string;
  readonly format?: ExportFormat;
  readonly json: boolean;
}

export const exportCommand = (): Command =>
  new Command("export")
    .description(
      "Write all listings of a search to a file, in the order of `sort`: the rows, columns and values that the pages of /v1/listings have " +
        "for the same parameters. The file appears under its name when it is complete. Memory does not grow with the rows.",
    )
    .argument(
      "[parameters...]",
      "parameters of /v1/listings except limit and offset, as in a URL, joined by & or as several words: make=Toyota state=TX",
    )
    .addOption(mandatory(new Option("--output <file>", "file to write; - for standard output")))
    .addOption(
      new Option("--format <format>", "format of the file (default: by its extension, else parquet)").choices(
        Object.keys(exportFormats),
      ),
    )
    .addOption(lakeOption())
    .addOption(new Option("--lake-version <version>", "version of the lake to read (default: the published one)"))
    .addOption(jsonOption())
    .addOption(threadsOption())
    .addOption(
      new Option("--memory <size>", "query engine memory limit, such as 4GiB")
        .default(bounds.exportMemory)
        .argParser(memoryParser),
    )
    .action(async (parameters: readonly string[], settings: ExportCommandSettings) => {
      // Ends with the service that started this process. The listener alone would keep the process running.
      process.once("disconnect", () => process.exit(1));
      process.channel?.unref();
      const { output, json } = settings;
      const query = decode(parameters, settings.format ?? formatOfPath(output));
      const written = output === "-" ? await writeToOutput(query, settings) : await write(query, settings, output);
      if (json) process.stdout.write(`${JSON.stringify(written)}\n`);
      else if (output !== "-") process.stdout.write(`${output}: ${written.rows} rows, ${written.bytes} bytes.\n`);
    });

/** Decodes parameters as the API does; a `format` that an option or the extension of the file determines is one of them. */
function decode(parameters: readonly string[], format: ExportFormat | undefined): ExportQuery {
  const all = format === undefined ? parameters : [...parameters, `format=${format}`];
  return asUserErrors(() => decoderOf("exportListings")(all.join("&"), {}).query);
}

/** Writes to a temporary file, then to standard output: a failed export writes nothing. */
async function writeToOutput(query: ExportQuery, settings: ExportCommandSettings): Promise<WrittenExport> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-export-"));
  try {
    const path = join(folder, "export");
    const written = await write(query, settings, path);
    await pipeline(createReadStream(path), process.stdout, { end: false });
    return written;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function write(query: ExportQuery, settings: ExportCommandSettings, output: string): Promise<WrittenExport> {
  const { lake, lakeVersion = (await requireManifest(lake)).version } = settings;
  const path = resolve(output);
  await requireWritable(path);
  const version = await LakeVersion.open(lake, lakeVersion, {
    ...engineOptions(settings),
    ...{ hasServingFiles: false, writableFolders: [dirname(path)], temporaryFolder: `${path}.spill` },
  });
  const progress = createProgress();
  try {
    return await writeExport(query, version, path, {
      onProgress: (rows, total) => progress.step(output, rows, total, "rows"),
    });
  } catch (thrown) {
    throw asUserError(thrown);
  } finally {
    progress.end();
    version.close();
  }
}

/** Throws a UserError if no file can be created beside `path`. */
async function requireWritable(path: string): Promise<void> {
  const probe = `${path}.part`;
  try {
    await pipeline([], createWriteStream(probe));
  } catch (thrown) {
    throw new UserError(`Cannot write ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}.`);
  }
  await rm(probe);
}

function asUserErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw asUserError(thrown);
  }
}

/** A refused parameter is an error of the user. */
const asUserError = (thrown: unknown): unknown => (thrown instanceof Refusal ? new UserError(thrown.message) : thrown);
