/** The pages of operators against an oracle: a market of three published days with a silent dealer, a broken file, refused rows and a day that failed. */
import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { getAccount } from "../../src/accounts/account.ts";
import { recordChange } from "../../src/accounts/administration/audit-log.ts";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { dayOf } from "../../src/accounts/clock.ts";
import { reviewAccounts } from "../../src/accounts/policy/tier-reviews.ts";
import { plusDays } from "../../src/base/day.ts";
import { sql } from "../../src/db/sql.ts";
import { readFeedDecisions } from "../../src/lake/feed-decisions.ts";
import { writeIngestRecord } from "../../src/lake/ingest-record.ts";
import { pageRules, readAddress } from "../../src/web/shell/page-parameters.ts";
import { mountSite } from "../../src/web/site.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { eventually } from "../support/command-line.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { type MountedRoute, routesOf } from "../support/http/routes.ts";
import { startService } from "../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const hourMs = 3_600_000;

/** The last day; the one before it failed. */
const day = "2026-11-19";
const days = [plusDays(day, -3), plusDays(day, -2), day];
/** What each dealer's feed of the last day is. */
const states = ["came", "came", "silent", "held", "refused", "came"] as const;

/** One has markup in its name. */
const nameOf = (dealer: number): string => (dealer === 3 ? "<b>Dealer</b> 3" : `Dealer ${dealer}`);

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
      dealers: [...states.keys()].map((dealer) => ({ dealer_id: dealerIdOf(dealer), name: nameOf(dealer) })),
      inventory: [
        ...delivered.map(([vin, { dealer, price }]) => ({ vin, dealer_id: dealerIdOf(dealer), make: "Ford", price })),
        ...(one === day ? refused : []),
      ],
    });
  }
  return activeOn;
}

const feeds = await temporaryFolder(fileScope);
const activeOn = await writeMarket(feeds);
const queue = await temporaryFolder(fileScope);
await cp(join(feeds, day), join(queue, "ingested", day), { recursive: true });
const { lake } = await createLake(fileScope, feeds, { hasServingFiles: false });
const clock = { ms: Date.parse(day) + 10 * hourMs };
let routes: readonly MountedRoute[] = [];
const client = await startService(fileScope, lake, {
  mountSite: (app, services) => {
    mountSite(app, services);
    routes = routesOf(app);
  },
  queue,
  overdueMs: 11 * hourMs,
  metricsPort: 0,
  hasServingFiles: false,
  clock: { wallMs: () => clock.ms, monotonicMs: () => performance.now() },
});
const { url, accounts } = client;
const { accountId } = client.customer;
const Cookie = `carquet-session=${await client.sessions.create({ accountId })}`;
const by = { actor: "test", atMs: clock.ms };

const get = (path: string, headers: Record<string, string> = { Cookie }): Promise<Response> =>
  fetch(`${url}${path}`, { headers, redirect: "manual" });

/** Returns a page as text without tags, its white space as single spaces. */
async function read(path: string): Promise<string> {
  const answer = await get(path);
  assert.equal(answer.status, 200, path);
  const text = (await answer.text()).replaceAll(/<(h1|h2|h3|p|li|td|dd|dt)\b/g, " <$1").replaceAll(/<[^>]+>/g, "");
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(/[\s\u00a0]+/g, " ");
}

const send = async (path: string, fields: Record<string, string>): Promise<Response> =>
  sendForm(url, path, { csrf_token: csrfTokenIn(await (await get("/account")).text()), ...fields }, { cookie: Cookie });

const broken = { dealer: dealerIdOf(3), day };

test("no other account and no visitor sees a page of operators, and old addresses lead to the new ones", async () => {
  for (const path of ["/operate", "/operate/revenue.csv"]) assert.equal((await get(path)).status, 404, path);
  assert.equal((await send("/operate/decide", { ...broken, decision: "release" })).status, 404);
  assert.equal((await get("/operate/revenue.csv", {})).status, 401);
  for (const [former, path] of [
    ["/operator", "/operate"],
    ["/operator/accounts/acct_1?q=x", "/operate/accounts/acct_1?q=x"],
    [`/operator/ingest/${day}/quality?dealer=a`, `/operate/days/${day}?dealer=a`],
    [`/operator/ingest/${day}?dealer=a`, `/operate/days/${day}?dealer=a`],
    ["/operator/sources", "/operate/service"],
    ["/operator/audit", "/operate/log"],
  ] as const) {
    const answer = await get(former);
    assert.deepEqual([answer.status, answer.headers.get("Location")], [301, path]);
  }
  await inAccountsFile(accounts, (database) =>
    applyChange(database, "accounts operator", { accountId, isOperator: true }, by),
  );
  await eventually("the account is an operator", async () => (await get("/operate")).status === 200);
});

test("the morning says what came, what looks broken and why, and who is silent", async () => {
  const morning = await read("/operate");
  const cars = activeOn.at(-1) ?? new Map();
  const came = [...cars.values()].filter(({ dealer }) => !["silent", "held"].includes(states[dealer] ?? "")).length + 3;
  assert.match(morning, /5 of 6 files came\. 1 looks broken, 1 is silent\./);
  assert.ok(morning.includes(`${came} cars came`) && morning.includes(`rows refused 4 of ${came + 4}`), morning);
  const had = [...(activeOn.at(-2) ?? [])].filter(([, { dealer }]) => dealer === 3);
  assert.ok(had.length > 3);
  const missing = had.length - 3;
  assert.ok(
    morning.includes(`<b>Dealer</b> 3 looks broken 3 cars came; usually `) &&
      morning.includes(`${missing} of those of Nov 17 are missing. Until you decide, its old cars stay.`),
    morning,
  );
  assert.match(morning, /inventory\.csv, from row \d+: 3 rows/);
  assert.match(morning, /1 dealer is silent; one since Nov 18.*Dealer 2/);
  assert.match(morning, /Nov 18, 2026: nothing was published\. carquet ingest --replay-from 2026-11-18/);
  const seen = await read(`/operate/days/${day}?dealer=${dealerIdOf(3)}`);
  assert.match(seen, /The file of <b>Dealer<\/b> 3: looks broken Cars in the file 3/);
  const vins = had.map(([vin]) => vin).filter((vin) => seen.includes(vin));
  assert.equal(vins.length, missing, "the missing cars are named");
});

test("an accepted or rejected file leaves the decisions, is listed among those of today, and comes back when undone", async () => {
  for (const [decision, says] of [
    ["release", /<b>Dealer<\/b> 3\. Accepted: its cars are those of the file\./],
    ["reject", /<b>Dealer<\/b> 3\. Rejected: its old cars stay\./],
  ] as const) {
    const decided = await send("/operate/decide", { ...broken, decision });
    assert.deepEqual([decided.status, decided.headers.get("Location")], [303, "/operate#decided"]);
    assert.equal((await readFeedDecisions(lake))[0]?.decision, decision);
    const after = await read("/operate");
    assert.match(after, /None looks broken.*Nothing to decideDecided today: 1/);
    assert.match(after, says);
    assert.doesNotMatch(after, /Accept it/);
    assert.equal((await send("/operate/undo", broken)).status, 303);
    assert.deepEqual(await readFeedDecisions(lake), []);
    assert.match(await read("/operate"), /Decide: 1 file looks broken/);
  }
  for (const [fields, status] of [
    [{ ...broken, decision: "keep" }, 422],
    [{ ...broken, dealer: dealerIdOf(0), decision: "reject" }, 422],
    [{ ...broken, day: "2020-01-01", decision: "reject" }, 404],
    [{ ...broken, decision: "correct" }, 422],
  ] as const)
    assert.equal((await send("/operate/decide", fields)).status, status, JSON.stringify(fields));
  assert.match(await read("/operate/log"), new RegExp(`undo.*reject ${dealerIdOf(3)} ${day}.*release`));
});

test("the cars of a silent dealer wait a day, or end, by a decision that is undone", async () => {
  const silent = { dealer: dealerIdOf(2), day };
  for (const [decision, said, row] of [
    ["wait", "Dealer 2. Waits a day: its cars stay for another one without a file.", "waits a day"],
    ["end", "Dealer 2. Its cars end with the next delivery, unless a file comes.", "its cars end"],
  ] as const) {
    assert.match(
      await read("/operate"),
      /decisions open 2.*since Nov 18 ?Wait a day for Dealer 2 ?End its cars: Dealer 2/,
    );
    const decided = await send("/operate/decide", { ...silent, decision });
    assert.equal(decided.headers.get("Location"), "/operate#decided");
    const after = await read("/operate");
    assert.ok(after.includes(said) && after.includes(row), after);
    assert.match(after, /decision open 1 .*Decided today: 1/);
    assert.doesNotMatch(after, /Wait a day/);
    assert.equal((await send("/operate/undo", silent)).status, 303);
  }
  assert.equal((await send("/operate/decide", { ...silent, decision: "release" })).status, 422);
  assert.equal((await send("/operate/decide", { ...broken, decision: "end" })).status, 422);
  assert.match(await read("/operate/log"), new RegExp(`end ${dealerIdOf(2)} ${day}.*wait ${dealerIdOf(2)} ${day}`));
});

test("an operator corrects a broken file with an uploaded one, and withdraws it", async () => {
  const page = await (await get(`/operate/days/${day}?dealer=${broken.dealer}`)).text();
  assert.match(page, /<option value="inventory\.csv">/);
  const upload = (name: string): Promise<Response> => {
    const form = new FormData();
    for (const [field, value] of Object.entries({ ...broken, decision: "correct", file: "inventory.csv" }))
      form.append(field, value);
    form.append("csrf_token", csrfTokenIn(page));
    form.append("upload", new File(["vin,dealer_id\n"], name));
    return fetch(`${url}/operate/decide`, {
      method: "POST",
      redirect: "manual",
      headers: { Cookie, Origin: url },
      body: form,
    });
  };
  const other = await upload("new.json");
  assert.equal(other.status, 422);
  assert.match(await other.text(), /new\.json&quot;: expected one of the format of inventory\.csv/);
  assert.equal((await upload("new.csv")).status, 303);
  const corrected = join(queue, "corrected", day, "inventory.csv");
  assert.equal(await readFile(corrected, "utf8"), "vin,dealer_id\n");
  assert.match(await read("/operate"), /Corrected: the new file replaces it\. inventory\.csv/);
  assert.equal((await send("/operate/undo", broken)).status, 303);
  await assert.rejects(readFile(corrected));
});

test("a day's report leads from an issue to its rows", async () => {
  const report = await (await get(`/operate/days/${day}`)).text();
  const [, link = ""] = /href="([^"]+)">not 17 characters</.exec(report) ?? [];
  const rows = await read(link.replaceAll("&amp;", "&"));
  assert.match(
    rows,
    /Rows: rejected, inventory\.vin, not 17 characters 4 rows\..*inventory\.csv \d+ Dealer 4 short0 short0/,
  );
  for (const path of ["/operate/days/2020-01-01", "/operate/days/__proto__", `/operate/days/${day}?dealer=none`])
    assert.equal((await get(path)).status, 404, path);
});

test("revenue is that of the ledger, beside the same days of the month before", async () => {
  const charge = (id: string, on: string, usageClass: string, micros: number): Promise<void> =>
    inAccountsFile(accounts, async (database) => {
      await database.run(sql`INSERT INTO usage_days (account_id, day, usage_class, requests, charged_micros, first_entry, last_entry)
        VALUES (${id}, ${on}, ${usageClass}, 2, ${micros}, 1, 1)`);
    });
  const { accountId: other } = await createCustomer(accounts, { usd: "3" });
  await charge(accountId, "2026-11-02", "facet_counts", 60_000_000);
  await charge(other, "2026-11-03", "listing_search", 40_000_000);
  await charge(other, "2026-10-03", "listing_search", 50_000_000);
  await charge(other, "2026-10-25", "listing_search", 500_000_000);
  const page = await read("/operate/revenue");
  assert.match(
    page,
    /\$100 in 19 days: 100 % more than October at this point\. At this pace November ends at \$158\. One account brings 60 %\./,
  );
  assert.match(page, /Counts by attribute bring 60 %/);
  assert.match(
    page,
    /One account may run dry: buyer@dealers\.example.*\$60\.00 new.*low balance \$40\.00 −20 % \$3\.00/,
  );
  const october = await read("/operate/revenue?month=2026-10");
  assert.match(october, /\$550 in 31 days\./);
  assert.match(
    await read("/operate/revenue?month=2026-03"),
    /Nothing was charged in 31 days\..*Nothing was charged in February or March: the chart begins with the first charge\./,
  );
  for (const usageClass of ["a", "b", "c", "d", "e", "f", "g", "h"])
    await charge(other, "2026-01-03", usageClass, 5_000_000);
  const classesIn = async (order: string) => {
    const html = await (await get(`/operate/revenue?month=2026-01${order}`)).text();
    const [, table = ""] = /<section class="fig" id="classes">(.*?)<\/table>/s.exec(html) ?? [];
    return [...table.matchAll(/<tr><td>([^<]+)<.*?<td class="num">([^<]+)<\/td><\/tr>/g)].map(
      ([, name, sum]) => `${name} ${sum}`,
    );
  };
  const all = ["A", "B", "C", "D", "E", "F", "G", "H"].map((name) => `${name} $5.00`);
  assert.deepEqual(await classesIn(""), all);
  assert.deepEqual(await classesIn("&numbers=classes.-class"), all.toReversed());
  const csv = await (await get("/operate/revenue.csv")).text();
  assert.deepEqual(
    csv
      .trim()
      .split("\r\n")
      .map((line) => line.replace(/acct_\w+,/, ""))
      .sort(),
    [
      "2026-11-02,facet_counts,buyer@dealers.example,2,60.00",
      "2026-11-03,listing_search,buyer@dealers.example,2,40.00",
      "date,usage_class,account_id,email,requests,usd",
    ],
  );
});

test("an invitation carries its first credit, and a bad form says what is expected", async () => {
  const page = await (await get("/operate/accounts")).text();
  assert.match(page, /name="creditMicros" value="5\.00"/);
  assert.match(page, /\$5\.00 is enough for 2,500 searches\./);
  const invited = await send("/operate/accounts", { email: "new@cars.example", tier: "2", creditMicros: "$7.50" });
  assert.equal(invited.headers.get("Cache-Control"), "no-store");
  const invitation = await invited.text();
  assert.match(invitation, /\/invitation\?token=[\w-]{43}</);
  assert.doesNotMatch(invitation, /The present one works/, "a new account has no password");
  const [opened = ""] = /\/operate\/accounts\/acct_\w+/.exec(invitation) ?? [];
  assert.match(await read(opened), /\$7\.50, low below \$1\.50/, "a first credit is not low from the first charge on");
  assert.match(await read("/operate/accounts?q=new@cars"), /new@cars\.example 2 new \$0\.00 \$7\.50/);
  for (const [fields, says] of [
    [{ email: "new.example", creditMicros: "1" }, /Invalid E-mail &quot;new.example&quot;: expected an email address/],
    [
      { email: "a@b.example", creditMicros: "lots" },
      /Invalid First credit &quot;lots&quot;: expected an amount in USD such as 25 or 0\.50/,
    ],
  ] as const) {
    const refused = await send("/operate/accounts", fields);
    assert.equal(refused.status, 422);
    assert.match(await refused.text(), says);
  }
});

test("the log has 50 changes a page, and leads to older ones", async () => {
  const changesIn = async (path: string) => {
    const html = await (await get(path)).text();
    return { rows: html.split("<tr><td>").length - 1, older: /href="([^"]+)">Older</.exec(html)?.[1] };
  };
  const add = async (changes: number): Promise<void> =>
    inAccountsFile(accounts, async (database) => {
      for (let change = 0; change < changes; change += 1)
        await recordChange(database, { ...by, action: "test", accountId, details: "" });
    });
  const { rows } = await changesIn("/operate/log");
  await add(50 - rows);
  assert.deepEqual(await changesIn("/operate/log"), { rows: 50, older: undefined });
  await add(1);
  const { older = "" } = await changesIn("/operate/log");
  assert.deepEqual(await changesIn(older), { rows: 1, older: undefined });
});

test("pages of operators work in a browser, with and without scripts, and are accessible", {
  skip: skipWithoutBrowser,
}, async () => {
  const site = await signedInBrowser(fileScope, client);
  const { accountId: other } = await createCustomer(accounts, { tier: 3, usd: "600", override: null });
  await inAccountsFile(accounts, (database) => reviewAccounts(database, plusDays(dayOf(Date.now()), 31)));
  const page = await site.openWithoutScripts(`/operate/accounts/${other}`);
  await page.getByLabel("Credit, USD").fill("12.50");
  await page.getByLabel("Kind").selectOption("promotional");
  await page.getByRole("button", { name: "Add the credit" }).click();
  await page.getByText("+$12.50").waitFor();
  await page.locator("summary", { hasText: "Suspend the account" }).click();
  await page.getByRole("button", { name: "Suspend the account" }).click();
  await page.getByRole("button", { name: "Reactivate the account" }).waitFor();
  await page.getByRole("button", { name: "Create an invitation" }).click();
  assert.match((await page.locator(".codebox pre").textContent()) ?? "", /\/invitation\?token=[\w-]{43}$/);
  await page.goto(`${url}/operate/service`);
  await page.locator(`form[action="/operate/accounts/${other}/tiers-approve"]`).getByRole("button").click();
  await page.getByText("4: 500 in 10 s").waitFor();
  const changed = await inAccountsFile(accounts, (database) => getAccount(database, other, "2026-11"));
  assert.deepEqual([changed.tier, changed.state, changed.balanceMicros], [4, "suspended", 612_500_000]);
  await page.close();
  for (const path of [
    "/operate",
    `/operate/days/${day}?dealer=${dealerIdOf(3)}`,
    "/operate/revenue",
    `/operate/accounts/${other}`,
    "/operate/service",
    "/operate/log",
  ]) {
    const open = await site.open(path);
    await assertAccessible(open);
    await assertFitsPhone(open);
    await open.close();
  }
  const morning = await site.open("/operate");
  const fill = await morning
    .locator(".days i.no")
    .first()
    .evaluate((square) => getComputedStyle(square).backgroundColor);
  assert.equal(fill, "rgba(0, 0, 0, 0)", "the square of a day without a file is open");
  await morning.close();
  const sorted = await site.open("/operate/accounts");
  await sorted.getByRole("link", { name: "Balance" }).click();
  const balances = (await sorted.locator("#accounts tbody td:last-child").allTextContents()).map((text) =>
    Number(text.replaceAll(/[$,]/g, "")),
  );
  assert.deepEqual(
    balances,
    [...balances].sort((one, other) => other - one),
  );
  await sorted.close();
  assert.deepEqual(site.faults, []);
});

/** Routes that are no pages: files of the site, words that complete, feeds, and addresses that lead on. */
const isNoPage =
  /^\/$|^\/(v1|assets|docs\/images|feeds|operator|oauth)\/|suggestions$|\{\*path\}|^\/docs\/([a-z]+[A-Z]|guides\/[^e]|[c-r])/;

test("every page says what of its address it does not take, by its name, its value and what is expected, and shows the rest", async () => {
  const [dealer = ""] = dealerIdOf(0).split(",");
  const { data } = await client.getBody("searchListings", "/v1/listings?limit=1");
  const ids: Readonly<Record<string, string | undefined>> = {
    listing_id: data[0]?.id,
    dealer_id: dealer,
    day,
    accountId,
  };
  const pages = routes.filter(({ methods, path }) => methods.includes("GET") && !isNoPage.test(path));
  const asked: string[] = [];
  for (const { path } of pages) {
    const address = path.replaceAll(/:(\w+)/g, (_, name) => ids[name] ?? "");
    const plain = await get(address);
    const type = plain.headers.get("Content-Type") ?? "";
    if (plain.status === 301 || !/html|csv|parquet/.test(type)) continue;
    asked.push(path);
    const named = Object.entries(pageRules[path] ?? {}).flatMap(([name, rule]) =>
      rule === "filter" || ("pattern" in rule && rule.pattern.test("no such")) ? [] : [name],
    );
    const faulty = await get(`${address}?${["nope=1", ...named.map((name) => `${name}=no+such`)].join("&")}`);
    assert.equal(faulty.status, Math.max(plain.status, 400), path);
    const said = await faulty.text();
    assert.match(said, /Unknown query parameter nope\.( Did you mean \w+\?)? This page has /, path);
    // A file and a redirect are refused for the first fault.
    for (const name of plain.status === 200 && type.startsWith("text/html") ? named : [])
      assert.match(
        said,
        new RegExp(`"alert"><span>Invalid value &quot;no such&quot; for ${name}: expected [^.]{2}`),
        path,
      );
    if (plain.status !== 200) continue;
    const html = await plain.text();
    for (const [, href = ""] of html.matchAll(/ href="(\/[^"#]*\?[^"#]*)/g)) {
      const { pathname, search } = new URL(href.replaceAll("&amp;", "&"), url);
      const route = Object.keys(pageRules).find((one) =>
        new RegExp(`^${one.replaceAll(/:\w+/g, "[^/]+")}$`).test(pathname),
      );
      const taken = readAddress(route, search).faults.map(({ message }) => message);
      assert.deepEqual(taken, [], `${path} has a link to ${href}`);
    }
  }
  const unasked = Object.keys(pageRules).filter((path) => !path.startsWith("/docs/") && !asked.includes(path));
  assert.deepEqual(unasked, [], "rules of pages that do not exist");
  assert.match(
    await (await get("/operate/revenue?month=2099-01")).text(),
    /for month: expected a month until .*2026-11/,
  );
});

test("a service is stale from a time on, and failed after an ingest that failed, which the morning explains", async () => {
  const ready = async () => (await (await fetch(`${url}/readyz`)).json()).freshness;
  assert.deepEqual(await ready(), { ...(await ready()), status: "fresh", day, due: "2026-11-19T11:00:00.000Z" });
  const metrics = await (await fetch(client.metricsUrl ?? "")).text();
  assert.match(metrics, /^carquet_dealers_expected 6$.*^carquet_dealers_silent 1$/ms);
  clock.ms = Date.parse(day) + 12 * hourMs;
  assert.match(await read("/operate"), /These prices are 12 hours old\..*The next file is overdue/);
  const stale = await fetch(`${url}/readyz`);
  assert.deepEqual([stale.status, (await stale.json()).freshness.status], [200, "stale"]);
  const error = "/feeds/x: disk full.";
  await writeIngestRecord(lake, { at: "2026-11-19T11:09:00.000Z", error, waiting: 1, refused: 0 });
  await eventually("the failure is known", async () => (await ready()).status === "failed");
  assert.match(
    await read("/operate"),
    /The last delivery could not be published\..*The last ingest failed at 2026-11-19 11:09 UTC: \/feeds\/x: disk full\./,
  );
});
