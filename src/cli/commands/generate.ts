/** `carquet generate`: a market to try things on, as the deliveries of its dealers. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type GeneratedMarket, generate } from "../../demo/generate.ts";
import { defaultShares, feedFailures, type MarketShape, type Shares, shareMax } from "../../demo/market-shape.ts";
import { dayParser, type EngineSettings, engineOptions, memoryOption, threadsOption, wholeParser } from "../options.ts";
import { createProgress } from "../progress.ts";

interface GenerateSettings extends EngineSettings, Omit<MarketShape, "shares"> {
  readonly out: string;
  readonly trouble: Shares;
}

/** Most listings, days and seeds; beyond that the numbers of cars and dealers no longer fit. */
const listingsMax = 20_000_000;
const daysMax = 3660;
const seedMax = 2 ** 31 - 1;

export const listingsOption = (): Option =>
  new Option("--listings <n>", "active listings on a day, nearly").argParser(wholeParser(listingsMax, 1));

export const daysOption = (): Option =>
  new Option("--days <n>", "days with a delivery").argParser(wholeParser(daysMax, 1));

export const generateCommand = (): Command =>
  new Command("generate")
    .description(
      "Writes the daily deliveries of a market that behaves like the real one: the United States in miniature, of any size, the same " +
        "from the same seed. Beside them, truth.csv says day by day what happened (sold, missing, relisted, transferred, rejected, ...) " +
        "and dirt.csv which rows were written wrongly. `ingest` takes the folder as it is.",
    )
    .requiredOption("--out <dir>", "the folder to write to; it must be empty or not there yet")
    .addOption(listingsOption().makeOptionMandatory())
    .addOption(daysOption().makeOptionMandatory())
    .addOption(new Option("--end <YYYY-MM-DD>", "the last of them").argParser(dayParser).makeOptionMandatory())
    .addOption(
      new Option("--seed <n>", "another seed, another market").argParser(wholeParser(seedMax)).makeOptionMandatory(),
    )
    .addOption(new Option("--format <format>", "of the files").choices(["csv", "parquet"]).default("csv"))
    .addOption(
      new Option(
        "--options <kind>",
        "whether cars are equipped as their versions are, or nearly each in a way of its own: the worst case for sizes and facets",
      )
        .choices(["typical", "distinct"])
        .default("typical"),
    )
    .addOption(
      new Option(
        "--trouble <shares>",
        `shares of what goes wrong, up to ${shareMax}, as name=share,...; none=0 sets all others to 0`,
      )
        .argParser(shares)
        .default(
          defaultShares,
          Object.entries(defaultShares)
            .map(([name, share]) => `${name}=${share}`)
            .join(","),
        ),
    )
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (settings: GenerateSettings) => {
      const { days, rows } = await generateInto(settings.out, { ...settings, shares: settings.trouble }, settings);
      process.stdout.write(
        `${settings.out}: ${rows} rows of inventory in ${days} ${days === 1 ? "delivery" : "deliveries"}; truth.csv says what happened.\n`,
      );
    });

/** Generates a market below a folder and says how far it is. */
async function generateInto(out: string, shape: MarketShape, engine: EngineSettings): Promise<GeneratedMarket> {
  const shown = createProgress();
  try {
    return await generate(out, shape, { ...engineOptions(engine), onStep: (...step) => shown.step("market", ...step) });
  } finally {
    shown.end();
  }
}

/** A market in which all goes well. */
const none: Shares = {
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

/** Reads `late=0.02,dirt=0.1`; what is not named stays as usual, or is 0 after `none=0`. */
function shares(text: string): Shares {
  const given = text.split(",").map((part) => part.split("="));
  const base = given.some(([name]) => name === "none") ? none : defaultShares;
  const read: Record<string, number> = { ...base };
  for (const [name = "", value = ""] of given) {
    if (name === "none" && value === "0") continue;
    const share = Number(value);
    if (!(name in defaultShares))
      throw new InvalidArgumentError(`"${name}" is none of ${Object.keys(defaultShares).join(", ")}.`);
    if (!/^\d*\.?\d+$/.test(value) || share > shareMax)
      throw new InvalidArgumentError(`allowed is a share up to ${shareMax} for ${name}.`);
    read[name] = share;
  }
  const all: Shares = { ...base, ...read };
  if (feedFailures.reduce((sum, name) => sum + all[name], 0) > 1 / 3)
    throw new InvalidArgumentError(`${feedFailures.join(", ")} may be a third of the feeds together.`);
  return all;
}
