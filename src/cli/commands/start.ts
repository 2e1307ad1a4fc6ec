/**
 * `carquet start`, run by `npm start`: fills an empty lake with a demo market, creates a demo account with promotional credits, a new key and a sign-in
 * link, and serves.
 */
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { changeAccount, createAccount, getAccount, listAccounts } from "../../accounts/account.ts";
import { dayOf, monthOf } from "../../accounts/clock.ts";
import { createKey, listKeys, revokeKey, scopes } from "../../accounts/keys/keys.ts";
import { addCredit } from "../../accounts/ledger/ledger.ts";
import { createLink, linkUrl } from "../../accounts/sign-in/sign-in-tables.ts";
import { prefetch } from "../../base/concurrency.ts";
import { isDay, plusDays } from "../../base/day.ts";
import { exitOnSignals } from "../../base/exits.ts";
import { createFolder, replaceFile, withTemporaryFolder } from "../../base/files.ts";
import { UserError } from "../../base/user-error.ts";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import { generateDays } from "../../demo/generate.ts";
import { defaultShares, type MarketShape } from "../../demo/market-shape.ts";
import { requireFreePort } from "../../http/service/http-server.ts";
import { type Delivery, deliveriesAt } from "../../ingest/feed/delivery.ts";
import { ingest, singleThreadListingsMax } from "../../ingest/ingest.ts";
import { currentManifest, currentVersion, type Manifest } from "../../lake/manifest.ts";
import { withNewAccountsFile } from "../accounts-file.ts";
import { requireStartable } from "../checks.ts";
import { createProgress } from "../print.ts";
import { serviceSettings } from "../service-settings.ts";
import { addSettings, type ValuesOf } from "../settings.ts";
import { marketSettings } from "./generate.ts";
import { serveUntilStopped } from "./serve.ts";

/** The demo market: large enough that typical searches have matches, small enough to build in about a minute. */
const demo = { listings: 10_000, days: 20, seed: 1 } as const;

const startSettings = {
  ...serviceSettings,
  listings: { ...marketSettings.listings, default: demo.listings },
  days: { ...marketSettings.days, default: demo.days },
  end: { ...marketSettings.end, help: "last day (default: yesterday)" },
  sqlDeadlineMs: { ...serviceSettings.sqlDeadlineMs, default: 10_000, shownDefault: "10" },
};

type StartValues = ValuesOf<typeof startSettings>;

export const startCommand = (): Command =>
  addSettings(new Command("start"), startSettings)
    .description(
      "Fill an empty lake with a generated market (takes about a minute), create a demo account with promotional credits and an API key, " +
        "print a link that signs in to the explorer once, the key and a request, and serve. The port is checked before the market is generated.",
    )
    .action(async (settings: StartValues) => {
      await requireFreePort(settings.host, settings.port);
      await requireStartable(settings);
      const marker = join(settings.lake, ".filling-demo");
      const published = await currentManifest(settings.lake);
      if (existsSync(marker) || published === undefined) await fill(settings, marker, published);
      const access = settings.auth === "off" ? undefined : await createDemoAccess(settings.accounts, Date.now());
      const shown = { demoAccountId: access?.accountId, demoKey: access?.key };
      await serveUntilStopped({ ...settings, ...shown }, (url) => greeting(url, access));
    });

/**
 * Fills a lake, or continues where a start was killed: until it is filled, a file in it has the size and the span of its market. A lake with other days
 * has been filled with other data since, and stays unchanged.
 */
async function fill(settings: StartValues, marker: string, published: Manifest | undefined): Promise<void> {
  const yesterday = plusDays(dayOf(Date.now()), -1);
  const market = published === undefined ? { end: yesterday, ...settings } : await begunMarket(marker);
  if (published === undefined || isBeginning(published, market)) {
    await createFolder(settings.lake);
    await replaceFile(marker, `${market.listings} ${market.days} ${market.end}\n`);
    try {
      if (published?.as_of !== market.end) await ingestDemoMarket(settings, market);
    } catch (thrown) {
      if ((await currentVersion(settings.lake)) === undefined) await rm(marker);
      throw thrown;
    }
  }
  await rm(marker);
}

/** Returns whether the days of a lake are the first ones of a market. */
const isBeginning = (published: Manifest, { days, end }: Market): boolean =>
  published.as_of <= end && Object.keys(published.days).every((day, index) => day === plusDays(end, index + 1 - days));

type Market = Pick<MarketShape, "listings" | "days" | "end">;

/** Returns the market with which an earlier start began to fill the lake. Throws a UserError for a file that no start has written. */
async function begunMarket(marker: string): Promise<Market> {
  const text = await readFile(marker, "utf8");
  const [, listings, days, end = ""] = /^(\d{1,8}) (\d{1,4}) (\S+)\n$/.exec(text) ?? [];
  if (isDay(end)) return { listings: Number(listings), days: Number(days), end };
  throw new UserError(
    `Invalid file ${marker}: expected the listings, the days and the last day of the demo market that fills the lake. Remove the lake to begin again.`,
  );
}

/** Generates the demo market in a temporary folder and ingests it; generates each day while the previous one is ingested. */
async function ingestDemoMarket({ lake, ...options }: StartValues, { listings, days, end }: Market): Promise<void> {
  const engine: DatabaseOptions = listings > singleThreadListingsMax ? options : { threads: 1, ...options };
  const ignoreSignals = exitOnSignals();
  const progress = createProgress();
  let ingested = 0;
  try {
    const shape = {
      seed: demo.seed,
      listings,
      days,
      end,
      format: "parquet",
      options: "typical",
      shares: defaultShares,
    } as const;
    await withTemporaryFolder("carquet-demo-", (folder) =>
      ingest(lake, prefetch(generateDeliveries(join(folder, "feeds"), shape, engine)), {
        ...engine,
        onDay: ({ day, active }) => {
          ingested += 1;
          progress.step("demo market", ingested, days, `${day}: ${active} active listings`);
        },
      }),
    );
  } finally {
    progress.end();
    ignoreSignals();
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

/** Returns lines that show how to explore the market: with access to the demo account, or without accounts. They can be pasted. */
function greeting(url: string, access: DemoAccess | undefined): readonly string[] {
  const listings = `${url}/v1/listings?make=toyota,honda&max_price=30000&sort=price&limit=3`;
  if (access === undefined) return [`explore the market: ${url}/`, `curl '${listings}'`];
  return [
    `explore the market, signed in to the demo account: ${linkUrl(url, "sign_in", access.linkSecret)}`,
    `export CARQUET_KEY=${access.key}`,
    `curl -H "Authorization: Bearer $CARQUET_KEY" '${listings}'`,
  ];
}

const email = "demo@carquet.invalid";
/** The highest tier: a newcomer who clicks around does not meet the rate limits. */
const tier = 4;
/** The initial credit, added again when the balance falls below a fifth of it. */
const creditMicros = 25_000_000;
/** The name of the keys that are printed; keys that a visitor creates in the web application stay. */
const keyName = "npm start";
/** Keys of earlier starts that stay valid. Secrets are not stored, so an existing key cannot be shown again. */
const earlierKeysMax = 3;

/** Access to the demo: its account, a new key, and the secret of a sign-in link. */
export interface DemoAccess {
  readonly accountId: string;
  readonly key: string;
  readonly linkSecret: string;
}

/** Returns access to the demo account, which is an operator; creates the file, the account and its credit as needed. */
export function createDemoAccess(path: string, atMs: number): Promise<DemoAccess> {
  return withNewAccountsFile(path, async (database) => {
    const accounts = await listAccounts(database, monthOf(atMs));
    const account = accounts.find((known) => known.email === email);
    const accountId = account?.accountId ?? (await createAccount(database, { email, tier, atMs }));
    // Beside other accounts it stays what it was: who operates them is theirs to decide.
    const isAlone = accounts.every((known) => known === account);
    await changeAccount(database, accountId, isAlone ? { tier, isOperator: true } : { tier });
    if ((await getAccount(database, accountId, monthOf(atMs))).balanceMicros < creditMicros / 5)
      await addCredit(database, { accountId, kind: "promotional", micros: creditMicros, atMs, isConfirmed: false });
    const printedKeys = (await listKeys(database, accountId)).filter(
      (key) => key.revokedAtMs === null && key.name === keyName,
    );
    for (const { keyId } of printedKeys.slice(0, -earlierKeysMax)) await revokeKey(database, keyId, atMs);
    return {
      accountId,
      // A service that is started again and again replaces the keys that it has printed.
      key: (await createKey(database, { accountId, scopes, name: keyName, atMs, isUnlimited: true })).key,
      linkSecret: await createLink(database, { accountId, kind: "sign_in" }, atMs),
    };
  });
}
