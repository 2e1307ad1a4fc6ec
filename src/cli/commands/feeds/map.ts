/** `carquet map`: proposes a mapping of a foreign file, tries it on the file and writes it; or checks a mapping on another file. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { dayOf } from "../../../accounts/clock.ts";
import { replaceFile } from "../../../base/files.ts";
import { textIn } from "../../../base/json.ts";
import { printable, UserError } from "../../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../../db/duckdb.ts";
import { describeIssue } from "../../../ingest/delivery-report.ts";
import { withScratch } from "../../../ingest/documents/prepared-files.ts";
import { defaultFeedLimits } from "../../../ingest/feed/feed-file.ts";
import { describeSystemError } from "../../../ingest/feed/file-errors.ts";
import { readMapping } from "../../../ingest/mapping/mapping.ts";
import type { Mapping } from "../../../ingest/mapping/rules.ts";
import { loadReferenceTables } from "../../../ingest/normalize/vocabularies.ts";
import { absentColumns, fieldsByColumn } from "../../../ingest/proposal/match-columns.ts";
import { type ColumnPlan, proposeMapping, requireForeign, shareText } from "../../../ingest/proposal/propose.ts";
import { fileAt, type MappingTrial, sampleFile, samplesOf, tryMapping } from "../../../ingest/proposal/sample.ts";
import { columnWidths, formatTableHead, formatTableLines } from "../../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";

// biome-ignore format: a table is read by its columns
const mapSettings = {
  output: { flags: "--output <file>", help: "write the proposed mapping to this file" },
  force: { flags: "--force", help: "replace the file of --output if it exists" },
  check: { flags: "--check <file>", help: "another file, on which the mapping is checked: fails if rows would be refused or required columns are gone" },
  mapping: { flags: "--mapping <path>", help: "mapping to check, instead of a proposed one" },
  ...sharedSettings("threads", "memoryLimit"),
} as const satisfies SettingRows;

type MapValues = ValuesOf<typeof mapSettings>;

export const mapCommand = (): Command =>
  addSettings(new Command("map"), mapSettings)
    .description(
      "Propose the mapping of a file with other columns than those of a feed, from its header and values, starting from the preset that fits: " +
        "prints what each column becomes, tries the mapping on all rows as ingest would, and writes it with --output. With --check, checks a mapping on another file.",
    )
    .argument("[file]", "file to map")
    .action(async (path: string | undefined, settings: MapValues) => {
      const { mapping, check, output, force } = settings;
      if ((path === undefined) === (mapping === undefined) || (mapping !== undefined && check === undefined))
        throw new UserError("Invalid arguments: expected a file to map, or --mapping and --check.");
      if (mapping !== undefined && output !== undefined)
        throw new UserError("Invalid arguments: expected --output only with a file to map.");
      if (output !== undefined && !force && existsSync(output))
        throw new UserError(`${printable(output)}: exists: expected another file, or --force.`);
      const database = await DuckDatabase.open(settings);
      try {
        await database.using((session) =>
          withScratch({ limits }, (scratch) => mapFile({ session, scratch }, path, settings)),
        );
      } finally {
        database.close();
      }
    });

const limits = defaultFeedLimits;

interface MapRun {
  readonly session: Session;
  readonly scratch: string;
}

async function mapFile(run: MapRun, path: string | undefined, settings: MapValues): Promise<void> {
  await loadReferenceTables(run.session);
  if (path === undefined) return checkMapping(run, await readMapping(settings.mapping ?? ""), settings.check ?? "");
  const mapping = await proposeFor(run, path, settings.output);
  if (settings.check !== undefined) await checkMapping(run, mapping, settings.check);
}

/** Proposes the mapping of a file, tries and writes it. */
async function proposeFor(run: MapRun, path: string, output: string | undefined): Promise<Mapping> {
  const file = await fileAt(path);
  const sample = await sampleFile(run.session, file, { limits, ...run });
  await requireForeign(run.session, sample);
  const { mapping, content, plans } = await proposeMapping(run.session, sample);
  const { preset, hasHeader, columns } = sample;
  const start =
    preset === undefined ? "no preset has these" : `recognized as ${preset.name}, from which the mapping starts`;
  print(`${printable(path)}: ${columns.length} columns${hasHeader ? "" : " without a header"}; ${start}.`);
  await tryAndPrint(run, { file, mapping, day: today() }, plans);
  if (output === undefined) print("Not written: --output <file> writes the mapping.");
  else {
    await replaceFile(output, `${JSON.stringify(content, undefined, 2)}\n`).catch((thrown: unknown) => {
      throw new UserError(`${printable(output)}: ${describeSystemError(thrown)}.`);
    });
    print(`Written to ${printable(output)}.`);
  }
  return mapping;
}

/** Checks a mapping on a file. Throws a UserError if rows would be refused, or required columns are gone. */
async function checkMapping(run: MapRun, mapping: Mapping, path: string): Promise<void> {
  const file = await fileAt(path);
  const { columns } = await sampleFile(run.session, file, { limits, ...run, mapping });
  print(`${printable(path)}: ${columns.length} columns; checked by ${printable(mapping.name)}.`);
  for (const { column, field, others } of absentColumns(mapping, columns))
    print(
      `gone: "${printable(column, 40)}" of ${field}, which has ${others.length === 0 ? "no other column" : printable(others.join(", "))}`,
    );
  const used = fieldsByColumn(mapping, columns);
  const plans = columns.map((column): ColumnPlan => {
    const fields = used.get(column);
    if (fields === undefined) return { column, fields: [], state: "unmapped", why: "not in the mapping" };
    return { column, fields, state: "matched", why: "mapping" };
  });
  const { rows, refused } = await tryAndPrint(run, { file, mapping, day: today() }, plans);
  if (refused > 0) throw new UserError(`${printable(path)}: ${refused} of ${rows} rows would be refused.`);
}

const print = (...lines: readonly string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`);
};

const today = (): string => dayOf(Date.now());

/** The most values outside a vocabulary that are printed. */
const outsideMax = 20;

/** Tries a mapping, and prints what becomes of each column, of the rows, and of values that no vocabulary has. */
async function tryAndPrint(
  { session, scratch }: MapRun,
  input: Parameters<typeof tryMapping>[1],
  plans: readonly ColumnPlan[],
): Promise<MappingTrial> {
  const trial = await tryMapping(session, input, { limits, scratch });
  const samples = await samplesOf(
    session,
    trial,
    new Map(plans.map(({ column, fields: [field = ""] }) => [column, field])),
  );
  const lines = plans.map(({ column, state, fields, why }) => {
    const share = trial.usable.get(fields[0] ?? "");
    const shown = (samples.get(column) ?? []).map(([before, after]) =>
      after === null
        ? cut(before)
        : `${cut(before)} → ${cut(typeof after === "string" ? after : JSON.stringify(after))}`,
    );
    return [cut(column), state, fields.join(", "), why, share === undefined ? "" : shareText(share), shown.join("; ")];
  });
  const { rows, refused, dealers, issues, remarks, outside } = trial;
  print("", formatTable(["column", "state", "field", "why", "usable", "values before → after"], lines));
  print(
    `${rows} rows = ${rows - refused} usable + ${refused} refused; dealers: ${dealers}`,
    ...issues.map(describeIssue),
    ...remarks,
  );
  if (outside.length > 0) {
    const most = outside
      .slice(0, outsideMax)
      .map((row) => [textIn(row, "vocabulary"), cut(textIn(row, "value")), String(row.uses)]);
    print(
      "",
      `Values outside the vocabularies (${most.length} of ${outside.length}):`,
      formatTable(["field", "value", "rows"], most),
    );
  }
  return trial;
}

const cut = (text: string): string => printable(text, 30);

function formatTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = columnWidths([head, ...lines], []);
  return `${formatTableHead(head, widths)}${formatTableLines(lines, widths)}`;
}
