/** `carquet sql`: runs an analyst's SQL query over the views of the published version. */
import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import { openAnalystDatabase } from "../../lake/analyst-database.ts";
import { type EngineSettings, engineOptions, lakeOption, memoryOption, threadsOption } from "../options.ts";
import { formatRows } from "../print.ts";

interface SqlSettings extends EngineSettings {
  readonly lake: string;
  readonly format: "table" | "csv" | "json";
}

export const sqlCommand = (): Command =>
  new Command("sql")
    .description(
      "Run a SQL query (DuckDB) over the published version. Views: active, snapshots, missing, sold and ended (flat listings), builds, " +
        "dealers, tokens, options, claims, deliveries and rejects. Without an argument, reads the query from standard input.",
    )
    .argument("[query]", "for example: SELECT make, median(price) FROM active GROUP BY make ORDER BY 2 DESC")
    .addOption(lakeOption())
    .addOption(new Option("--format <format>", "output format").choices(["table", "csv", "json"]).default("table"))
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (query: string | undefined, settings: SqlSettings) => {
      const statement = query ?? (await text(process.stdin));
      const result = await openAnalystDatabase(settings.lake, engineOptions(settings), (runQuery) =>
        runQuery(statement),
      );
      process.stdout.write(formatRows(result, settings.format));
    });
