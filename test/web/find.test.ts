/** The find box over HTTP: what it shows of a question, and what it suggests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleService } from "../support/http/service.ts";

const { client } = await sampleService();
const signedIn = { Cookie: `carquet-session=${await client.sessions.create(client.customer.accountId)}` };

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${client.url}${path}`, { headers, redirect: "manual" });

/** Returns the micros that the account has been charged. */
async function chargedMicros(): Promise<number> {
  return (await client.getBody("getUsage", "/v1/usage")).totals.charged_micros;
}

test("a question is answered by listings and a line about each of its words, without scripts", async () => {
  const find = async (q: string): Promise<Response> => get(`/find?${new URLSearchParams({ q })}`, signedIn);
  const page = await (
    await find("used toyotta 2019-2021 in Santa Fe with wings and tacomma under $300 a month")
  ).text();
  const [, address = ""] = /<link rel="canonical" href="\/\?([^"]+)"/.exec(page) ?? [];
  assert.deepEqual(Object.fromEntries(new URLSearchParams(address.replaceAll("&amp;", "&"))), {
    inventory_type: "used",
    make: "Toyota",
    model: "Tacoma",
    min_year: "2019",
    max_year: "2021",
    postal_code: "87507",
    radius: "25",
  });
  const lines = [...page.matchAll(/<dt>([\w ]+)<\/dt>((?:<dd>.*?<\/dd>)+)/g)].map(
    ([, name, items]) => `${name}: ${items}`,
  );
  assert.deepEqual(
    lines
      .map((line) =>
        line
          .replaceAll(/<[^>]+>/g, " ")
          .replaceAll(/ +/g, " ")
          .trim(),
      )
      .filter((line) => /^[UAIN]/.test(line)),
    [
      "Understood: used, toyotta (Toyota), 2019-2021, in Santa Fe, tacomma (Tacoma)",
      "Also means: in Santa Fe: city Santa Fe, TX or model Santa Fe",
      "Ignored: with, and",
      "Not understood: wings under $300 a month (No filter is for payments: expected a price such as under 25000.)",
    ],
  );
  const nothing = await find("heated");
  assert.equal(nothing.status, 404);
  assert.match(await nothing.text(), /<a href="\/find\?q=heated\+seats">heated seats<\/a>/);
});

test("suggestions complete the last words of a question, and are charged as such", async () => {
  const suggest = async (q: string, headers = signedIn): Promise<unknown> => {
    const answer = await get(`/find/suggestions?${new URLSearchParams({ q })}`, headers);
    return JSON.parse(await answer.text(), (name, value) => (name === "count" ? undefined : value));
  };
  const before = await chargedMicros();
  assert.deepEqual(await suggest("f-15"), [{ text: "Ford F-150" }, { text: "Ford F-150 Lightning" }]);
  assert.equal((await chargedMicros()) - before, 100);
  const [first] = (await suggest("used santa f")) as readonly unknown[];
  assert.deepEqual(first, { text: "used Hyundai Santa Fe" });
  const stocked = [{ text: "used stock number T26-4266" }];
  for (const q of ["used t26-4266", "used stock number t26-4266"]) assert.deepEqual(await suggest(q), stocked);
  const hint = "VINs are suggested from 5 characters on.";
  assert.deepEqual(await suggest("used 5yj"), [{ text: "used 5yj", note: hint }]);
  assert.deepEqual(await suggest("!"), []);
  assert.deepEqual(await suggest("toyota", { Cookie: "carquet-session=none" }), []);
});

test("a suggested stock number leads to its listing, and a further meaning of words to the search by it", async () => {
  const { data } = await client.getBody("searchListings", "/v1/listings?stock_number=t26-4266");
  const found = await (await get("/find?q=stock+number+T26-4266", signedIn)).text();
  assert.equal(data.length, 1);
  assert.match(found, new RegExp(`<a href="/listings/${data[0]?.id}\\?[^"]*stock_number=T26-4266[^"]*">`));
  const santaFe = await (await get("/find?q=used+santa+fe", signedIn)).text();
  assert.match(santaFe, /<a href="\/\?inventory_type=used&amp;postal_code=87507&amp;radius=25">city Santa Fe, NM<\/a>/);
});
