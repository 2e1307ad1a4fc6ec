/** Which documents of clients are fetched: from public addresses, over HTTPS, without redirects, up to a size and within a time. Webhooks are public too. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { isPublicAddress } from "../../../src/base/addresses.ts";
import { postMessage } from "../../../src/http/searches/deliver.ts";
import { documentBytesMax, fetchPublic, requestPublic } from "../../../src/http/service/public-requests.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../../support/scope.ts";

test("addresses of the public internet are distinguished from all others", () => {
  for (const address of ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450::1"])
    assert.ok(isPublicAddress(address), address);
  for (const address of [
    ...[
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.1",
      "127.1.2.3",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
    ],
    ...["192.0.0.1", "192.168.1.1", "198.18.0.1", "203.0.113.7", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...[
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:1.1.1.1",
      "::127.0.0.1",
      "64:ff9b::7f00:1",
      "100::1",
      "fc00::1",
      "fd12::1",
    ],
    ...["fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "nonsense", ""],
  ])
    assert.ok(!isPublicAddress(address), address);
});

test("a URL that is not https, or leads to an address that is not public, is refused before a connection", async () => {
  for (const url of [
    ...["http://agent.example/", "file:///etc/passwd", "https://127.0.0.1/", "https://127.1/", "https://0x7f000001/"],
    ...[
      "https://2130706433/",
      "https://[::1]/",
      "https://[::ffff:10.0.0.1]/",
      "https://169.254.169.254/latest/meta-data",
    ],
  ])
    await assert.rejects(fetchPublic({ resolve: async () => ["1.1.1.1"] })(url), /expected (https|a public one)/, url);
  for (const addresses of [["10.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["fe80::1"], []])
    await assert.rejects(
      fetchPublic({ resolve: async () => addresses })("https://agent.example/client.json"),
      /expected a public one/,
      addresses.join(),
    );
});

const folder = await temporaryFolder(fileScope);
const key = join(folder, "key.pem");
const cert = join(folder, "cert.pem");
await promisify(execFile)("openssl", [
  ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
  ...["-subj", "/CN=agent", "-addext", "subjectAltName=DNS:agent.example", "-keyout", key, "-out", cert],
]);
const ca = readFileSync(cert, "utf8");

/** Starts a server of agent.example on this computer. Returns a URL of it. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer({ key: readFileSync(key), cert: ca }, listener);
  onScopeEnd(fileScope, async () => server.close().closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `https://agent.example:${(server.address() as AddressInfo).port}/client.json`;
}

test("a connection goes to the addresses that were checked, even if the name resolves to others next", async () => {
  const url = await startServer((_, response) => response.setHeader("Content-Type", "application/json").end("{}"));
  const resolved: string[] = [];
  const checked: string[] = [];
  const fetchDocument = fetchPublic({
    ca,
    resolve: async (host) => {
      resolved.push(host);
      return resolved.length === 1 ? ["127.0.0.1"] : ["10.0.0.1"];
    },
    isAllowed: (address) => checked.push(address) === 1,
  });
  const response = await fetchDocument(url);
  assert.deepEqual([response.status, await response.json()], [200, {}]);
  assert.deepEqual([resolved, checked], [["agent.example"], ["127.0.0.1"]]);
  await assert.rejects(
    fetchDocument(url),
    /^TypeError: Address of agent\.example is not public: expected a public one\.$/,
  );
});

test("a redirect is not followed, a long document is refused, and a slow one ends with its signal", async () => {
  const fetchDocument = fetchPublic({ ca, resolve: async () => ["127.0.0.1"], isAllowed: () => true });
  const requests: string[] = [];
  const redirecting = await startServer(({ url }, response) => {
    requests.push(url ?? "");
    response.writeHead(302, { Location: "/other.json" }).end();
  });
  assert.equal((await fetchDocument(redirecting)).status, 302);
  assert.deepEqual(requests, ["/client.json"]);
  const long = await startServer((_, response) => response.end("x".repeat(documentBytesMax + 1)));
  await assert.rejects(fetchDocument(long), /too long/);
  const longest = await startServer((_, response) => response.end("x".repeat(documentBytesMax)));
  assert.equal((await (await fetchDocument(longest)).text()).length, documentBytesMax);
  const slow = await startServer((_, response) => response.writeHead(200).write("{"));
  await assert.rejects(fetchDocument(slow, { signal: AbortSignal.timeout(200) }), /abort/i);
});

test("informational responses without end are refused", async () => {
  const url = await startServer(({ socket }) => void socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17)));
  const fetchDocument = fetchPublic({ ca, resolve: async () => ["127.0.0.1"], isAllowed: () => true });
  await assert.rejects(fetchDocument(url), /Too many informational responses: expected at most 16\./);
});

test("a request ends at its deadline, whether the look-up, the response or the document does not end", async () => {
  const options = { ca, isAllowed: () => true, deadlineMs: 300 };
  const resolve = async (): Promise<string[]> => ["127.0.0.1"];
  const silent = await startServer(() => undefined);
  const slow = await startServer((_, response) => {
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer)).writeHead(200);
  });
  const never = new Promise<string[]>(() => undefined);
  await assert.rejects(
    requestPublic(new URL(silent), { account: "a", headers: {} }, { ...options, resolve }, () => undefined),
    /No response in 0\.3 s/,
  );
  await assert.rejects(
    requestPublic(
      new URL(silent),
      { account: "a", headers: {} },
      { ...options, resolve: () => never },
      () => undefined,
    ),
    /No response in 0\.3 s/,
  );
  await assert.rejects(fetchPublic({ ...options, resolve })(slow), /No response in 0\.3 s/);
});

test("names whose look-ups do not end take half of the look-ups for their account, and those of another go on", async () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const resolve = (host: string): Promise<readonly string[]> => {
    started.push(host);
    return new Promise((found) => ends.push(() => found([])));
  };
  const request = (account: string, host: string): Promise<unknown> => {
    const options = { resolve, deadlineMs: 5_000 };
    return requestPublic(new URL(`https://${host}/`), { account, headers: {} }, options, () => undefined).catch(String);
  };
  const fetchDocument = fetchPublic({ resolve, deadlineMs: 5_000 });
  for (const [name, send] of [
    ["an account", (host: string) => request("greedy", host)],
    ["the documents of clients", (host: string) => fetchDocument(`https://${host}/`).catch(String)],
  ] as const) {
    started.length = 0;
    ends.length = 0;
    const greedy = Array.from({ length: 40 }, (_, index) => send(`slow${index}.example`));
    const light = request("light", "light.example");
    await nextTurn();
    const expected = ["slow0.example", "slow1.example", "slow2.example", "slow3.example", "light.example"];
    assert.deepEqual(started, expected, name);
    ends[4]?.();
    assert.match(String(await light), /light\.example is not public/);
    for (let index = 0; index < started.length || index < 41; index += 1) {
      ends[index]?.();
      await nextTurn();
    }
    await Promise.all(greedy);
  }
});

test("a host name that leads to the service's own network is refused when a message is posted", async () => {
  const receiver = { url: "https://shop.example/hook", account: "a", secrets: ["whsec_c2VjcmV0"] };
  const options = { arePrivateAllowed: false, atMs: 0, signal: new AbortController().signal };
  const message = { id: "msg_1", type: "search.changed", atMs: 0, data: {} } as const;
  for (const address of ["127.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"]) {
    const sent = await postMessage(receiver, message, { ...options, resolve: async () => ["192.0.2.1", address] });
    assert.deepEqual([sent.isDelivered, sent.isGone], [false, false]);
    assert.equal(sent.outcome, "Address of shop.example is not public: expected a public one.");
  }
});
