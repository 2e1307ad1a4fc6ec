/** What pages of the explorer cost after their first view, by the entries of the ledger; and the free explorer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeAccount } from "../../../src/accounts/account.ts";
import { listEntryPage } from "../../../src/accounts/ledger/entry-pages.ts";
import { PageCharges } from "../../../src/http/page-charges.ts";
import { type CustomerOptions, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { type Client, sampleService, startService } from "../../support/http/service.ts";
import { fileScope } from "../../support/scope.ts";

const { lake, client } = await sampleService();

/** Opens pages in a browser that is signed in to a new account; each returns its text and the usage classes of its charges. */
async function browserOf(service: Client, options: CustomerOptions = {}) {
  const customer = await createCustomer(service.accounts, options);
  const Cookie = `carquet-session=${await service.sessions.create({ accountId: customer.accountId })}`;
  const charged = (): Promise<readonly string[]> =>
    inAccountsFile(service.accounts, async (database) =>
      (await listEntryPage(database, { accountId: customer.accountId, before: null, limit: 1000 })).flatMap(
        ({ kind, usageClass }) => (kind === "charge" && usageClass !== null ? usageClass : []),
      ),
    );
  const open = async (path: string, status = 200) => {
    const before = await charged();
    const response = await fetch(`${service.url}${path}`, { headers: { Cookie } });
    assert.equal(response.status, status, path);
    return {
      page: await response.text(),
      charges: (await charged()).slice(0, -before.length || undefined).sort(),
    };
  };
  return { customer, open };
}

test("sorting, the table, reloading and paging back cost nothing more; later pages and other filters do", async () => {
  const { customer, open } = await browserOf(client);
  const first = ["facet_counts", "listing_search"];
  const views: readonly (readonly [path: string, charges: readonly string[]])[] = [
    ["/shop?inventory_type=used", first],
    ["/shop?inventory_type=used", []],
    ["/shop?inventory_type=used&sort=price", []],
    ["/shop?inventory_type=used&view=table", []],
    ["/shop?inventory_type=used&offset=24", ["listing_search"]],
    ["/shop?inventory_type=used&sort=-price&offset=24", []],
    ["/shop?inventory_type=used&sort=miles", []],
    ["/shop?inventory_type=used&offset=2147483600", ["listing_search"]],
    ["/shop?inventory_type=used&offset=48", ["listing_search"]],
    ["/shop?inventory_type=used&max_price=30000", ["facet_counts", ...first]],
  ];
  for (const [path, charges] of views) {
    const view = await open(path);
    assert.deepEqual(view.charges, charges, path);
    if (charges.length === 0) assert.doesNotMatch(view.page, /page-cost/, path);
  }
  await fetch(`${client.url}/v1/listings?inventory_type=used&limit=24`, { headers: customer.bearer });
  const { data } = await (await fetch(`${client.url}/v1/usage`, { headers: customer.bearer })).json();
  const searches = data.find(({ metering_class }: { metering_class: string }) => metering_class === "listing_search");
  assert.equal(searches.requests, 6, "five of pages, and one with the key");
  const other = await browserOf(client);
  assert.deepEqual((await other.open("/shop?inventory_type=used")).charges, first, "each account pays");
});

test("an account whose balance is used up still sorts what it has paid for", async () => {
  const { open } = await browserOf(client, { usd: "0.005" });
  await open("/shop");
  assert.deepEqual((await open("/shop?sort=price")).charges, []);
  for (const path of ["/shop?max_price=30000", "/market", "/dealers"])
    assert.match((await open(path, 402)).page, /Ask the person who invited you to add credit/, path);
});

test("a free explorer writes no charge and shows no meter; requests with a key are charged, a suspended account is refused", async () => {
  const free = await startService(fileScope, lake, { isExplorerFree: true });
  const { customer, open } = await browserOf(free, { usd: "0.001" });
  for (const path of ["/", "/shop", "/shop?max_price=30000"]) {
    const { page, charges } = await open(path);
    assert.deepEqual(charges, [], path);
    assert.doesNotMatch(page, /page-cost|id="balance"/, path);
  }
  assert.equal((await fetch(`${free.url}/v1/listings`, { headers: customer.bearer })).status, 402);
  await inAccountsFile(free.accounts, (database) =>
    changeAccount(database, customer.accountId, { state: "suspended" }),
  );
  const suspended = await browserOf(free);
  await inAccountsFile(free.accounts, (database) =>
    changeAccount(database, suspended.customer.accountId, { state: "suspended" }),
  );
  await suspended.open("/", 402);
});

test("a paid search is charged again after half an hour, and in a newer version", () => {
  let nowMs = 1;
  const charges = new PageCharges(false, () => nowMs);
  const check = (version: string, querystring = "make=Honda&limit=24") =>
    charges.check("acct", version, { id: "searchListings", path: "/v1/listings", querystring });
  assert.equal(check("1").isFree, false);
  check("1").addCharge([]);
  assert.deepEqual(
    [check("1").isFree, check("2").isFree, check("1", "make=Honda&sort=price").isFree],
    [true, false, true],
  );
  nowMs += 29 * 60_000;
  assert.equal(check("1").isFree, true);
  nowMs += 2 * 60_000;
  assert.equal(check("1").isFree, false);
});

test("of the searches of pages that are paid for, 20,000 are remembered", () => {
  const charges = new PageCharges(false, () => 1);
  const check = (search: number) =>
    charges.check("acct", "1", { id: "searchListings", path: "/v1/listings", querystring: `min_price=${search}` });
  for (let search = 0; search < 20_000; search += 1) check(search).addCharge([]);
  assert.equal(check(0).isFree, true);
  for (const search of [20_000, 20_001]) check(search).addCharge([]);
  assert.deepEqual([check(1).isFree, check(0).isFree, check(20_001).isFree], [false, true, true]);
});
