/** The host of a request: one, well-formed, and that of its target (RFC 9112). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exchangeRaw } from "../../support/http/raw-http.ts";
import { sampleService, startService } from "../../support/http/service.ts";

const { client, lake } = await sampleService();

const requestOf = (target: string, hosts: readonly string[], version = "1.1"): string =>
  [`GET ${target} HTTP/${version}`, ...hosts.map((host) => `Host: ${host}`), "Connection: close", "", ""].join("\r\n");

const refused: readonly (readonly [target: string, hosts: readonly string[], version?: string])[] = [
  ["/healthz", []],
  ["/healthz", [""]],
  ["/healthz", ["a", "a"]],
  ["/healthz", ["a", "b"], "1.0"],
  ["/healthz", ["a, b"]],
  ["/healthz", ["a,b"]],
  ["/healthz", ["a b"]],
  ["/healthz", ["user@a"]],
  ["/healthz", ["a/b"]],
  ["/healthz", ["a?b"]],
  ["/healthz", ["a:b"]],
  ["/healthz", ["a:99999"]],
  ["/healthz", ["[::1"]],
  ["/healthz", ["http://a"]],
  ["http://a/healthz", ["b"]],
  ["http://a:81/healthz", ["a:82"]],
  ["http://a:81/healthz", ["a"]],
  ["http://user@a/healthz", ["a"]],
  ["http://a/healthz", []],
  ["http://a/healthz", ["a", "a"]],
];

const accepted: readonly (readonly [target: string, hosts: readonly string[], version?: string])[] = [
  ["/healthz", ["a"]],
  ["/healthz", ["A.example.:8080"]],
  ["/healthz", ["127.0.0.1:80"]],
  ["/healthz", ["[::1]:80"]],
  ["/healthz", ["a_b.example"]],
  ["/healthz", [], "1.0"],
  ["http://a/healthz", ["a"]],
  ["http://A:80/healthz", ["a"]],
  ["http://[::1]:81/healthz", ["[::1]:81"]],
];

for (const [target, hosts, version] of refused)
  test(`${target} with ${JSON.stringify(hosts)} in HTTP/${version ?? "1.1"} is a 400 in JSON`, async () => {
    const response = await exchangeRaw(client.url, requestOf(target, hosts, version));
    assert.match(response, /^HTTP\/1\.1 400 /);
    const { error } = JSON.parse(response.slice(response.indexOf("\r\n\r\n")));
    assert.deepEqual([error.type, error.code], ["validation_error", "invalid_parameter_value"]);
    assert.match(error.message, /^Invalid value ".*" for Host: expected one host, that of the request\.$/);
  });

for (const [target, hosts, version] of accepted)
  test(`${target} with ${JSON.stringify(hosts)} in HTTP/${version ?? "1.1"} is answered`, async () => {
    assert.match(await exchangeRaw(client.url, requestOf(target, hosts, version)), /^HTTP\/1\.1 200 /);
  });

test("a service without keys is reached by no second host", async (scope) => {
  const { url } = await startService(scope, lake, { isOpen: true });
  const { host } = new URL(url);
  const statusOf = async (target: string, ...hosts: readonly string[]): Promise<string> =>
    (await exchangeRaw(url, requestOf(target, hosts))).slice(9, 12);
  assert.equal(await statusOf("/v1/listings?limit=1", host), "200");
  assert.equal(await statusOf("/v1/listings?limit=1", host, "evil.example"), "400");
  assert.equal(await statusOf("/v1/listings?limit=1", "evil.example"), "404");
  assert.equal(await statusOf("http://evil.example/v1/listings?limit=1", host), "400");
  assert.equal(await statusOf("http://evil.example/v1/listings?limit=1", "evil.example"), "404");
});
