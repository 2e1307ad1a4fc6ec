/** `carquet sql`: runs an analyst's SQL statements over the views of the published version, or opens a shell for them. */
import { Command } from "commander";
import { exitOnSignals } from "../../base/exits.ts";
import { type AnalystDatabase, openAnalystDatabase } from "../../lake/analyst/analyst-database.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";
import { checkPrintable, formatOfFile, resultFormats } from "../sql/result-formats.ts";
import { printResults, statementsIn, writeLastResult } from "../sql/run-statements.ts";

// biome-ignore format: a table is read by its columns
const sqlSettings = {
  ...sharedSettings("lake"),
  format: { flags: "--format <format>", choices: resultFormats, default: "table", help: "output format" },
  output: { flags: "--output <file>",
    help: "write the result to this file, as a whole or not at all; its extension names the format, unless --format does" },
  history: { flags: "--history <file>", env: "CARQUET_SQL_HISTORY",
    help: "file that keeps the shell's history, or none (default: sql_history in the folder carquet of $XDG_STATE_HOME, else of ~/.local/state)" },
  ...sharedSettings("threads", "memoryLimit"),
} as const satisfies SettingRows;

type SqlValues = ValuesOf<typeof sqlSettings>;

export const sqlCommand = (): Command =>
  addSettings(new Command("sql"), sqlSettings)
    .description(
      "Run a SQL query (DuckDB) over the published version. Views: active, missing, contenders, sold and ended (flat listings), active_days, missing_days and contenders_days (those of every day), builds, " +
        "dealers, tokens, options, claims, deliveries, rejects and price_changes; snapshot('YYYY-MM-DD') is one day. Without an argument, " +
        "opens a shell on a terminal, else reads statements from standard input. Statements cannot change files or settings.",
    )
    .argument("[query]", "for example: SELECT make, median(price) FROM active GROUP BY make ORDER BY 2 DESC")
    .action(async (query: string | undefined, settings: SqlValues, command: Command) => {
      const isFormatSet = command.getOptionValueSource("format") !== "default";
      const { lake, output } = settings;
      const format = output === undefined || isFormatSet ? settings.format : formatOfFile(output, settings.format);
      exitOnSignals();
      await openAnalystDatabase(lake, settings, async (database) => {
        if (query === undefined && output === undefined && process.stdin.isTTY && process.stdout.isTTY)
          return openShell(database, settings);
        const statements = statementsIn(query === undefined ? process.stdin.setEncoding("utf8") : oneText(query));
        if (output !== undefined) return writeLastResult(database, statements, { format, file: output });
        checkPrintable(format, process.stdout.isTTY);
        return printResults(database, statements, format);
      });
    });

async function openShell(database: AnalystDatabase, { format, history }: SqlValues): Promise<void> {
  const { runShell } = await import("../sql/shell.ts");
  await runShell({ database, input: process.stdin, output: process.stdout, format, historyFile: history });
}

async function* oneText(text: string): AsyncGenerator<string> {
  yield text;
}
