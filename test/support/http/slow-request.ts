/** Requests that keep the engine busy for some hundred milliseconds, and the lake on which they do. */
import { join } from "node:path";
import { plusDays } from "../../../src/base/day.ts";
import { indexLake } from "../../../src/cli/commands/index-lake.ts";
import { eventually } from "../command-line.ts";
import { cachedFolder, hashOf } from "../lakes/cache.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../lakes/feeds.ts";
import { copyLake, createLake, temporaryCopy, temporaryFolder } from "../lakes/lakes.ts";
import { manifestOf, rewriteManifest } from "../replication/published-lakes.ts";
import type { Scope } from "../scope.ts";
import type { Client } from "./service.ts";

const firstDay = "2026-01-05";
const lastDay = "2026-11-19";
const carCount = 3_000;
const makeCount = 10;

/** A past day of the lake. */
export const slowLakeDay = "2026-11-18";

/** Creates a lake of 319 days in which nothing changes: the rows of two deliveries hold on all of them. */
export async function createSlowLake(scope: Scope): Promise<string> {
  const feeds = await temporaryFolder(scope);
  const numbers = Array.from({ length: carCount }, (_, n) => n);
  const inventory = numbers.map((n) => ({
    vin: vinOf(n),
    dealer_id: dealerIdOf(n % makeCount),
    make: `Make ${n % makeCount}`,
    model: "One",
    price: 20_000 + n,
    msrp: 22_000 + n,
    miles: 10 * n,
  }));
  const dealers = numbers.slice(0, makeCount).map((n) => ({ dealer_id: dealerIdOf(n), name: `${n}` }));
  for (const day of [firstDay, lastDay]) await writeFeeds(feeds, day, { dealers, inventory });
  const cached = await cachedFolder(hashOf([feeds], "slow"), async (folder) => {
    const { lake } = await createLake(scope, feeds);
    const days = { ...(await manifestOf(lake)).days };
    for (let day = firstDay; day < lastDay; day = plusDays(day, 1)) days[day] = carCount;
    await rewriteManifest(lake, { days });
    // Otherwise each service that opens the lake would build them.
    await indexLake({ lake, threads: 1, memoryLimit: "1GiB" }, () => undefined);
    await copyLake(lake, join(folder, "lake"));
  });
  return temporaryCopy(scope, join(cached, "lake"));
}

/** The parameters of a trend with five statistics of each of these days, which are one statement. */
export const slowParameters = {
  metric: "price.p95,price.p50,miles.p50,discount_from_msrp.p5,days_on_market.mean",
  interval: "day" as const,
  from: firstDay,
};

type Measured = Pick<Client, "metricsUrl">;

/** Resolves when a gauge of a service is at least `min`. */
const untilGauge = ({ metricsUrl = "" }: Measured, gauge: string, min: number): Promise<void> =>
  eventually(`${gauge} is ${min}`, async () => {
    const metrics = await (await fetch(metricsUrl)).text();
    return Number(new RegExp(`^${gauge} (\\d+)$`, "m").exec(metrics)?.[1]) >= min;
  });

/** Resolves when statements wait for a session. */
export const untilBusy = (service: Measured): Promise<void> =>
  untilGauge(service, "carquet_engine_statements_waiting", 1);

/** Resolves when a service answers a number of requests at once. */
export const untilInFlight = (service: Measured, requests: number): Promise<void> =>
  untilGauge(service, "carquet_requests_in_flight", requests);

export const slowRequest = `/v1/trends?${new URLSearchParams(slowParameters)}`;
