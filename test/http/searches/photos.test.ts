/** Photos through the service: which files of which hosts it requests, how often, and what it keeps. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type PhotoSettings, Photos, photoBytesMax } from "../../../src/http/service/photos.ts";
import { systemClock } from "../../../src/http/service/system-clock.ts";
import { temporaryFolder } from "../../support/lakes/lakes.ts";
import { onScopeEnd, type Scope } from "../../support/scope.ts";

const jpeg = (bytes: number): Buffer => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0])], bytes);

/** Answers with a photo of as many bytes as the path names, or with something else. */
const answer: RequestListener = ({ url = "" }, response) => {
  const [kind = "", bytes = "0"] = url.slice(1).split("-");
  if (kind === "redirect") response.writeHead(302, { Location: "/photo-100" });
  else response.writeHead(kind === "gone" ? 404 : 200, { "Content-Type": "image/jpeg" });
  response.end(kind === "photo" ? jpeg(Number(bytes)) : kind === "svg" ? "<svg onload='alert(1)'/>" : "none");
};

/** Starts a host of photos. Returns its URL, and the paths that were requested. */
async function startHost(scope: Scope): Promise<{ readonly url: string; readonly requested: string[] }> {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url ?? "");
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onScopeEnd(scope, async () => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requested };
}

/** Opens a cache for hosts of any address, with a clock that moves on by a second whenever it is read. */
function opener(folder: string): (settings?: Partial<PhotoSettings>) => Promise<Photos> {
  let atMs = Date.now();
  const wallMs = (): number => {
    atMs += 1000;
    return atMs;
  };
  return (settings) =>
    Photos.open(
      { mode: "proxy", folder, bytesMax: 10_000_000, isAllowed: () => true, ...settings },
      { ...systemClock, wallMs },
    );
}

test("a photo is requested once, however often and by how many it is seen, and only photos are kept", async (scope) => {
  const { url, requested } = await startHost(scope);
  const folder = await temporaryFolder(scope);
  const open = opener(folder);
  const photos = await open();
  const seen = await Promise.all([1, 2, 3].map(() => photos.read(`${url}/photo-5000`)));
  for (const photo of [...seen, await photos.read(`${url}/photo-5000`), await (await open()).read(`${url}/photo-5000`)])
    assert.deepEqual([photo?.type, photo?.content], ["image/jpeg", jpeg(5000)]);
  assert.deepEqual(requested.splice(0), ["/photo-5000"]);
  const refused = ["/svg", "/text", "/gone", "/redirect", `/photo-${photoBytesMax + 1}`];
  for (const path of [...refused, ...refused]) assert.equal(await photos.read(`${url}${path}`), undefined, path);
  assert.deepEqual(requested, refused, "a photo that failed is not requested again soon");
  assert.equal((await photos.read(`${url}/photo-${photoBytesMax}`))?.content.length, photoBytesMax);
  assert.equal((await readdir(folder)).length, 2);
});

test("hosts in the service's own network are not requested under any name", async (scope) => {
  const { url, requested } = await startHost(scope);
  const { port } = new URL(url);
  const settings = { mode: "proxy", folder: await temporaryFolder(scope), bytesMax: 1_000_000 } as const;
  const photos = await Photos.open({ ...settings, resolve: async () => ["127.0.0.1"] }, systemClock);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `photos.example:${port}`, "[::1]", "169.254.169.254"])
    assert.equal(await photos.read(`http://${host}/photo-100`), undefined, host);
  assert.deepEqual(requested, []);
});

test("the photos that were seen least recently leave a full cache, also after a restart", async (scope) => {
  const { url, requested } = await startHost(scope);
  const folder = await temporaryFolder(scope);
  const open = opener(folder);
  const [first, second, third, fourth] = ["1001", "1002", "1003", "1004"].map((bytes) => `${url}/photo-${bytes}`) as [
    string,
    ...string[],
  ];
  const photos = await open({ bytesMax: 3100 });
  for (const one of [first, second, third, second, third, first]) await photos.read(one ?? "");
  const restarted = await open({ bytesMax: 3100 });
  await restarted.read(fourth ?? "");
  requested.splice(0);
  for (const one of [first, third, fourth, second]) await restarted.read(one ?? "");
  assert.deepEqual(requested, ["/photo-1002"], "the second one had left");
  await restarted.read(`${url}/photo-4000`);
  assert.equal((await readdir(folder)).length, 3, "a photo that is larger than the cache is not kept");
});
