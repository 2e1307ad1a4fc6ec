/**
 * Measures the explorer in a browser: `node --import tsx/esm bench/explorer/run.ts [--lake DIR] [--rounds 9] [--cached] [--json FILE]`.
 *
 * Opens views of a signed-in account in Chromium (`CHROMIUM` names another executable), without a browser cache of pages, and prints the
 * median time to the first paint. Then selects values of facets, each a view that was not requested before, and prints the median time from
 * the click to the frame that shows the new view. The service keeps no responses unless with `--cached`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { insertSession } from "../../src/accounts/sign-in/sign-in-tables.ts";
import { createAccounts } from "../../src/accounts/storage/open-accounts.ts";
import { newSecret, secretHash } from "../../src/base/random-ids.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, timed } from "../report/results.ts";
import { withResources } from "../resources.ts";
import { createBenchKeys } from "../servers/api-key.ts";
import { startScript, withoutResponseCache } from "../servers/carquet.ts";

const { values } = parseArgs({
  options: {
    lake: { type: "string", default: "data/lake" },
    rounds: { type: "string", default: "9" },
    cached: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const views = ["/", "/shop", "/shop?make=Toyota", "/shop?view=table", "/market"];
/** Facets whose values are selected one after the other, and how many. */
const selections = [
  ["make", 4],
  ["body_type", 3],
  ["inventory_type", 2],
] as const;

await withResources(async (acquire) => {
  const scratch = await acquire(mkdtemp(join(tmpdir(), "carquet-explorer-")), (path) => rm(path, { recursive: true }));
  const accounts = join(scratch, "accounts.db");
  const secret = await createSession(accounts);
  const args = ["serve", "--lake", values.lake, "--accounts", accounts, "--port", "0"];
  const cache = values.cached ? [] : withoutResponseCache;
  const service = await acquire(startScript("bin/carquet.cjs", [...args, ...cache]), (server) => server.stop());
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await acquire(chromium.launch({ executablePath }), (opened) => opened.close());
  const context = await browser.newContext({
    baseURL: service.url,
    viewport: { width: 1280, height: 900 },
    // The policy of the pages forbids what this evaluates in them.
    bypassCSP: true,
  });
  await context.addCookies([{ name: "carquet-session", value: secret, url: service.url, sameSite: "Lax" }]);
  // Loads the style sheet, the script and the code of the service.
  for (const view of views) await firstPaintMs(context, view);
  const server = `${(await activeListings(context)).toLocaleString("en")} listings, ${values.cached ? "cached" : "uncached"}`;
  const measurements: Measurement[] = [];
  for (const view of views) {
    const times: number[] = [];
    while (times.length < rounds) times.push(await firstPaintMs(context, view));
    measurements.push(timed(`first paint of \`${view}\``, server, times));
  }
  measurements.push(timed("filter change", server, await filterChangesMs(context)));
  const notes = [
    "In Chromium on the same machine. A first paint is of a view that was requested before, a filter change always of a new one.",
  ];
  const programs = { chromium: browser.version() };
  await reportMeasurements({ title: "The explorer", notes, programs }, measurements, values.json);
});

/** Creates accounts with a signed-in account. Returns the secret of its session. */
async function createSession(accounts: string): Promise<string> {
  const [accountId = ""] = (await createBenchKeys(accounts, 1)).map((key) => key.accountId);
  const database = await createAccounts(accounts, { busyMs: 5000 });
  try {
    const secret = newSecret();
    await insertSession(database, { accountId, sha256: secretHash(secret), atMs: Date.now() });
    return secret;
  } finally {
    await database.close();
  }
}

async function firstPaintMs(context: BrowserContext, view: string): Promise<number> {
  const page = await context.newPage();
  await page.goto(view, { waitUntil: "load" });
  const entries = 'performance.getEntriesByName("first-contentful-paint")';
  await page.waitForFunction(`${entries}.length > 0`);
  const ms = await page.evaluate<number>(`${entries}[0].startTime`);
  await page.close();
  return ms;
}

async function filterChangesMs(context: BrowserContext): Promise<readonly number[]> {
  const times: number[] = [];
  for (const [facet, count] of selections) {
    const page = await context.newPage();
    await page.goto("/shop", { waitUntil: "load" });
    for (let selected = 0; selected < count; selected += 1) times.push(await selectNextMs(page, facet));
    await page.close();
  }
  return times;
}

/** Selects the first value of a facet that is not selected. Returns the time to the second frame after the view was replaced. */
function selectNextMs(page: Page, facet: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const box = document.querySelector('input[type=checkbox][name="${facet}"]:not(:checked)');
    if (box === null) return reject(new Error("No value of ${facet} to select."));
    const startedAtMs = performance.now();
    const title = document.title;
    const observer = new MutationObserver(() => {
      if (document.title === title) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - startedAtMs)));
    });
    observer.observe(document, { childList: true, subtree: true });
    box.click();
  })`);
}

/** Returns the number of listings that the explorer says it shows. */
async function activeListings(context: BrowserContext): Promise<number> {
  const page = await context.newPage();
  await page.goto("/shop", { waitUntil: "load" });
  const text = await page.textContent("main");
  await page.close();
  return Number(/([\d,]+) (?:vehicles|listings|cars)/.exec(text ?? "")?.[1]?.replaceAll(",", "") ?? Number.NaN);
}
