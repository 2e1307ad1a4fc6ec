/** `carquet map`: proposes a mapping of a foreign file, tries it on the file and writes it; or checks a mapping on another file. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { dayOf } from "../../../accounts/clock.ts";
import { replaceFile } from "../../../base/files.ts";
import { textIn } from "../../../base/json.ts";
import { printable, UsageError, UserError } from "../../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../../db/duckdb.ts";
import { describeIssue } from "../../../ingest/delivery-report.ts";
import { withScratch } from "../../../ingest/documents/prepared-files.ts";
import { defaultFeedLimits, type FeedLimits } from "../../../ingest/feed/feed-file.ts";
import { describeSystemError } from "../../../ingest/feed/file-errors.ts";
import { readMapping } from "../../../ingest/mapping/mapping.ts";
import type { Mapping } from "../../../ingest/mapping/rules.ts";
import { loadReferenceTables } from "../../../ingest/normalize/vocabularies.ts";
import { cut, mapFile, type TriedMapping, triedMapping } from "../../../ingest/proposal/map-file.ts";
import { absentColumns, fieldsByColumn } from "../../../ingest/proposal/match-columns.ts";
import type { ColumnPlan } from "../../../ingest/proposal/propose.ts";
import { fileAt, sampleFile } from "../../../ingest/proposal/sample.ts";
import { defaultCurrency } from "../../../lake/manifest.ts";
import { pathParser, repeatedParser } from "../../option-parsers.ts";
import { columnWidths, formatTableHead, formatTableLines, printResult } from "../../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";

// biome-ignore format: a table is read by its columns
const mapSettings = {
  output: { flags: "--output <file>", help: "write the proposed mapping to this file" },
  set: { flags: "--set <field=value>", default: [], shownDefault: "none", parse: repeatedParser,
    help: "value of a field in rows without one, such as inventory_type=used or dealer.state=CA; price={Ask} to take it from a column, " +
      "none={Ask} to use no column, miles.unit=km for a mileage without a unit; can be repeated" },
  records: { flags: "--records <path>", help: "path of the records of an XML or JSON document, such as /listings/listing" },
  acceptSuggestions: { flags: "--accept-suggestions", help: "use what only values suggest, and kilometers where they are likely" },
  force: { flags: "--force", help: "replace the file of --output if it exists" },
  check: { flags: "--check <file>", help: "another file, on which the mapping is checked: fails if rows would be refused or required columns are gone" },
  mapping: { flags: "--mapping <path>", help: "mapping to check, instead of a proposed one" },
  ...sharedSettings("json", "currency", "threads", "memoryLimit"),
} as const satisfies SettingRows;

type MapValues = ValuesOf<typeof mapSettings>;

export const mapCommand = (): Command =>
  addSettings(new Command("map"), mapSettings)
    .description(
      "Propose the mapping of a file with other columns than those of a feed, from its header and values, starting from the preset that fits: " +
        "prints what each column becomes, tries the mapping on all rows as ingest would, and writes it with --output. With --check, checks a mapping on another file.",
    )
    .argument("[file]", "file to map", pathParser)
    .action(async (path: string | undefined, settings: MapValues) => {
      const { mapping, check, output, force, records } = settings;
      if ((path === undefined) === (mapping === undefined) || (mapping !== undefined && check === undefined))
        throw new UsageError("Invalid arguments: expected a file to map, or --mapping and --check.");
      for (const [name, value] of Object.entries({ output, records, set: settings.set[0] }))
        if (mapping !== undefined && value !== undefined)
          throw new UsageError(`Invalid arguments: expected --${name} only with a file to map.`);
      if (output !== undefined && !force && existsSync(output))
        throw new UserError(`${printable(output)}: exists: expected another file, or --force.`);
      await DuckDatabase.use(settings, (session) =>
        withScratch({ limits }, (scratch) => run({ session, scratch, limits, day: dayOf(Date.now()) }, path, settings)),
      );
    });

const limits = defaultFeedLimits;

interface MapRun {
  readonly session: Session;
  readonly scratch: string;
  readonly limits: FeedLimits;
  readonly day: string;
}

async function run(settings: MapRun, path: string | undefined, values: MapValues): Promise<void> {
  const { mapping, check, json } = values;
  if (path === undefined) {
    await loadReferenceTables(settings.session);
    return checkMapping(settings, await readMapping(mapping ?? ""), check ?? "", json);
  }
  const proposed = await proposeFor(settings, path, values);
  if (check !== undefined) await checkMapping(settings, proposed, check, json);
}

/** Proposes the mapping of a file, tries and writes it. */
async function proposeFor({ session, ...settings }: MapRun, path: string, values: MapValues): Promise<Mapping> {
  const { output, set, records, acceptSuggestions: isAccepting, currency = defaultCurrency, json } = values;
  const mapped = await mapFile(session, await fileAt(path), { set, records, isAccepting, currency }, settings);
  const text = [`${printable(path)}: ${mapped.summary}`, ...triedLines(mapped, mapped.notes)];
  if (output !== undefined)
    await replaceFile(output, `${JSON.stringify(mapped.content, undefined, 2)}\n`).catch((thrown: unknown) => {
      throw new UserError(`${printable(output)}: ${describeSystemError(thrown)}.`);
    });
  const end =
    output === undefined ? "Not written: --output <file> writes the mapping." : `Written to ${printable(output)}.`;
  const { notes, content: mapping } = mapped;
  printResult({ file: path, ...triedReport(mapped), notes, mapping, written: output ?? null }, [...text, end], json);
  return mapped.mapping;
}

/** Checks a mapping on a file. Throws a UserError if rows would be refused, or required columns are gone. */
async function checkMapping(run: MapRun, mapping: Mapping, path: string, isJson: boolean): Promise<void> {
  const { session, ...settings } = run;
  const file = await fileAt(path);
  const { columns } = await sampleFile(session, file, { ...settings, mapping });
  const gone = absentColumns(mapping, columns);
  const used = fieldsByColumn(mapping, columns);
  const plans = columns.map((column): ColumnPlan => {
    const fields = used.get(column);
    if (fields === undefined) return { column, fields: [], state: "unmapped", why: "not in the mapping" };
    return { column, fields, state: "matched", why: "mapping" };
  });
  const tried = await triedMapping(session, file, { mapping, plans }, settings);
  const lines = [
    `${printable(path)}: ${columns.length} columns; checked by ${printable(mapping.name)}.`,
    ...gone.map(
      ({ column, field, others }) =>
        `gone: "${printable(column, 40)}" of ${field}, which has ${others.length === 0 ? "no other column" : printable(others.join(", "))}`,
    ),
    ...triedLines(tried),
  ];
  printResult({ file: path, gone, ...triedReport(tried) }, lines, isJson);
  const { rows, refused } = tried.trial;
  if (refused > 0) throw new UserError(`${printable(path)}: ${refused} of ${rows} rows would be refused.`);
}

/** Returns what becomes of each column, of the rows, and of values that no vocabulary has, for programs. */
function triedReport({ columns, trial }: TriedMapping): object {
  const { rows, refused, dealers, issues, remarks, outside } = trial;
  return { columns, rows, refused, dealers, issues, remarks, outside };
}

/** The most values outside a vocabulary that are printed. */
const outsideMax = 20;

/** Formats the same for people. */
function triedLines({ trial, columns }: TriedMapping, notes: readonly string[] = []): readonly string[] {
  const lines = columns.map(({ column, state, fields, why, share, samples }) => [
    cut(column),
    state,
    fields.join(", "),
    why,
    share,
    samples,
  ]);
  const { rows, refused, dealers, issues, remarks, outside } = trial;
  const most = outside
    .slice(0, outsideMax)
    .map((row) => [textIn(row, "vocabulary"), cut(textIn(row, "value")), String(row.uses)]);
  const title = `Values outside the vocabularies (${most.length} of ${outside.length}):`;
  return [
    "",
    formatTable(["column", "state", "field", "why", "usable", "values before → after"], lines),
    `${rows} rows = ${rows - refused} usable + ${refused} refused; dealers: ${dealers}`,
    ...issues.map(describeIssue),
    ...remarks,
    ...notes,
    ...(outside.length === 0 ? [] : ["", title, formatTable(["field", "value", "rows"], most)]),
  ];
}

function formatTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = columnWidths([head, ...lines], []);
  return `${formatTableHead(head, widths)}${formatTableLines(lines, widths)}`;
}
