/** `carquet export`: writes all listings of a search to a Parquet, Arrow, CSV, NDJSON or JSON file. */
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { Command } from "commander";
import { endWithParent, exitOnSignals } from "../../base/exits.ts";
import { isSpecialFile, moveFile } from "../../base/files.ts";
import { messageOf, UsageError, UserError } from "../../base/user-error.ts";
import { decoderOf } from "../../contract/decode.ts";
import { Refusal } from "../../contract/errors.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { exportEngineSettings, exportMemory, report } from "../../export/limits.ts";
import type { ExportQuery } from "../../export/parts.ts";
import { type WrittenExport, writeExport } from "../../export/write-export.ts";
import { type FormatName, fileFormats, formatOfFile } from "../../formats/table-formats.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { LakeVersion } from "../../serving/lake-version.ts";
import { memoryParser } from "../option-parsers.ts";
import { createProgress, printResult } from "../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

// biome-ignore format: a table is read by its columns
const exportSettings = {
  output: { flags: "--output <file>", isRequired: true, help: "file to write; - for standard output" },
  format: { flags: "--format <format>", choices: fileFormats, help: "format of the file (default: by its extension; parquet without one)" },
  ...sharedSettings("lake", "dataVersion", "json", "threads"),
  memoryLimit: { flags: "--memory <size>", default: exportMemory, parse: memoryParser, help: "query engine memory limit, such as 4GiB" },
} as const satisfies SettingRows;

type ExportValues = ValuesOf<typeof exportSettings>;

export const exportCommand = (): Command =>
  addSettings(new Command("export"), exportSettings)
    .description(
      "Write all listings of a search to a file, in the order of `sort`: the rows that the pages of /v1/listings have for the same " +
        "parameters, with the columns of /v1/exports. The file appears under its name when it is complete. Memory does not grow with the rows.",
    )
    .argument(
      "[parameters...]",
      "parameters of /v1/listings except limit and offset, as in a URL, joined by & or as several words: make=Toyota state=TX",
    )
    .action(async (parameters: readonly string[], settings: ExportValues) => {
      endWithParent();
      exitOnSignals();
      const { output, json } = settings;
      const written = await run(decode(parameters, settings), settings);
      const { rows, bytes, unmatched = [] } = written;
      for (const { parameter, value, did_you_mean } of unmatched)
        process.stderr.write(
          `Warning: no listing has ever had ${parameter} ${value}.${did_you_mean ? ` Did you mean ${did_you_mean}?` : ""}\n`,
        );
      report({ rows, bytes });
      printResult({ rows, bytes }, output === "-" ? [] : `${output}: ${rows} rows, ${bytes} bytes.`, json);
    });

interface DecodedExport {
  readonly query: ExportQuery;
  readonly format: FormatName;
}

/** Decodes parameters as the API does. The format is that of an option, of a parameter, or of the extension of the file. */
function decode(parameters: readonly string[], { format: option, output }: ExportValues): DecodedExport {
  const queryString = parameters.join("&");
  const { query } = asUsageErrors(() => decoderOf("exportListings")(queryString, {}));
  if (option !== undefined && query.format !== undefined)
    throw new UsageError(`Invalid format=${query.format} beside --format ${option}: expected one of them.`);
  const format = option ?? query.format ?? formatOfFile(output, fileFormats, "parquet");
  const isText = format === "csv" || format === "ndjson" || format === "json";
  if (output === "-" && process.stdout.isTTY && !isText)
    throw new UsageError(`Invalid format ${format} for a terminal: expected a pipe, or --format csv, ndjson or json.`);
  return { query, format };
}

/** Writes an export to a temporary folder next to its file, then moves it there. A special file receives the bytes of the complete export. */
async function run(decoded: DecodedExport, settings: ExportValues): Promise<WrittenExport> {
  const { output } = settings;
  const path = resolve(output);
  const isStream = output === "-" || (await isSpecialFile(path));
  if (output !== "-" && (await stat(path).catch(() => undefined))?.isDirectory())
    throw new UserError(`Cannot write ${path}: expected a file, not a folder.`);
  const target = isStream ? path : await realpath(path).catch(() => path);
  const folder = createFolderFor(isStream ? join(tmpdir(), "carquet-export-") : `${target}.part-`, path);
  const written = await write(decoded, settings, folder);
  if (!isStream) await moveFile(written.path, target);
  else if (output === "-") await pipeline(createReadStream(written.path), process.stdout, { end: false });
  else await pipeline(createReadStream(written.path), createWriteStream(path));
  return written;
}

/**
 * Creates a folder whose name begins with a prefix, and removes it at exit. Synchronous, so that no signal ends the process between the two.
 * Throws a UserError if `path` cannot be written.
 */
function createFolderFor(prefix: string, path: string): string {
  try {
    const folder = mkdtempSync(prefix);
    process.once("exit", () => removeFolder(folder));
    return folder;
  } catch (thrown) {
    throw new UserError(`Cannot write ${path}: ${messageOf(thrown)}.`);
  }
}

/** Removes a folder in which the engine may still create files: `rmSync` lists it only once per call. */
function removeFolder(folder: string, attempts = 5): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (thrown) {
    if (attempts === 1) throw thrown;
    removeFolder(folder, attempts - 1);
  }
}

/** Writes an export. Reports damaged data to the service that has started this process. */
async function write(decoded: DecodedExport, settings: ExportValues, folder: string): Promise<WrittenExport> {
  try {
    return await writeVersion(decoded, settings, folder);
  } catch (thrown) {
    const isRefused = thrown instanceof Refusal && thrown.code === "data_unavailable";
    // A file can be damaged after it was checked.
    if (isRefused || ["missing", "damaged"].includes(classifyFault(thrown))) report({ isDamaged: true });
    throw asUserError(thrown);
  }
}

async function writeVersion(
  { query, format }: DecodedExport,
  { lake, dataVersion, output, ...settings }: ExportValues,
  folder: string,
): Promise<WrittenExport> {
  const version = await LakeVersion.open(lake, (await requireManifest(lake, dataVersion)).version, {
    ...settings,
    onRebuild: (message) => process.stderr.write(`${message}\n`),
    opensAhead: false,
    writableFolders: [folder],
    temporaryFolder: join(folder, "spill"),
    engineSettings: exportEngineSettings,
  });
  const progress = createProgress();
  try {
    return await writeExport(query, version, {
      format,
      folder,
      onProgress: (rows, total) => progress.step(output, rows, total, "rows"),
    });
  } finally {
    progress.end();
    version.close();
  }
}

function asUsageErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof Refusal ? new UsageError(thrown.message) : thrown;
  }
}

/** A refused parameter is an error of the user. */
const asUserError = (thrown: unknown): unknown => (thrown instanceof Refusal ? new UserError(thrown.message) : thrown);
