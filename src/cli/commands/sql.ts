/** `carquet sql`: runs an analyst's SQL statements over the views of the published version, or opens a shell for them. */
import { Command, Option } from "commander";
import { type AnalystDatabase, openAnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { exitOnSignals } from "../exit-on-signals.ts";
import {
  type EngineSettings,
  engineOptions,
  lakeOption,
  memoryOption,
  sqlHistoryOption,
  threadsOption,
} from "../options.ts";
import { checkPrintable, formatOfFile, type ResultFormat, resultFormats } from "../sql/result-formats.ts";
import { printResults, statementsIn, writeLastResult } from "../sql/run-statements.ts";

interface SqlSettings extends EngineSettings {
  readonly lake: string;
  readonly format: ResultFormat;
  readonly output?: string;
  readonly history?: string;
}

export const sqlCommand = (): Command =>
  new Command("sql")
    .description(
      "Run a SQL query (DuckDB) over the published version. Views: active, missing, contenders, sold and ended (flat listings), active_days, missing_days and contenders_days (those of every day), builds, " +
        "dealers, tokens, options, claims, deliveries, rejects and price_changes; snapshot('YYYY-MM-DD') is one day. Without an argument, " +
        "opens a shell on a terminal, else reads statements from standard input. Statements cannot change files or settings.",
    )
    .argument("[query]", "for example: SELECT make, median(price) FROM active GROUP BY make ORDER BY 2 DESC")
    .addOption(lakeOption())
    .addOption(new Option("--format <format>", "output format").choices(resultFormats).default("table"))
    .addOption(
      new Option(
        "--output <file>",
        "write the result to this file, as a whole or not at all; its extension names the format, unless --format does",
      ),
    )
    .addOption(sqlHistoryOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (query: string | undefined, settings: SqlSettings, command: Command) => {
      const isFormatSet = command.getOptionValueSource("format") !== "default";
      const { lake, output } = settings;
      const format = output === undefined || isFormatSet ? settings.format : formatOfFile(output, settings.format);
      exitOnSignals();
      await openAnalystDatabase(lake, engineOptions(settings), async (database) => {
        if (query === undefined && output === undefined && process.stdin.isTTY && process.stdout.isTTY)
          return openShell(database, settings);
        const statements = statementsIn(query === undefined ? process.stdin.setEncoding("utf8") : oneText(query));
        if (output !== undefined) return writeLastResult(database, statements, { format, file: output });
        checkPrintable(format, process.stdout.isTTY);
        return printResults(database, statements, format);
      });
    });

async function openShell(database: AnalystDatabase, { format, history }: SqlSettings): Promise<void> {
  const { runShell } = await import("../sql/shell.ts");
  await runShell({ database, input: process.stdin, output: process.stdout, format, historyFile: history });
}

async function* oneText(text: string): AsyncGenerator<string> {
  yield text;
}
