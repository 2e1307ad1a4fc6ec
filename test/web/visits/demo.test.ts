/** How the demo is opened: by its sign-in link, and by one click on its machine. */
import assert from "node:assert/strict";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { createCustomer } from "../../support/accounts.ts";
import { createLinkSecret } from "../../support/http/forms.ts";
import { sampleService, startService } from "../../support/http/service.ts";
import { fileScope } from "../../support/scope.ts";

const { lake, client } = await sampleService();
const { url, accounts } = client;

test("a sign-in link that a person opens, not another page, signs in at once", async () => {
  const token = await createLinkSecret(accounts, (await createCustomer(accounts)).accountId, "sign_in");
  const open = (site: string, method = "GET"): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
      const sent = request(`${url}/sign-in?token=${token}`, { method, headers }, (response) =>
        resolve(response.resume()),
      );
      sent.once("error", reject).end();
    });
  const asked = [await open("cross-site"), await open("none", "HEAD")];
  assert.deepEqual(
    asked.map(({ statusCode, headers }) => [statusCode, headers["set-cookie"]]),
    [
      [200, undefined],
      [200, undefined],
    ],
  );
  const { statusCode, headers } = await open("none");
  assert.deepEqual([statusCode, headers.location, headers["set-cookie"]?.length], [302, "/", 1]);
  assert.equal((await open("none")).statusCode, 404, "the link works once");
});

test("the demo is opened in one click, on its machine alone", async () => {
  const demoAccountId = (await createCustomer(accounts)).accountId;
  const service = await startService(fileScope, lake, { accounts, demoAccountId });
  const { host, port } = new URL(service.url);
  const send = (
    path: string,
    headers: Record<string, string>,
    method = "GET",
  ): Promise<IncomingMessage & { page: string }> =>
    new Promise((resolve, reject) => {
      const type = { "Content-Type": "application/x-www-form-urlencoded" };
      request(`${service.url}${path}`, { method, headers: { ...type, ...headers } }, async (response) =>
        resolve(Object.assign(response, { page: await text(response) })),
      )
        .once("error", reject)
        .end();
    });
  const isOffered = async (headers: Record<string, string>) => /Open the demo/.test((await send("/", headers)).page);
  assert.equal(await isOffered({}), true);
  assert.equal(await isOffered({ Host: `localhost:${port}` }), true);
  const elsewhere: readonly Record<string, string>[] = [
    { Host: "cars.example" },
    { Host: `127.0.0.1.evil.example:${port}` },
    { "X-Forwarded-For": "192.0.2.1" },
    { Forwarded: "for=192.0.2.1" },
    { Via: "1.1 proxy" },
  ];
  for (const headers of elsewhere) {
    assert.equal(await isOffered(headers), false, JSON.stringify(headers));
    const origin = `http://${headers.Host ?? host}`;
    const refused = await send("/sign-in/demo", { ...headers, Origin: origin }, "POST");
    assert.deepEqual(
      [refused.statusCode === 303, refused.headers["set-cookie"]],
      [false, undefined],
      JSON.stringify(headers),
    );
  }
  for (const headers of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "cross-site" }])
    assert.equal((await send("/sign-in/demo", headers, "POST")).statusCode, 403);
  const opened = await send("/sign-in/demo", { Origin: service.url }, "POST");
  assert.equal(opened.statusCode, 303);
  const [cookie = ""] = opened.headers["set-cookie"]?.[0]?.split(";") ?? [];
  assert.ok((await send("/account", { Cookie: cookie })).page.includes(demoAccountId));
  assert.equal((await send("/sign-in/demo", { Host: "127.0.0.1", Origin: "http://127.0.0.1" }, "GET")).statusCode, 405);
  const behindProxy = await startService(fileScope, lake, {
    accounts,
    demoAccountId,
    publicUrl: "https://cars.example",
  });
  assert.doesNotMatch(await (await fetch(behindProxy.url)).text(), /Open the demo/);
});
