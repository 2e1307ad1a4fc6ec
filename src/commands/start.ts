/** `carquet start`, which is `npm start`: something to try at once. Fills an empty lake with a demo market, then serves it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { usualShares } from "../demo/shape.ts";
import { currentVersion } from "../lake/manifest.ts";
import { demoKey } from "./demo-key.ts";
import { daysOption, generateInto, listingsOption } from "./generate.ts";
import { ingestInto } from "./ingest.ts";
import { type ServeSettings, serveUntilStopped, serving } from "./serve.ts";

/** The demo: large enough that every search finds something, small enough to be there in about a minute. */
const demo = { listings: 30_000, days: 30, end: "2026-11-19", seed: 1 } as const;

interface StartSettings extends ServeSettings {
  readonly listings: number;
  readonly days: number;
}

export const startCommand = (): Command =>
  serving(new Command("start"))
    .summary("fill an empty lake with a demo market, then serve")
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

/** Makes the demo market's feeds in a folder that goes when they are in the lake. */
async function fill(settings: StartSettings): Promise<void> {
  const { listings, days } = settings;
  const folder = await mkdtemp(join(tmpdir(), "carquet-demo-"));
  try {
    const feeds = join(folder, "feeds");
    const shape = { ...demo, listings, days, format: "parquet", options: "typical", shares: usualShares } as const;
    await generateInto(feeds, shape, settings);
    await ingestInto(feeds, settings, "brief");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const requestsToTry = (url: string, key: string): readonly string[] => [
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?limit=3'`,
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?make=toyota,honda&max_price=30000&sort=price&fields=year,make,model,trim,price,miles,city,state'`,
  `curl '${url}/v1/openapi.json'`,
];
