/** `carquet quality`: reports the quality of each dealer's feed of a day. */
import { Command } from "commander";
import { printable, UserError } from "../../../base/user-error.ts";
import { qualityColumns, qualityCsv, qualityReport, qualityStatuses } from "../../../query/quality/quality.ts";
import { dayParser } from "../../option-parsers.ts";
import { formatRows } from "../../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";
import { withPublishedRecords } from "./release.ts";

// biome-ignore format: a table is read by its columns
const qualitySettings = {
  ...sharedSettings("lake", "dataVersion"),
  dealer: { flags: "--dealer <id>", help: "only the feed of this dealer" },
  status: { flags: "--status <status>", choices: qualityStatuses, default: "warn", help: "the mildest status that is printed" },
  format: { flags: "--format <format>", choices: ["table", "csv", "json"], default: "table", help: "output format" },
  ...sharedSettings("threads", "memoryLimit"),
} as const satisfies SettingRows;

export const qualityCommand = (): Command =>
  addSettings(new Command("quality"), qualitySettings)
    .description(
      "Report, for each dealer's feed of a day, its size, refused rows, unusual and missing values, outliers, duplicates, jumps of prices and " +
        "mileages, and dealers without a feed: each beside what is usual for the dealer, with a status and examples.",
    )
    .argument("[day]", "day of the lake, YYYY-MM-DD (default: the published one)", dayParser)
    .action((day: string | undefined, { dealer, status, format, ...settings }: ValuesOf<typeof qualitySettings>) =>
      withPublishedRecords({ ...settings, day }, async (records) => {
        const { as_of } = records.manifest;
        if (dealer !== undefined && (await records.feeds.feedsOf([dealer], as_of)).length === 0)
          throw new UserError(
            `Unknown dealer ${printable(dealer, 60)}: expected a dealer that has delivered by ${as_of}.`,
          );
        const rows = await qualityReport(records, { day: day ?? as_of, status, dealer });
        process.stdout.write(
          format === "csv" ? qualityCsv(rows) : formatRows({ columns: qualityColumns, rows }, format),
        );
      }),
    );
