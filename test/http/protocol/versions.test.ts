/** Reads of kept versions: by parameter, by header and by cursor, while other versions are published and removed. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { Abandoned } from "../../../src/db/job.ts";
import { currentVersion, manifestPath } from "../../../src/lake/manifest.ts";
import { PinnedVersions } from "../../../src/serving/kept-versions.ts";
import { LakeVersion } from "../../../src/serving/lake-version.ts";
import { eventually } from "../../support/eventually.ts";
import { skipInShortRun } from "../../support/extent.ts";
import { startService } from "../../support/http/service.ts";
import { createLake, ingestPath, samplePath } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const older = "2026-11-18.1";
const newer = "2026-11-19.1";
const { lake } = await createLake(fileScope, join(samplePath, "2026-11-18"));
const client = await startService(fileScope, lake);

type Page = AnswerOf<"searchListings">;
const search = "/v1/listings?sort=price&fields=price&limit=40";
const idsOf = ({ data }: Page): readonly string[] => data.map(({ id }) => id);

const [listing] = (await client.getBody("searchListings", "/v1/listings?inventory_type=used&limit=1")).data;
const paths = [
  "/v1/listings?make=toyota&features=sunroof&include=price_history",
  `/v1/listings/${listing?.id}`,
  `/v1/vins/${listing?.vin}`,
  `/v1/listings/${listing?.id}/comparables`,
  "/v1/comparables?make=ford&model=f-150&year=2022&miles=45000",
  `/v1/valuations?vin=${listing?.vin}`,
  "/v1/facets?facets=make&metric=price.median",
  "/v1/trends?metric=count&facet=make",
  "/v1/suggest?q=to",
  "/v1/dealers?limit=5",
  `/v1/dealers/${listing?.dealer_id}`,
  `/v1/dealers/${listing?.dealer_id}/listings`,
  "/v1/listings/search?page=2&per_page=10",
];
const withVersion = (path: string, version: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}data_version=${version}`;

const atFirst = await Promise.all(paths.map((path) => client.get(path)));
const firstPage = await client.getBody("searchListings", search);
const whole = idsOf(await client.getBody("searchListings", `${search.replace("limit=40", "limit=100")}`));
await ingestPath(lake, join(samplePath, "2026-11-19"));
await eventually("the newer version is in service", async () => {
  const { headers } = await client.get("/v1/listings?limit=1");
  return headers.get("Carquet-Version") === newer;
});

test("every operation reads a named version as it was published, by parameter and by header", async () => {
  for (const [index, path] of paths.entries()) {
    const { status, body, headers } = await client.get(withVersion(path, older));
    assert.deepEqual(
      [status, headers.get("Carquet-Version")],
      [200, older],
      `${path}: ${JSON.stringify(body).slice(0, 300)}`,
    );
    const { pagination: _, ...expected } = { ...(atFirst[index]?.body as object), pagination: null };
    const { pagination: __, ...found } = { ...(body as object), pagination: null };
    assert.deepEqual(found, expected, path);
    const byHeader = await client.get(path, { "Carquet-Version": older });
    assert.deepEqual([byHeader.status, byHeader.headers.get("Carquet-Version")], [200, older], path);
    assert.equal((await client.get(path)).headers.get("Carquet-Version"), newer, path);
  }
});

test("pages by cursor stay with the version of the first one", async () => {
  const found = [...idsOf(firstPage)];
  for (let cursor = firstPage.pagination.next_cursor; cursor != null && found.length < whole.length; ) {
    const page = await client.getBody("searchListings", `${search.replace("=40", "=30")}&cursor=${cursor}`);
    assert.equal(page.meta.data_version, older);
    found.push(...idsOf(page));
    cursor = page.pagination.next_cursor;
  }
  assert.deepEqual(found, whole);
});

test("the link of a page by cursor leads to the next page of the same version", async () => {
  const found = [...idsOf(firstPage)];
  let next: string | undefined = `${search.replace("=40", "=30")}&cursor=${firstPage.pagination.next_cursor}`;
  while (next !== undefined && found.length < whole.length) {
    const { status, body, headers } = await client.get(next);
    assert.equal(status, 200, next);
    assert.equal(headers.get("Carquet-Version"), older);
    found.push(...idsOf(body as Page));
    next = /^<(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
  }
  assert.deepEqual(found, whole);
});

test("a dealer's inventory has cursors of that dealer only", async () => {
  const inventory = `/v1/dealers/${listing?.dealer_id}/listings?limit=1`;
  const { pagination } = await client.getBody("searchDealerListings", inventory);
  const next = await client.getBody("searchDealerListings", `${inventory}&cursor=${pagination.next_cursor}`);
  assert.equal(next.pagination.offset, 1);
  const other = (await client.getBody("searchDealers", "/v1/dealers?limit=2")).data.find(
    ({ dealer_id }) => dealer_id !== listing?.dealer_id,
  );
  const { code } = await client.getError(
    `/v1/dealers/${other?.dealer_id}/listings?limit=1&cursor=${pagination.next_cursor}`,
  );
  assert.equal(code, "invalid_parameter_value");
});

test("versions that contradict each other, and cursors of other requests, are refused", async () => {
  const cursor = firstPage.pagination.next_cursor;
  const refused: readonly (readonly [path: string, header: string | undefined, code: string, message: RegExp])[] = [
    [withVersion(search, older), newer, "incompatible_parameters", /^data_version and Carquet-Version .*2026-11-19\.1/],
    [
      `${withVersion(search, newer)}&cursor=${cursor}`,
      undefined,
      "incompatible_parameters",
      /^data_version and cursor /,
    ],
    [`${search}&offset=40&cursor=${cursor}`, undefined, "incompatible_parameters", /^cursor and offset /],
    [
      `${search}&make=kia&cursor=${cursor}`,
      undefined,
      "invalid_parameter_value",
      /for cursor: expected the next_cursor/,
    ],
    [`${search}&cursor=abc`, undefined, "invalid_parameter_value", /for cursor: expected the next_cursor/],
    [
      search,
      "latest",
      "invalid_parameter_value",
      /^Invalid value "latest" for Carquet-Version: expected a version such/,
    ],
    [
      withVersion(search, "latest"),
      undefined,
      "invalid_parameter_value",
      /for data_version: expected a version such as/,
    ],
    [
      withVersion(search, "2020-01-01.1"),
      undefined,
      "version_unavailable",
      /^No version "2020-01-01\.1" for data_version/,
    ],
    [
      search,
      "2026-11-19.7",
      "version_unavailable",
      /for Carquet-Version: expected a kept version, from 2026-11-18\.1 to/,
    ],
    [
      `/v1/changes?since=${newer}&data_version=${older}`,
      undefined,
      "incompatible_parameters",
      /^since and data_version /,
    ],
  ];
  for (const [path, header, code, message] of refused) {
    const { status, body } = await client.get(path, header === undefined ? {} : { "Carquet-Version": header });
    const { error } = body as { readonly error: { readonly code: string; readonly message: string } };
    assert.deepEqual([status, error.code], [400, code], path);
    assert.match(error.message, message);
  }
});

test("a version that vacuum has removed is refused, although it was open", async () => {
  const feed = `/v1/changes?since=${older}&limit=1`;
  const { pagination } = await client.getBody("listChanges", feed);
  await rm(manifestPath(lake, older));
  for (const [path, parameter] of [
    [withVersion(search, older), "data_version"],
    [`${search}&cursor=${firstPage.pagination.next_cursor}`, "cursor"],
    [`${feed}0`, "since"],
    [`${feed}&cursor=${pagination.next_cursor}`, "since"],
  ] as const) {
    const { status, code, message } = await client.getError(path);
    assert.deepEqual([status, code], [400, "version_unavailable"], path);
    assert.match(
      message,
      new RegExp(`^No version "${older}" for ${parameter}: expected a kept version, from ${newer}`),
    );
  }
});

/** Named versions that stand for the published one; `opened` has their names, `closed` those that were closed. */
function openPinned() {
  const opened: string[] = [];
  const closed: string[] = [];
  const pinned = new PinnedVersions(async (name) => {
    opened.push(name);
    const version = await LakeVersion.open(lake, (await currentVersion(lake)) ?? "", { threads: 1 });
    const close = version.close.bind(version);
    return Object.assign(version, {
      close: () => {
        closed.push(name);
        close();
      },
    });
  });
  const nothing = async (): Promise<void> => undefined;
  const read = (accountId: string, ...names: readonly string[]) =>
    Promise.all(names.map((name) => pinned.use(name, { accountId }, nothing)));
  return { pinned, opened, closed, read };
}

test("an account that reads many versions closes none that another account reads", async () => {
  const { pinned, opened, closed, read } = openPinned();
  await read("light", "a");
  for (const name of ["b", "c", "d", "e", "f", "g"]) {
    await read("heavy", name);
    await read("light", "a");
  }
  assert.deepEqual(closed, ["b", "c", "d", "e"], "alone with another account, it has two");
  await read("third", "h");
  assert.deepEqual(closed.slice(4), [], "there is room for one more");
  await read("fourth", "i");
  assert.deepEqual(closed.slice(4), ["f"], "the second version of the account with two");
  assert.equal(opened.filter((name) => name === "a").length, 1);
  pinned.close();
});

test("a request for a version waits for its turn, and is refused if none comes", async () => {
  const { pinned, closed, read } = openPinned();
  const ends = new Map<string, () => void>();
  const inUse = (accountId: string, name: string) =>
    pinned.use(name, { accountId }, () => new Promise<void>((resolve) => ends.set(name, resolve)));
  const uses = ["a", "b", "c", "d"].map((name) => inUse(`account of ${name}`, name));
  await eventually("all are in use", async () => ends.size === 4);
  await assert.rejects(read("fifth", "e"), { code: "overloaded" });
  await assert.rejects(read("account of a", "e"), { code: "overloaded" });
  const leaving = new AbortController();
  const abandoned = pinned.use("f", { accountId: "account of a", signal: leaving.signal }, async () => undefined);
  leaving.abort(new Abandoned("The client has left."));
  const waiting = read("account of a", "e");
  ends.get("a")?.();
  await assert.rejects(abandoned, Abandoned);
  await waiting;
  assert.deepEqual(closed, ["a"], "its own");
  for (const end of ends.values()) end();
  await Promise.all(uses);
  pinned.close();
});

test("versions that another account keeps in use take no place of an account that has read them once", async () => {
  const { pinned, opened, closed, read } = openPinned();
  const ends: (() => void)[] = [];
  const uses = ["a", "b"].map((name) =>
    pinned.use(name, { accountId: "heavy" }, () => new Promise<void>((resolve) => ends.push(resolve))),
  );
  await read("light", "a");
  await read("light", "b");
  await read("light", "c");
  await read("light", "d");
  assert.deepEqual([opened, closed], [["a", "b", "c", "d"], ["c"]]);
  await assert.rejects(read("heavy", "e"), { code: "overloaded" });
  for (const end of ends) end();
  await Promise.all(uses);
  pinned.close();
});

test("a version that its account has left unused for 5 seconds is closed for another account", {
  skip: skipInShortRun,
}, async () => {
  const { pinned, closed, read } = openPinned();
  for (const name of ["a", "b", "c", "d"]) await read(`account of ${name}`, name);
  await assert.rejects(read("fifth", "e"), { code: "overloaded" }, "after 3 seconds");
  await read("fifth", "e");
  assert.deepEqual(closed, ["a"]);
  pinned.close();
});

test("opening a version counts against the rate limits by its time; a path that names nothing opens none", async (t) => {
  const lakeOfDays = await createLake(t, join(samplePath, "2026-11-18"));
  await ingestPath(lakeOfDays.lake, join(samplePath, "2026-11-19"));
  const service = await startService(t, lakeOfDays.lake);
  const remaining = async (path: string): Promise<number> => {
    const { headers } = await service.get(path);
    return Number(headers.get("X-RateLimit-Remaining-60s"));
  };
  const before = await remaining("/v1/listings?limit=1");
  for (const path of ["/v1/listings/x", "/v1/listings/x/comparables", "/v1/dealers/x", "/v1/dealers/x/listings"])
    assert.equal((await service.get(withVersion(path, older))).status, 404, path);
  const afterPaths = await remaining("/v1/listings?limit=1");
  assert.equal(before - afterPaths, 5, "each of them is one request");
  const opened = await remaining(withVersion("/v1/listings/00000000000000000000000000000000", older));
  assert.ok(afterPaths - opened > 1, `${afterPaths - opened} requests for a 404 that opened a version`);
  assert.equal(opened - (await remaining(withVersion("/v1/listings/0".padEnd(45, "0"), older))), 1, "it is open");
});
