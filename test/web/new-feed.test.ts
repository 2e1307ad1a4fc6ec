/** The page "New feed": an operator maps an uploaded file as `carquet map` does, with choices, and saves the mapping of a source. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { readMapping } from "../../src/ingest/mapping/mapping.ts";
import { mappingsOfSources } from "../../src/sources/save-mapping.ts";
import { readSources } from "../../src/sources/sources-file.ts";
import { addDraft, mapDraft } from "../../src/web/operate/feed-drafts.ts";
import { createCustomer, inAccountsFile } from "../support/accounts.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { csrfTokenIn, sendForm } from "../support/http/forms.ts";
import { startService } from "../support/http/service.ts";
import { vinOf } from "../support/lakes/feeds.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

const folder = await temporaryFolder(fileScope);
const sources = join(folder, "sources.yaml");
await writeFile(
  sources,
  [
    "# Feeds of the north.",
    "timeZone: America/New_York",
    'deadline: "10:00"',
    "sources:",
    "  north: { folder: { path: north }, files: '*.csv', preset: homenet }",
    "  south: { folder: { path: south }, files: '*.csv' }",
    "",
  ].join("\n"),
);
const { lake } = await createLake(fileScope);
const client = await startService(fileScope, lake, { sourceMappings: mappingsOfSources(sources) });
const { url, accounts } = client;
const { accountId } = client.customer;
await inAccountsFile(accounts, (database) =>
  applyChange(database, "accounts operator", { accountId, isOperator: true }, { actor: "test", atMs: Date.now() }),
);
const cookieOf = async (id: string): Promise<string> =>
  `carquet-session=${await client.sessions.create({ accountId: id })}`;
const cookie = await cookieOf(accountId);
const path = "/operate/feeds";

const get = (target: string, Cookie = cookie): Promise<Response> => fetch(`${url}${target}`, { headers: { Cookie } });

const rows = Array.from({ length: 25 }, (_, row) => `${vinOf(row + 1)},Ford,Escape,${20_000 + row},${10_000 + row},N`);
const content = ["VIN,Make,Model,Ask,Odometer,Dept", "SHORT,Ford,Edge,1,2,N", ...rows, ""].join("\n");

/** Sends a file as a browser does; does not follow redirects. */
async function upload(name: string, body: string, sender = cookie): Promise<Response> {
  const form = new FormData();
  form.append("csrf_token", csrfTokenIn(await (await get("/account", sender)).text()));
  form.append("file", new File([body], name));
  const headers = { Cookie: sender, Origin: url };
  return fetch(`${url}${path}`, { method: "POST", redirect: "manual", headers, body: form });
}

/** Sends the choices of a file. */
async function choose(page: string, fields: Readonly<Record<string, string>>): Promise<Response> {
  const [, draft = ""] = /name="draft" value="([\w-]+)"/.exec(page) ?? [];
  return sendForm(url, path, { csrf_token: csrfTokenIn(page), draft, ...fields }, { cookie });
}

test("an operator maps a file, chooses a column and constants, and saves the mapping of a source", async () => {
  const proposed = await (await upload("north.csv", content)).text();
  for (const says of [
    /26 rows: 25 usable, 1 refused/,
    /rejected: 1 × inventory\.vin: not 17 characters; first: north\.csv, row 1/,
    /no column for: price, inventory_type, /,
    /<select class="in" name="column:Ask" aria-label="Field of Ask">/,
  ])
    assert.match(proposed, says);
  assert.equal(proposed.match(/<td>Ford<\/td><td>Escape<\/td>/g)?.length, 20, "twenty cars");

  const refused = await choose(proposed, { "set:inventory_type": "old" });
  assert.equal(refused.status, 422);
  assert.match(
    await refused.text(),
    /Invalid value &quot;old&quot; for inventory_type: not one of new, used, certified\./,
  );

  const choices = {
    "column:Ask": "price",
    "column:Odometer": "none",
    "set:inventory_type": "used",
    "set:dealer.name": "North Motors",
    "set:dealer.state": "CA",
  };
  const tried = await (await choose(proposed, { ...choices, action: "try", source: "south" })).text();
  assert.match(tried, /<option value="south" selected>/, "the source stays chosen");
  assert.match(tried, /<td>20000<\/td>.*<td>North Motors<\/td><td>–<\/td><td>CA<\/td>/);
  assert.match(tried, /<option value="price" selected>price<\/option>/);
  assert.deepEqual((await readSources(sources)).sources[0]?.preset, "homenet", "a draft until it is saved");

  const saved = await choose(tried, { ...choices, action: "save", source: "north" });
  assert.match(await saved.text(), /The mapping of north is saved\..*The next fetch uses it\./s);
  const [north, south] = (await readSources(sources)).sources;
  assert.deepEqual(
    [north?.mapping, north?.preset, south?.mapping],
    [join(folder, "mappings/north.json"), undefined, undefined],
  );
  assert.match(await readFile(sources, "utf8"), /^# Feeds of the north\./);
  const { fields, dealer } = await readMapping(north?.mapping ?? "");
  assert.deepEqual(
    [fields.price?.from, fields.miles, fields.inventory_type?.from, dealer.key[0]?.from],
    [[{ column: "Ask", zeroIsUnknown: true }], undefined, [{ constant: "used" }], [{ constant: "North Motors" }]],
  );
  assert.match(await (await choose(tried, choices)).text(), /The file is not kept any more: upload it again\./);
  assert.match(await (await get("/operate/log")).text(), /mappings\/north\.json/);
});

test("a file that is too large, empty, unknown or without VINs is refused by name, and other accounts see no page", async () => {
  for (const [name, body, status, says] of [
    ["large.csv", "x".repeat(17 * 2 ** 20), 413, /expected at most 16777216 bytes/],
    ["empty.csv", "", 422, /No file: expected one with rows\./],
    ["../../cars.exe", "x", 422, /cars\.exe: unknown file format/],
    ["plain.csv", "a,b\nx,2\n", 422, /plain\.csv, row 0 \(header\): no column of VINs/],
  ] as const) {
    const answer = await upload(name, body);
    assert.equal(answer.status, status, name);
    assert.match(await answer.text(), says);
  }
  const other = await cookieOf((await createCustomer(accounts)).accountId);
  assert.deepEqual([(await get(path, other)).status, (await upload("a.csv", content, other)).status], [404, 400]);
});

test("an operator's files hold up and replace none of another, and mapping ends in time and with its request", async (t) => {
  const lines = Array.from({ length: 20_000 }, (_, row) => `${vinOf(row)},Ford,Escape,${row},${row},N`);
  const file = new File([["VIN,Make,Model,Price,Odometer,Dept", ...lines, ""].join("\n")], "north.csv");
  const request = { set: [], records: undefined, isAccepting: false, currency: "USD" };
  const map = (id: string, accountId: string, { signal } = new AbortController()) =>
    mapDraft(id, { accountId, request, day: "2026-11-20", signal });
  const one = await addDraft("one", file);
  const others: string[] = [];
  for (let count = 0; count < 9; count += 1) others.push(await addDraft("other", file));
  const ended: string[] = [];
  const kept = others.slice(-4).map(async (id) => {
    const { trial } = await map(id, "other");
    ended.push(`other ${trial.rows}`);
  });
  await Promise.all([...kept, map(one, "one").then(({ trial }) => ended.push(`one ${trial.rows}`))]);
  assert.deepEqual([ended.length, ended.indexOf("one 20000") < 2], [5, true], ended.join());
  await assert.rejects(map(one, "other"), /^UserError: The file is not kept any more/);
  await assert.rejects(map(others[0] ?? "", "other"), /^UserError: The file is not kept any more/);

  const leaving = new AbortController();
  const left = map(one, "one", leaving);
  leaving.abort(new Error("The client has disconnected."));
  await assert.rejects(left, /The client has disconnected/);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const late = map(one, "one");
  t.mock.timers.tick(50_000);
  await assert.rejects(late, /^UserError: not mapped within 50 seconds: expected a smaller file\.$/);
});

test("the page works in a browser, and is accessible", { skip: skipWithoutBrowser }, async () => {
  const site = await signedInBrowser(fileScope, client);
  const page = await site.open(path);
  await assertAccessible(page);
  await page
    .getByLabel("File of a dealer or provider")
    .setInputFiles({ name: "north.csv", mimeType: "text/csv", buffer: Buffer.from(content) });
  await page.getByRole("button", { name: "Map the file" }).click();
  await page.getByRole("heading", { name: "New feed: north.csv" }).waitFor();
  await assertAccessible(page);
  await assertFitsPhone(page);
  await page.getByLabel("Field of Ask").selectOption("price");
  await page.getByRole("button", { name: "Try" }).click();
  await page.locator("#listings").getByText("20000").waitFor();
  assert.equal(await page.getByLabel("Field of Ask").inputValue(), "price");
  const plain = await site.openWithoutScripts(path);
  await plain
    .getByLabel("File of a dealer or provider")
    .setInputFiles({ name: "north.csv", mimeType: "text/csv", buffer: Buffer.from(content) });
  await plain.getByRole("button", { name: "Map the file" }).click();
  await plain.getByText("26 rows").waitFor();
  assert.deepEqual(site.faults, []);
});
