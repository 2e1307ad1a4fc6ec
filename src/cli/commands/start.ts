/** `carquet start`, run by `npm start`: fills an empty lake with a demo market, creates a demo key, and serves. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { linkUrl } from "../../accounts/sign-in/one-time-links.ts";
import { prefetch } from "../../base/prefetch.ts";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import { generateDays } from "../../demo/generate.ts";
import { defaultShares, type MarketShape } from "../../demo/market-shape.ts";
import { requireFreePort } from "../../http/service/http-server.ts";
import { type Delivery, deliveriesAt } from "../../ingest/feed/delivery.ts";
import { ingest } from "../../ingest/ingest.ts";
import { currentVersion } from "../../lake/manifest.ts";
import { requireLakeFolder } from "../../lake/published-lake.ts";
import { createDemoAccess, type DemoAccess } from "../demo-key.ts";
import { engineOptions } from "../options.ts";
import { createProgress } from "../progress.ts";
import { daysOption, listingsOption } from "./generate.ts";
import { addServeOptions, type ServeSettings, serveUntilStopped } from "./serve.ts";

/** The demo market: large enough that typical searches have matches, small enough to build in under half a minute. */
const demo = { listings: 10_000, days: 10, end: "2026-11-19", seed: 1 } as const;

/** Up to this size a second engine thread costs 50 % more CPU time and makes no day faster. */
const singleThreadListingsMax = 100_000;

interface StartSettings extends ServeSettings {
  readonly listings: number;
  readonly days: number;
}

export const startCommand = (): Command =>
  addServeOptions(new Command("start"))
    .description(
      "Fill an empty lake with a generated market (takes less than half a minute), create a demo account with promotional credits and an API key, " +
        "print three example requests and a link that signs in to the explorer once, and serve.",
    )
    .addOption(listingsOption().default(demo.listings))
    .addOption(daysOption().default(demo.days))
    .action(async (settings: StartSettings) => {
      await requireFreePort(settings.host, settings.port);
      await requireLakeFolder(settings.lake);
      if ((await currentVersion(settings.lake)) === undefined) await ingestDemoMarket(settings);
      const access = createDemoAccess(settings.accounts, Date.now());
      await serveUntilStopped(settings, (url) => greeting(url, access));
    });

/** Generates the demo market in a temporary folder and ingests it; generates each day while the previous one is ingested. */
async function ingestDemoMarket({ lake, listings, days, ...settings }: StartSettings): Promise<void> {
  const engine = engineOptions(listings > singleThreadListingsMax ? settings : { threads: 1, ...settings });
  const folder = await mkdtemp(join(tmpdir(), "carquet-demo-"));
  const progress = createProgress();
  let ingested = 0;
  try {
    const shape = { ...demo, listings, days, format: "parquet", options: "typical", shares: defaultShares } as const;
    await ingest(lake, prefetch(generateDeliveries(join(folder, "feeds"), shape, engine)), {
      ...engine,
      onDay: ({ day, active }) => {
        ingested += 1;
        progress.step("demo market", ingested, days, `${day}: ${active} active listings`);
      },
    });
  } finally {
    progress.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Generates a market lazily, one delivery at a time. */
async function* generateDeliveries(
  feeds: string,
  shape: MarketShape,
  engine: DatabaseOptions,
): AsyncGenerator<Delivery, void, undefined> {
  for await (const { folder } of generateDays(feeds, shape, engine)) yield* await deliveriesAt(folder, undefined);
}

const greeting = (url: string, { key, linkSecret }: DemoAccess): readonly string[] => [
  `explore the market, signed in to the demo account by one click: ${linkUrl(url, "sign_in", linkSecret)}`,
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?limit=3'`,
  `curl -H 'Authorization: Bearer ${key}' '${url}/v1/listings?make=toyota,honda&max_price=30000&sort=price&fields=year,make,model,trim,price,miles,city,state'`,
  `curl '${url}/v1/openapi.json'`,
];
