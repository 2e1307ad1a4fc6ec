/** `carquet sql`: runs an analyst's SQL statements over the views of a version: of an argument, a file or standard input. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Command, type ParseOptionsResult } from "commander";
import { endWithParent, exitOnSignals } from "../../base/exits.ts";
import { messageOf, UsageError, UserError } from "../../base/user-error.ts";
import { report } from "../../export/limits.ts";
import { formatOfFile } from "../../formats/table-formats.ts";
import { openAnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { catalogName } from "../../lake/analyst/catalog.ts";
import { checkParameters } from "../../lake/analyst/statements.ts";
import { integerParser, namedParser } from "../option-parsers.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";
import { reportDamage, watched } from "../statement-process.ts";
import { checkPrintable, printResults, resultFormats, writeLastResult } from "../statement-results.ts";

// biome-ignore format: a table is read by its columns
const sqlSettings = {
  ...sharedSettings("lake", "dataVersion"),
  file: { flags: "--file <file>", help: "read statements from this file, or from standard input with -" },
  param: { flags: "--param <name=value>", parse: namedParser("a value, such as make=Ford"),
    help: "value of $name in statements: a number, true, false, null or a string in JSON, else a text; can be repeated" },
  attach: { flags: "--attach <name=file>", parse: namedParser("a file, such as vins=vins.csv"),
    help: "read a CSV, NDJSON or Parquet file as a view of this name; can be repeated" },
  format: { flags: "--format <format>", choices: resultFormats, default: "table", help: "output format" },
  output: { flags: "--output <file>",
    help: "write the result to this file, as a whole or not at all; its extension names the format, unless --format does" },
  escapesFormulas: { flags: "--escape-formulas", help: "put an apostrophe before texts in CSV that a spreadsheet would take for formulas" },
  rowsMax: { flags: "--max-rows <n>", parse: integerParser(1_000_000_000, 1), help: "refuse a result of more rows" },
  ...sharedSettings("threads", "memoryLimit"),
} as const satisfies SettingRows;

type SqlValues = ValuesOf<typeof sqlSettings>;

/** A command whose argument may begin with a comment: `-- ` and a text is no option. */
class QueryCommand extends Command {
  override parseOptions(words: string[]): ParseOptionsResult {
    return super.parseOptions(words.map((word) => (isComment(word) ? `\n${word}` : word)));
  }
}

/** Returns true for a word that begins with two hyphens, but not as `--name` or `--name=value` do. */
const isComment = (word: string): boolean => word.length > 2 && /^--(?![a-z][\w-]*(?:=|$))/is.test(word);

export const sqlCommand = (): Command =>
  addSettings(new QueryCommand("sql"), sqlSettings)
    .description(
      "Run a SQL query (DuckDB) over the published version. Views: active, missing, contenders, sold and ended (flat listings), active_days, missing_days and contenders_days (those of every day), builds, " +
        "dealers, tokens, options, claims, feeds, rejects and price_changes; snapshot('YYYY-MM-DD') is one day. Without a query or --file, " +
        "reads statements from standard input. Statements cannot change files or settings.",
    )
    .argument("[query]", "for example: SELECT make, median(price) FROM active GROUP BY make ORDER BY 2 DESC")
    .action(async (query: string | undefined, settings: SqlValues, command: Command) => {
      if (query !== undefined && settings.file !== undefined)
        throw new UsageError("Invalid arguments: expected either a query or --file.");
      if (query === undefined && settings.file === undefined && process.stdin.isTTY)
        throw new UsageError(
          "Missing statements: expected a query, --file <file>, or statements on standard input. " +
            `For a prompt: duckdb -readonly ${join(settings.lake, catalogName)}`,
        );
      const isFormatSet = command.getOptionValueSource("format") !== "default";
      const { lake, output, escapesFormulas } = settings;
      const isRaw = escapesFormulas !== true;
      const format =
        output === undefined || isFormatSet ? settings.format : formatOfFile(output, resultFormats, settings.format);
      if (output === undefined) checkPrintable(format, process.stdout.isTTY);
      endWithParent();
      exitOnSignals();
      // Belongs to the start of the process, which is not charged.
      if (format === "arrow") await import("../../formats/arrow.ts");
      await openAnalystDatabase(lake, settings, (database) =>
        watched(database, settings, async () => {
          const isWhole = query !== undefined || !isOfInput(settings);
          const text = await checkedText(query === undefined ? textOf(settings) : oneText(query), isWhole, settings);
          if (output !== undefined)
            return report(await writeLastResult(database, text, { file: output, format, isRaw }));
          return printResults(database, text, format, isRaw);
        }),
      ).catch((thrown: unknown) => {
        reportDamage(thrown);
        throw thrown;
      });
    });

const isOfInput = ({ file = "-" }: { readonly file?: string }): boolean => file === "-";

/** Reads the text of a file or of standard input. Throws a UserError if it cannot be read. */
async function* textOf({ file = "-" }: SqlValues): AsyncGenerator<string> {
  try {
    yield* isOfInput({ file }) ? process.stdin.setEncoding("utf8") : createReadStream(file, "utf8");
  } catch (thrown) {
    throw new UserError(`Cannot read ${file}: ${messageOf(thrown)}: expected a file of SQL statements.`);
  }
}

/** Returns all of a text, whose parameters are checked before the first statement; standard input as it arrives, if no parameter is given. */
async function checkedText(chunks: AsyncIterable<string>, isWhole: boolean, { param }: SqlValues) {
  if (param === undefined && !isWhole) return chunks;
  const statements = await text(chunks);
  checkParameters(statements, param ?? new Map());
  return oneText(statements);
}

async function* oneText(whole: string): AsyncGenerator<string> {
  yield whole;
}
