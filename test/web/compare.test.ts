/** The comparison of cars and the shortlist. What the page marks is compared with an oracle over the answers of the API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { AnswerOf } from "../../src/contract/types.ts";
import { Chance } from "../support/chance.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { marketService } from "../support/http/service.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const { client } = await marketService();
const Cookie = `carquet-session=${await client.sessions.create(client.customer.accountId)}`;

const open = async (path: string): Promise<Response> => fetch(`${client.url}${path}`, { headers: { Cookie } });

const listings = (query: string) => client.getBody("searchListings", `/v1/listings?limit=100&${query}`);
const fields = "fields=features,days_on_market,status";
const active = (await listings(fields)).data;
const sold = (await listings(`${fields}&inventory_status=sold`)).data;

type Details = AnswerOf<"getListing">["data"];

interface ShownRow {
  readonly isPale: boolean;
  readonly texts: readonly string[];
  readonly best: readonly boolean[];
}

const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/** Returns the rows of the comparison on a page, by title. */
const rowsOf = (html: string): ReadonlyMap<string, ShownRow> =>
  new Map(
    [...html.matchAll(/<tr( class="same")?><th scope="row">([^<]*)<\/th>(.*?)<\/tr>/g)].map(
      ([, pale, title, cells]) => {
        const found = [...(cells ?? "").matchAll(/<td([^>]*)>(.*?)<\/td>/g)];
        const best = found.map(([, attributes]) => attributes === ' class="best"');
        const texts = found.map(([, , cell = ""], at) => plain(best[at] ? cell.replace(/best<\/span>$/, "") : cell));
        return [title ?? "", { isPale: pale !== undefined, texts, best }];
      },
    ),
  );

const number = (value: number | null, before = ""): string =>
  value === null ? "–" : `${before}${value.toLocaleString("en-US")}`;

/** The rows of plain values, and of which the lowest number is best. */
const values: Readonly<Record<string, (car: Details) => string>> = {
  Price: ({ price }) => number(price, "$"),
  "All in, stated fees": ({ all_in_price }) => number(all_in_price, "$"),
  Year: ({ vehicle }) => String(vehicle.build.year ?? "–"),
  Miles: ({ miles }) => number(miles),
  Drivetrain: ({ vehicle }) => vehicle.build.drivetrain ?? "–",
  Seats: ({ vehicle }) => String(vehicle.build.seating_capacity ?? "–"),
  "First price": ({ price_at_listing }) => number(price_at_listing, "$"),
};
const lowest: Readonly<Record<string, (car: Details) => number | null>> = {
  Price: ({ price }) => price,
  "All in, stated fees": ({ all_in_price }) => all_in_price,
  Year: ({ vehicle }) => (vehicle.build.year === null ? null : -vehicle.build.year),
  Miles: ({ miles }) => miles,
};

/** Returns which cars are best: below another one, below none, all being known, and for sale. */
function bestAmong(cars: readonly Details[], numberOf: (car: Details) => number | null): readonly boolean[] {
  const offered = cars.filter((car) => car.status === "active" && car.vehicle.status === "active");
  const numbers = offered.map(numberOf);
  return cars.map((car) => {
    const own = numberOf(car);
    if (own === null || !offered.includes(car) || numbers.includes(null)) return false;
    return numbers.every((other) => own <= (other ?? 0)) && numbers.some((other) => own < (other ?? 0));
  });
}

test("a comparison marks best and agreeing values, and lists the equipment that differs", async () => {
  const random = new Chance(38);
  let marked = 0;
  for (let draw = 0; draw < 4; draw += 1) {
    const pool = draw % 3 === 2 ? [...active, ...sold] : active;
    const summaries = [...new Set(Array.from({ length: random.integer(2, 6) }, () => random.pick(pool)))];
    if (summaries.length < 2) continue;
    const response = await open(`/compare?ids=${summaries.map(({ id }) => id).join()}`);
    assert.equal(response.status, 200);
    const rows = rowsOf(await response.text());
    const cars = await Promise.all(
      summaries.map(async ({ id }) => (await client.getBody("getListing", `/v1/listings/${id}`)).data),
    );
    for (const [title, textOf] of Object.entries(values)) {
      const row = rows.get(title);
      assert.deepEqual(row?.texts, cars.map(textOf), title);
      assert.equal(row?.isPale, new Set(cars.map(textOf)).size === 1, title);
      const best = bestAmong(cars, lowest[title] ?? (() => null));
      assert.deepEqual(row?.best, best, title);
      marked += best.filter(Boolean).length;
    }
    const features = summaries.map((summary) => summary.features ?? []);
    const ownersOf = (feature: string): number => features.filter((list) => list.includes(feature)).length;
    const listed = (isListed: (owners: number) => boolean): readonly string[] =>
      features.map((list) => {
        const names = list.filter((feature) => isListed(ownersOf(feature)));
        return names.length === 0
          ? "–"
          : names
              .map((name) => name.replaceAll("_", " "))
              .sort()
              .join(", ");
      });
    assert.deepEqual(
      rows.get("Only here")?.texts,
      listed((owners) => owners === 1),
    );
    if (cars.length > 2)
      assert.deepEqual(
        rows.get("Also here, not in all")?.texts,
        listed((owners) => owners > 1 && owners < cars.length),
      );
    const inAll = new Set(features.flat().filter((feature) => ownersOf(feature) === cars.length));
    const folded = [...rows].find(([title]) => /^In (both|all)/.test(title))?.[1].texts[0] ?? "0 features";
    assert.equal(Number.parseInt(folded, 10), inAll.size);
  }
  assert.ok(marked > 4, String(marked));
});

test("a comparison says which cars are sold, unknown or too many, and costs a look-up a car and a search", async () => {
  const ids = active.slice(0, 26).map(({ id }) => id);
  const textOf = async (path: string, status = 200): Promise<string> => {
    const response = await open(path);
    assert.equal(response.status, status, path);
    return plain(await response.text());
  };
  const two = ids.slice(0, 2).join();
  assert.match(await textOf(`/compare?ids=${two}`), /This view \$0\.008 /);
  assert.match(await textOf(`/compare?ids=${two},${sold[0]?.id}`), /Compare three cars .* Sold [A-Z][a-z]{2} \d/);
  assert.match(await textOf(`/compare?ids=${two},${"0".repeat(32)}`), /No listing 0{32} exists\. .*Compare two cars/);
  assert.match(await textOf("/compare?ids=none", 404), /No listing none exists/);
  assert.match(await textOf("/compare"), /Two to six cars .* This view \$0\.00 /);
  assert.match(await textOf(`/compare?ids=${ids.slice(0, 7).join()}`), /Choose up to six of 7 cars/);
  assert.match(await textOf(`/compare?ids=${ids.join()}`, 400), /names 26 cars: expected at most 24.* \$0\.00 /);
  const vin = active[2]?.vin ?? "";
  const added = await (await open(`/compare?ids=${two}&add=${vin.toLowerCase()}`)).text();
  assert.match(added, new RegExp(`canonical" href="/compare\\?ids=${ids.slice(0, 3).join()}"`));
  assert.match(await textOf(`/compare?ids=${ids[0]}&add=T1234`), /“T1234” is neither the VIN of a listing nor/);
});

describe("in a browser", { skip: skipWithoutBrowser }, async () => {
  const keptBy = (page: Page): Promise<readonly string[]> =>
    page.evaluate(() =>
      [...document.querySelectorAll("#shortlist li a")].map((link) => link.getAttribute("href")?.slice(10) ?? ""),
    );

  /** Fails unless a page whose browser stores nothing says so once, and changes no button. */
  async function assertRefusedOnce(page: Page): Promise<void> {
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    const button = page.locator("main [data-keep]").first();
    const status = page.locator('#shortlist [role="status"]');
    for (const words of [/^This browser keeps no shortlist/, /^$/]) {
      await button.click();
      assert.match((await status.textContent()) ?? "", words);
      assert.equal(await button.getAttribute("aria-pressed"), "true");
    }
  }

  test("kept cars survive views and pages, are shared by tabs, and their link shows them to others", async (scope) => {
    const { faults, open: openMine } = await signedInBrowser(scope, client);
    const page = await openMine("/");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const ids = await page.locator(".car").evaluateAll((cars) => cars.map(({ id }) => id.slice(4)));
    const [first = "", second = "", third = ""] = ids;
    for (const id of [first, second]) await page.locator(`[data-keep="${id}"]`).first().click();
    await page.locator(`#car-${third} h2 a`).focus();
    await page.keyboard.press("s");
    assert.deepEqual(await keptBy(page), [third, second, first]);
    await page.getByRole("link", { name: "Table", exact: true }).click();
    await page.waitForURL(/layout=table/);
    await page.goBack();
    assert.equal(await page.locator('.car [aria-pressed="true"].on').count(), 3);
    const tab = await openMine("/compare");
    assert.equal(await tab.locator('main input[name="ids"]:checked').count(), 3);
    await tab
      .getByRole("button", { name: /^Remove .* from the shortlist$/ })
      .first()
      .click();
    await page.locator('.car [aria-pressed="true"].on').nth(2).waitFor({ state: "detached" });
    await tab.close();
    await page.locator(`#car-${third} h2 a`).focus();
    await page.keyboard.press("s");
    await page.keyboard.press("c");
    await page.waitForURL(`${client.url}/compare?ids=${[third, second, first].join()}`);
    await page.locator("#main").getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, page.url());

    const theirs = await (await signedInBrowser(scope, client)).open(link.slice(client.url.length));
    assert.equal(await theirs.locator(".cmp thead th[scope=col]").count(), 3);
    assert.equal(await theirs.evaluate(() => localStorage.length), 0);
    assert.equal(await theirs.locator("#shortlist").isVisible(), false);
    await theirs.getByRole("button", { name: "Keep these" }).click();
    assert.deepEqual(await keptBy(theirs), [third, second, first]);
    assert.equal(await theirs.getByRole("button", { name: "Keep these" }).isVisible(), false);
    await theirs.getByRole("link", { name: "Differences" }).press("Enter");
    assert.equal(await theirs.locator(".cmp .same").first().isVisible(), false);
    assert.ok((await theirs.locator(".cmp td:visible").count()) > 10);
    await assertAccessible(theirs);
    await assertFitsPhone(theirs);
    assert.deepEqual(faults, []);
    await assertRefusedOnce(theirs);
  });
});
