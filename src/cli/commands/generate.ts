/** `carquet generate`: writes the deliveries of a generated market, for demos and tests. Reproducible from its seed. */
import { Command, InvalidArgumentError } from "commander";
import { dialectNames } from "../../demo/deliveries/dialects.ts";
import { type GeneratedMarket, generate } from "../../demo/generate.ts";
import { defaultShares, feedFailures, type Shares, shareMax } from "../../demo/market-shape.ts";
import { dayParser, integerParser } from "../option-parsers.ts";
import { createProgress } from "../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

/** Limits of the options; beyond these, ids of cars and dealers overflow. */
const listingsMax = 30_000_000;
const daysMax = 3660;
const seedMax = 2 ** 31 - 1;

/** The size and the span of a market. */
// biome-ignore format: a table is read by its columns
export const marketSettings = {
  listings: { flags: "--listings <n>", parse: integerParser(listingsMax, 1), help: "approximate number of active listings per day" },
  days: { flags: "--days <n>", parse: integerParser(daysMax, 1), help: "number of days, one delivery each" },
  end: { flags: "--end <YYYY-MM-DD>", parse: dayParser, help: "last day" },
} as const satisfies SettingRows;

// biome-ignore format: a table is read by its columns
const generateSettings = {
  out: { flags: "--out <dir>", isRequired: true, help: "output folder; must be empty or not exist" },
  listings: { ...marketSettings.listings, isRequired: true },
  days: { ...marketSettings.days, isRequired: true },
  end: { ...marketSettings.end, isRequired: true },
  seed: { flags: "--seed <n>", isRequired: true, parse: integerParser(seedMax), help: "random seed; each seed generates another market" },
  format: { flags: "--format <format>", choices: ["csv", "parquet"], default: "csv", help: "format of the feed files" },
  dialect: { flags: "--dialect <name>", choices: dialectNames, conflicts: ["format"],
    help: "layout of a provider in which the inventories are written, as files that ingest recognizes" },
  options: { flags: "--options <kind>", choices: ["typical", "distinct"], default: "typical",
    help: "typical: cars of a version share their options; distinct: nearly every car has its own, the worst case for file sizes and facets" },
  shares: { flags: "--trouble <shares>", parse: sharesParser, default: defaultShares, shownDefault: textOf(defaultShares),
    help: `shares of irregular cars and feeds as name=share,..., each up to ${shareMax}; none=0 sets all others to 0` },
  ...sharedSettings("threads", "memoryLimit"),
} as const satisfies SettingRows;

type GenerateValues = ValuesOf<typeof generateSettings>;

export const generateCommand = (): Command =>
  addSettings(new Command("generate"), generateSettings)
    .description(
      "Write the daily deliveries of a generated market: a scaled-down United States, reproducible from its seed. Beside them, " +
        "truth.csv lists the expected events of each day (sold, missing, relisted, transferred, rejected, ...), and dirt.csv the rows " +
        "with deliberate errors. The folder is valid input for `carquet ingest`.",
    )
    .action(async (settings: GenerateValues) => {
      const { days, rows } = await generateMarket(settings);
      process.stdout.write(
        `${settings.out}: ${rows} rows in ${days} ${days === 1 ? "delivery" : "deliveries"}; truth.csv lists the expected events.\n`,
      );
    });

/** Generates a market and shows the progress. */
async function generateMarket(settings: GenerateValues): Promise<GeneratedMarket> {
  const progress = createProgress();
  try {
    return await generate(settings.out, settings, {
      ...settings,
      onStep: (...step) => progress.step("market", ...step),
    });
  } finally {
    progress.end();
  }
}

/** A market without irregular cars and feeds. */
const noShares = Object.fromEntries(Object.keys(defaultShares).map((name) => [name, 0])) as Shares;

/** Formats shares as the option takes them. */
function textOf(shares: Shares): string {
  const pairs = Object.entries(shares).map(([name, share]) => `${name}=${share}`);
  return pairs.join();
}

/** Parses `late=0.02,dirt=0.1`. Other shares keep their default, or are 0 with `none=0`. */
function sharesParser(text: string): Shares {
  const pairs = text.split(",").map((pair) => pair.split("="));
  const base = pairs.some(([name]) => name === "none") ? noShares : defaultShares;
  const parsed: Record<string, number> = { ...base };
  for (const [name = "", value = ""] of pairs) {
    if (name === "none" && value === "0") continue;
    const share = Number(value);
    if (!Object.hasOwn(defaultShares, name))
      throw new InvalidArgumentError(
        `Unknown share "${name}": expected one of ${Object.keys(defaultShares).join(", ")}.`,
      );
    if (!/^\d*\.?\d+$/.test(value) || share > shareMax)
      throw new InvalidArgumentError(`Invalid share "${value}" of ${name}: expected a number from 0 to ${shareMax}.`);
    parsed[name] = share;
  }
  const all: Shares = { ...base, ...parsed };
  if (feedFailures.reduce((sum, name) => sum + all[name], 0) > 1 / 3)
    throw new InvalidArgumentError(`Too many irregular feeds: expected ${feedFailures.join(" + ")} up to 1/3.`);
  return all;
}
