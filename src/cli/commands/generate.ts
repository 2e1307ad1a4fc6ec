/** `carquet generate`: writes the deliveries of a generated market, for demos and tests. Reproducible from its seed. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type GeneratedMarket, generate } from "../../demo/generate.ts";
import { defaultShares, feedFailures, type MarketShape, type Shares, shareMax } from "../../demo/market-shape.ts";
import { dayParser, integerParser } from "../option-parsers.ts";
import { type EngineSettings, engineOptions, mandatory, memoryOption, threadsOption } from "../options.ts";
import { createProgress } from "../progress.ts";

interface GenerateSettings extends EngineSettings, Omit<MarketShape, "shares"> {
  readonly out: string;
  readonly trouble: Shares;
}

/** Limits of the options; beyond these, ids of cars and dealers overflow. */
const listingsMax = 20_000_000;
const daysMax = 3660;
const seedMax = 2 ** 31 - 1;

export const listingsOption = (): Option =>
  new Option("--listings <n>", "approximate number of active listings per day").argParser(
    integerParser(listingsMax, 1),
  );

export const daysOption = (): Option =>
  new Option("--days <n>", "number of days, one delivery each").argParser(integerParser(daysMax, 1));

const seedOption = (): Option =>
  new Option("--seed <n>", "random seed; each seed generates another market").argParser(integerParser(seedMax));

const equipmentOption = (): Option =>
  new Option(
    "--options <kind>",
    "typical: cars of a version share their options; distinct: nearly every car has its own, the worst case for file sizes and facets",
  )
    .choices(["typical", "distinct"])
    .default("typical");

const troubleOption = (): Option =>
  new Option(
    "--trouble <shares>",
    `shares of irregular cars and feeds as name=share,..., each up to ${shareMax}; none=0 sets all others to 0`,
  )
    .argParser(sharesParser)
    .default(
      defaultShares,
      Object.entries(defaultShares)
        .map(([name, share]) => `${name}=${share}`)
        .join(","),
    );

export const generateCommand = (): Command =>
  new Command("generate")
    .description(
      "Write the daily deliveries of a generated market: a scaled-down United States, reproducible from its seed. Beside them, " +
        "truth.csv lists the expected events of each day (sold, missing, relisted, transferred, rejected, ...), and dirt.csv the rows " +
        "with deliberate errors. The folder is valid input for `carquet ingest`.",
    )
    .addOption(mandatory(new Option("--out <dir>", "output folder; must be empty or not exist")))
    .addOption(mandatory(listingsOption()))
    .addOption(mandatory(daysOption()))
    .addOption(mandatory(new Option("--end <YYYY-MM-DD>", "last day").argParser(dayParser)))
    .addOption(mandatory(seedOption()))
    .addOption(new Option("--format <format>", "format of the feed files").choices(["csv", "parquet"]).default("csv"))
    .addOption(equipmentOption())
    .addOption(troubleOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (settings: GenerateSettings) => {
      const { days, rows } = await generateInto(settings.out, { ...settings, shares: settings.trouble }, settings);
      process.stdout.write(
        `${settings.out}: ${rows} rows in ${days} ${days === 1 ? "delivery" : "deliveries"}; truth.csv lists the expected events.\n`,
      );
    });

/** Generates a market below a folder and shows the progress. */
async function generateInto(out: string, shape: MarketShape, engine: EngineSettings): Promise<GeneratedMarket> {
  const progress = createProgress();
  try {
    return await generate(out, shape, {
      ...engineOptions(engine),
      onStep: (...step) => progress.step("market", ...step),
    });
  } finally {
    progress.end();
  }
}

/** A market without irregular cars and feeds. */
const noShares: Shares = {
  shared: 0,
  transferred: 0,
  relisted: 0,
  dirt: 0,
  late: 0,
  partial: 0,
  empty: 0,
  absent: 0,
  closing: 0,
};

/** Parses `late=0.02,dirt=0.1`. Other shares keep their default, or are 0 with `none=0`. */
function sharesParser(text: string): Shares {
  const pairs = text.split(",").map((pair) => pair.split("="));
  const base = pairs.some(([name]) => name === "none") ? noShares : defaultShares;
  const parsed: Record<string, number> = { ...base };
  for (const [name = "", value = ""] of pairs) {
    if (name === "none" && value === "0") continue;
    const share = Number(value);
    if (!(name in defaultShares))
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
