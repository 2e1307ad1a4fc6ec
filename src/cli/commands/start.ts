/** `carquet start`, which is `npm start`: something to try at once. Fills an empty lake with a demo market, then serves it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { prefetch } from "../../base/prefetch.ts";
import { generateDays } from "../../demo/generate.ts";
import { defaultShares, type MarketShape } from "../../demo/market-shape.ts";
import { type Delivery, deliveriesAt } from "../../ingest/feed/delivery.ts";
import { currentVersion } from "../../lake/manifest.ts";
import { demoKey } from "../demo-key.ts";
import { type EngineSettings, engineOptions } from "../options.ts";
import { createProgress } from "../progress.ts";
import { daysOption, listingsOption } from "./generate.ts";
import { ingestInto } from "./ingest.ts";
import { addServeOptions, type ServeSettings, serveUntilStopped } from "./serve.ts";

/** The demo: large enough that every search finds something, small enough to be there in about a minute. */
const demo = { listings: 25_000, days: 30, end: "2026-11-19", seed: 1 } as const;

/** Up to here a second thread of the engine makes half as much work again, and a day is ready no sooner. */
const listingsOfOneThread = 100_000;

interface StartSettings extends ServeSettings {
  readonly listings: number;
  readonly days: number;
}

export const startCommand = (): Command =>
  addServeOptions(new Command("start"))
    .description(
      "Generates a market and ingests it when nothing has been published yet, which takes about a minute; makes a demo account with " +
        "promotional credits and a key for it, prints three requests to try, and serves.",
    )
    .addOption(listingsOption().default(demo.listings))
    .addOption(daysOption().default(demo.days))
    .action(async (settings: StartSettings) => {
      if ((await currentVersion(settings.lake)) === undefined) await fill(settings);
      const key = demoKey(settings.accounts, Date.now());
      await serveUntilStopped(settings, (url) => requestsToTry(url, key));
    });

/** Makes the demo market, in a folder that goes when it is in the lake; a day is made while the one before it is ingested. */
async function fill(settings: StartSettings): Promise<void> {
  const { listings, days } = settings;
  const engine = listings > listingsOfOneThread ? settings : { threads: 1, ...settings };
  const folder = await mkdtemp(join(tmpdir(), "carquet-demo-"));
  try {
    const shape = { ...demo, listings, days, format: "parquet", options: "typical", shares: defaultShares } as const;
    await ingestInto(prefetch(deliveriesOf(join(folder, "feeds"), shape, engine)), engine, "brief");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The deliveries of a market that is made as they are asked for. */
async function* deliveriesOf(
  feeds: string,
  shape: MarketShape,
  engine: EngineSettings,
): AsyncGenerator<Delivery, void, undefined> {
  const shown = createProgress();
  const onStep = (step: number, steps: number, what: string): void => {
    if (step === 1) shown.step("market", step, steps, what);
    else shown.end();
  };
  for await (const { folder } of generateDays(feeds, shape, { ...engineOptions(engine), onStep })) {
    yield* await deliveriesAt(folder, undefined);
  }
}

const requestsToTry = (url: string, key: string): readonly string[] => [
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?limit=3'`,
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?make=toyota,honda&max_price=30000&sort=price&fields=year,make,model,trim,price,miles,city,state'`,
  `curl '${url}/v1/openapi.json'`,
];
