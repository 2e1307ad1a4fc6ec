/** Freshness and the calendar of feeds against an oracle: a market of four published days with a silent dealer, a held feed and a day that failed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { plusDays } from "../../src/base/day.ts";
import { readFeedDecisions } from "../../src/lake/feed-decisions.ts";
import { writeIngestRecord } from "../../src/lake/ingest-record.ts";
import { inAccountsFile } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { eventually } from "../support/command-line.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const skip = skipWithoutBrowser;
const hourMs = 3_600_000;

/** The last day; the one before it failed. */
const day = "2026-11-19";
const failedDay = plusDays(day, -1);
const days = [plusDays(day, -3), plusDays(day, -2), day];
/** What each dealer's feed of the last day is. */
const states = ["came", "came", "silent", "held", "refused", "came"] as const;

/** The active cars of a day, by VIN: their dealer and price. */
type Cars = ReadonlyMap<string, { readonly dealer: number; readonly price: number }>;

/** Writes a market in which cars come, leave and change their prices; returns the cars that are active on each day, by the rules of the lifecycle. */
async function writeMarket(folder: string): Promise<readonly Cars[]> {
  const chance = new Chance(11);
  let vins = 0;
  const newCar = (dealer: number) => {
    vins += 1;
    return [vinOf(vins), { dealer, price: 20_000 + 100 * vins }] as const;
  };
  let active: Cars = new Map(states.flatMap((_, dealer) => Array.from({ length: 20 }, () => newCar(dealer))));
  const activeOn: Cars[] = [];
  for (const one of days) {
    const stateOf = (dealer: number) => (one === day ? states[dealer] : "came");
    const next = new Map(active);
    for (const [vin, { dealer, price }] of active) {
      if (["silent", "held"].includes(stateOf(dealer) ?? "") || one === days[0]) continue;
      if (chance.happens(0.1)) next.delete(vin);
      else if (chance.happens(0.2)) next.set(vin, { dealer, price: price - 300 });
    }
    for (const dealer of states.keys())
      if (["came", "refused"].includes(stateOf(dealer) ?? "") && chance.happens(0.8)) next.set(...newCar(dealer));
    active = next;
    activeOn.push(active);
    const delivered = [...active].filter(([vin, { dealer }]) => {
      if (stateOf(dealer) === "held")
        return [...active].filter(([, car]) => car.dealer === dealer).findIndex(([other]) => other === vin) < 3;
      return stateOf(dealer) !== "silent";
    });
    const refused = Array.from({ length: 4 }, (_, row) => ({
      vin: `short${row}`,
      dealer_id: dealerIdOf(4),
      make: "Ford",
      price: 1,
    }));
    await writeFeeds(folder, one, {
      dealers: [...states.keys()].map((dealer) => ({ dealer_id: dealerIdOf(dealer), name: `Dealer ${dealer}` })),
      inventory: [
        ...delivered.map(([vin, { dealer, price }]) => ({ vin, dealer_id: dealerIdOf(dealer), make: "Ford", price })),
        ...(one === day ? refused : []),
      ],
    });
  }
  return activeOn;
}

/** Counts the cars that are new, changed and gone between two days. */
const differences = (before: Cars, after: Cars): readonly number[] => [
  [...after.keys()].filter((vin) => !before.has(vin)).length,
  [...after].filter(([vin, { price }]) => before.has(vin) && before.get(vin)?.price !== price).length,
  [...before.keys()].filter((vin) => !after.has(vin)).length,
];

async function startMarket() {
  const feeds = await temporaryFolder(fileScope);
  const activeOn = await writeMarket(feeds);
  const { lake } = await createLake(fileScope, feeds, { hasServingFiles: false });
  const clock = { ms: Date.parse(day) + 10 * hourMs };
  const client = await startService(fileScope, lake, {
    overdueMs: 11 * hourMs,
    metricsPort: 0,
    hasServingFiles: false,
    clock: { wallMs: () => clock.ms, monotonicMs: () => performance.now() },
  });
  return { lake, client, clock, activeOn, site: await signedInBrowser(fileScope, client) };
}

const market = skip === false ? await startMarket() : undefined;

test("the bar shows what the last delivery brought, silent dealers, the failed day, and why the data is stale", {
  skip,
}, async () => {
  assert.ok(market);
  const { client, lake, clock, activeOn, site } = market;
  const page = await site.open("/");
  const bar = page.getByRole("region", { name: "Freshness of the data" });
  const text = (await bar.textContent()) ?? "";
  const [before = new Map(), after = new Map()] = activeOn.slice(-2);
  const [added, changed, left] = differences(before, after);
  assert.match(text, /^Thursday, Nov 19, 2026 · published .* UTC, 0 minutes ago/);
  assert.ok(text.includes(`${added} new · ${changed} changed · ${left} left`), text);
  assert.match(text, /1 of 6 dealers silent/);
  assert.equal(await bar.getByRole("link").getAttribute("href"), "/dealers?delivery=silent");
  assert.match((await bar.getByRole("img").getAttribute("aria-label")) ?? "", /; none on Nov 18, 2026$/);

  const ready = async () => (await (await fetch(`${client.url}/readyz`)).json()).freshness;
  assert.deepEqual(await ready(), { ...(await ready()), status: "fresh", day, due: "2026-11-19T11:00:00.000Z" });
  const metrics = await (await fetch(client.metricsUrl ?? "")).text();
  assert.match(metrics, /^carquet_dealers_expected 6$.*^carquet_dealers_silent 1$/ms);

  clock.ms = Date.parse(day) + 12 * hourMs;
  await page.reload();
  assert.match(
    (await bar.textContent()) ?? "",
    /12 hours old.*No later delivery has been published; one was due by 2026-11-19 11:00 UTC/s,
  );
  const stale = await fetch(`${client.url}/readyz`);
  assert.deepEqual([stale.status, (await stale.json()).freshness.status], [200, "stale"]);
  await writeIngestRecord(lake, {
    at: "2026-11-19T11:09:00.000Z",
    error: "/feeds/x: disk full.",
    waiting: 1,
    refused: 0,
  });
  await eventually("the failure is known", async () => (await ready()).status === "failed");
  await page.reload();
  assert.match(
    (await bar.textContent()) ?? "",
    /Ingest failed at 2026-11-19 11:09 UTC\. Searches answer as of this day/,
  );
  await assertAccessible(page);
  await page.close();
});

test("an operator sees the feeds of each dealer, releases a held one, and reads why the ingest failed", {
  skip,
}, async () => {
  assert.ok(market);
  const { client, lake, site } = market;
  const { accountId } = client.customer;
  inAccountsFile(client.accounts, (database) =>
    applyChange(database, "accounts operator", { accountId, isOperator: true }, { actor: "test", atMs: Date.now() }),
  );
  const page = await site.open("/operator");
  await eventually(
    "the account is an operator",
    async () => (await page.goto(`${client.url}/operator`))?.status() === 200,
  );
  const rows = await page
    .locator(".cal tbody tr")
    .evaluateAll((found) =>
      found.map((row) => [
        row.querySelector("th")?.textContent,
        [...row.querySelectorAll(".c > *")].slice(-4).map(({ className }) => className),
      ]),
    );
  const shown = new Map(
    rows.map(([name, cells]) => [
      String(name).trim(),
      (cells as string[]).map((cell) => cell.replace(" pick", "").replace(/^d\d$/, "came")),
    ]),
  );
  assert.deepEqual(
    shown,
    new Map([...shown.keys()].map((name) => [name, ["came", "came", "failed", states[Number(name.at(-1))]]])),
  );
  assert.deepEqual([...shown.keys()].slice(0, 3), ["Dealer 3", "Dealer 4", "Dealer 2"], "problems come first");
  const items = (await page.locator(".items > li").allTextContents()).join("\n");
  assert.match(items, /The last ingest failed.*disk full/);
  assert.match(items, new RegExp(`carquet release ${dealerIdOf(3)} ${day}`));
  assert.match(items, /4 rows were refused/);
  assert.match(items, new RegExp(`carquet ingest --replay-from ${failedDay}`));
  await assertAccessible(page);
  await assertFitsPhone(page);

  await page.getByRole("link", { name: "refused" }).click();
  await page.getByRole("cell", { name: "short0" }).waitFor();
  await page.getByRole("button", { name: "Release the feed of Dealer 3" }).click();
  await page.getByText("The feed is released.").waitFor();
  const [decided] = await readFeedDecisions(lake);
  assert.deepEqual({ ...decided, at: "" }, { dealer_id: dealerIdOf(3), day, vins: 3, decision: "release", at: "" });
  await page.getByText("Released: the dealer's next feed is compared with it.").waitFor();
  await page.goto(`${client.url}/operator/audit`);
  await page.getByRole("cell", { name: `${dealerIdOf(3)} ${day}` }).waitFor();
  assert.deepEqual(site.faults, []);
});
