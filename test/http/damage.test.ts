/** Damaged files of the lake: refused, reported, and healed without a restart; the campaign `damage` is longer. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { runExport } from "../../src/http/exports/writer-process.ts";
import {
  compareVersions,
  currentManifest,
  type LakeFile,
  type Manifest,
  readManifest,
  versionsIn,
} from "../../src/lake/manifest.ts";
import { damageAndAsk, damagedKinds, recordAnswers } from "../support/campaigns/damage.ts";
import { Chance } from "../support/chance.ts";
import { eventually, parseLog } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { rewriteManifest } from "../support/replication/published-lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const original = await createLakeOfEveryState(fileScope);

async function copyLake(scope: Scope): Promise<{ readonly lake: string; readonly manifest: Manifest }> {
  const lake = await temporaryCopy(scope, original.lake);
  return { lake, manifest: (await currentManifest(lake)) ?? assert.fail("nothing is published") };
}

/** Damages a file; returns a function that restores it. */
async function damage(lake: string, { path, bytes }: Pick<LakeFile, "path" | "bytes">): Promise<() => Promise<void>> {
  const whole = await readFile(join(lake, path));
  await changeByte(join(lake, path), Math.floor(bytes / 2));
  return () => writeFile(join(lake, path), whole);
}

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly lake: { readonly files: number; readonly damages: number };
  readonly serving: { readonly index: boolean; readonly rows: boolean };
}

async function healthOf(client: Client): Promise<Health> {
  const { status, body } = await client.get("/readyz");
  assert.equal(status, 200);
  return body as Health;
}

const active = original.listings.find(({ state }) => state === "active")?.id;
const pagesOfToday = ["/v1/listings", "/v1/facets?facets=make", "/v1/trends?metric=count,sold,new_listings"];

test("a request that names a version is refused while a file that opens it is damaged, and answered once it is restored", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const older = [...(await versionsIn(lake))].sort(compareVersions).find((name) => name !== manifest.version) ?? "";
  const [file = assert.fail("no file")] = (await readManifest(lake, older)).tables.dealers;
  const client = await startService(scope, lake);
  const restore = await damage(lake, file);
  const ask = () => client.get(`/v1/listings?data_version=${older}`);
  const { status, body } = await ask();
  assert.deepEqual([status, (body as { error: { code: string } }).error.code], [503, "data_unavailable"]);
  await restore();
  await eventually("the version is read again", async () => (await ask()).status === 200);
});

const spoils = {
  damaged: (path: string) => writeFile(path, "x".repeat(1000)),
  missing: (path: string) => rm(path),
  renamed: async (path: string) => changeByte(path, (await readFile(path)).indexOf("drivetrain")),
  // The last value before the footer, whose size stands before the last four bytes: the engine reads it as another one, or not at all.
  changed: async (path: string) => {
    const content = await readFile(path);
    await changeByte(path, content.length - 9 - content.readUInt32LE(content.length - 8));
  },
};

for (const [what, spoil] of Object.entries(spoils))
  test(`statements over a ${what} file are refused, not charged, and no fault of theirs`, async (scope) => {
    const { lake, manifest } = await copyLake(scope);
    const client = await startService(scope, lake, { exports: { sqlDeadlineMs: 30_000 } });
    const [file = assert.fail("no file")] = manifest.tables.builds;
    await spoil(join(lake, file.path));
    const body = JSON.stringify({ sql: "SELECT make, count(*) AS n FROM active GROUP BY make" });
    const response = await fetch(`${client.url}/v1/sql`, { method: "POST", headers: client.customer.bearer, body });
    const { error } = (await response.json()) as { error: { code: string } };
    assert.deepEqual([response.status, error.code], [503, "data_unavailable"]);
    assert.equal(response.headers.get("X-Usage-Cost-Micros"), null);
  });

test("a statement whose file disappears while the one before it runs is refused, and is not at fault", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const client = await startService(scope, lake, { exports: { sqlDeadlineMs: 30_000 } });
  const [file = assert.fail("no file")] = manifest.tables.builds;
  const slow = `CREATE TABLE sums AS SELECT sum(hash(range) % 7) FROM range(${extentOf(300_000_000, 1_000_000_000)})`;
  const body = JSON.stringify({ sql: `${slow}; SELECT make, count(*) AS n FROM active GROUP BY make` });
  const response = fetch(`${client.url}/v1/sql`, { method: "POST", headers: client.customer.bearer, body });
  await sleep(extentOf(1_000, 2_000));
  await rm(join(lake, file.path));
  const { error } = (await (await response).json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "data_unavailable", error.message);
});

test("an export that needs a damaged file is refused", { skip: skipInShortRun }, async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const client = await startService(scope, lake, { exports: { quickRowsMax: 0 } });
  const token = manifest.tables.tokens.at(-1) ?? assert.fail("no file of tokens");
  const restore = await damage(lake, token);
  const refused = await client.getError("/v1/exports?format=csv");
  assert.deepEqual([refused.status, refused.code, refused.headers.get("Retry-After")], [503, "data_unavailable", "60"]);
  await restore();
  assert.equal((await fetch(`${client.url}/v1/exports?format=csv`, { headers: client.customer.bearer })).status, 200);
});

test("an export whose file is damaged after it was checked is refused", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const [file = assert.fail("no file of listings"), ...others] = manifest.tables.listings;
  const content = "no Parquet file";
  await writeFile(join(lake, file.path), content);
  const unchecked = { ...file, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
  await rewriteManifest(lake, { tables: { ...manifest.tables, listings: [unchecked, ...others] } });
  const task = { lake, version: manifest.version, queryString: "", format: "csv", memory: "1GiB" } as const;
  const path = join(await temporaryFolder(scope), "export");
  const { signal } = new AbortController();
  await assert.rejects(runExport({ ...task, path }, signal), { code: "data_unavailable" });
});

test("a request that needs a damaged file of feeds is refused, all others are answered, and the restored file is used again", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const client = await startService(scope, lake, { logger, responseCacheBytes: 0 });
  const paths = [`/v1/listings/${active}`, `/v1/listings/${active}?include=price_history`];
  const others = [...pagesOfToday, "/v1/listings?inventory_status=sold"];
  const [asked = ""] = others;
  const before = await client.get(asked);
  const damaged = manifest.tables.feeds.at(-1) ?? assert.fail("no feeds");
  const restore = await damage(lake, damaged);
  for (const path of [...paths, ...paths]) {
    const { status, code, headers } = await client.getError(path);
    assert.deepEqual([status, code, headers.get("Retry-After")], [503, "data_unavailable", "60"], path);
  }
  const [firstDay] = Object.keys(manifest.days);
  for (const other of [...others, `/v1/listings?snapshot_date=${firstDay}`])
    assert.equal((await client.get(other)).status, 200, other);
  const { status, reasons, lake: counts } = await healthOf(client);
  assert.deepEqual([status, reasons, counts.damages], ["degraded", [`damaged file ${damaged.path}`], 1]);
  const logged = parseLog(lines.join("")).filter(({ msg }) => msg === "damaged file");
  assert.deepEqual(
    logged.map(({ error }) => String(error).split(": expected")[0]),
    [`${damaged.path}: invalid content`],
  );
  await restore();
  await eventually("ready", async () => (await healthOf(client)).status === "ready");
  for (const path of paths) assert.equal((await client.get(path)).status, 200, path);
  assert.deepEqual((await client.get(asked)).body, before.body);
});

test("damage at random positions of every kind of file is detected or harmless", {
  skip: skipInShortRun,
}, async (scope) => {
  const undamaged = await recordAnswers(original);
  const folder = await temporaryFolder(scope);
  const chance = new Chance(4);
  const kinds = extentOf(["index", "rows", "past", "sold", "manifest"], damagedKinds);
  for (const kind of kinds)
    for (const isOpen of extentOf([chance.happens(0.5)], [false, true]))
      await damageAndAsk(undamaged, folder, { kind, isOpen }, chance);
});
