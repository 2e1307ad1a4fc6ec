/** `carquet sql`: the engine over the lake's views, for analysts. */
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
      "Runs a query over the published version: the views active, snapshots, missing, sold and ended (flat listings), builds, " +
        "dealers, tokens, options, claims, deliveries and rejects. Reads the query from standard input when none is given.",
    )
    .argument("[query]", "for example: SELECT make, median(price) FROM active GROUP BY make ORDER BY 2 DESC")
    .addOption(lakeOption())
    .addOption(new Option("--format <format>", "how to print").choices(["table", "csv", "json"]).default("table"))
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (query: string | undefined, settings: SqlSettings) => {
      const statement = query ?? (await text(process.stdin));
      const answer = await openAnalystDatabase(settings.lake, engineOptions(settings), (ask) => ask(statement));
      process.stdout.write(formatRows(answer, settings.format));
    });
