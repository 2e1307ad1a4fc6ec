/** Damaged files of the lake: refused, reported, and healed without a restart; the campaign `damage` is longer. */
import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import pino from "pino";
import { currentManifest, type LakeFile, type Manifest } from "../../src/lake/manifest.ts";
import { damageAndAsk, damagedKinds, recordAnswers } from "../support/campaigns/damage.ts";
import { Chance } from "../support/chance.ts";
import { eventually, parseLog } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const original = await createLakeOfEveryState(fileScope);

/** Copies the lake; returns it with its manifest. */
async function copyLake(scope: Scope): Promise<{ readonly lake: string; readonly manifest: Manifest }> {
  const lake = join(await temporaryFolder(scope), "lake");
  await cp(original.lake, lake, { recursive: true, verbatimSymlinks: true });
  return { lake, manifest: (await currentManifest(lake)) ?? assert.fail("nothing is published") };
}

/** Damages a file; returns a function that restores it in place. */
async function damage(lake: string, { path, bytes }: Pick<LakeFile, "path" | "bytes">): Promise<() => Promise<void>> {
  const whole = await readFile(join(lake, path));
  await changeByte(join(lake, path), Math.floor(bytes / 2));
  return () => writeFile(join(lake, path), whole);
}

interface Health {
  readonly status: string;
  readonly reasons: readonly string[];
  readonly lake: { readonly files: number; readonly checked: number; readonly damages: number };
  readonly serving: { readonly index: boolean; readonly rows: boolean };
}

async function healthOf(client: Client): Promise<Health> {
  const { status, body } = await client.get("/readyz");
  assert.equal(status, 200);
  return body as Health;
}

test("a request that needs a damaged file is refused, all others are answered, and the restored file is used again", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const client = await startService(scope, lake, { logger });
  const [damaged] = manifest.tables.missing;
  assert.ok(damaged !== undefined);
  const [sold] = manifest.tables.sold;
  assert.ok(sold !== undefined);
  const past = "/v1/trends?metric=new_listings&interval=day";
  const before = await client.getBody("getTrends", past);
  const restorations = [await damage(lake, damaged), await damage(lake, sold)];
  for (const path of [`${past}&facet=make`, past, past, "/v1/trends?metric=sold"]) {
    const { status, code, headers } = await client.getError(path);
    assert.deepEqual([status, code, headers.get("Retry-After")], [503, "data_unavailable", "60"], path);
  }
  const [firstDay] = Object.keys(manifest.days);
  const answered = [
    "/v1/listings",
    "/v1/facets?facets=make",
    "/v1/facets?facets=make&inventory_status=sold",
    "/v1/trends?metric=count",
  ];
  for (const path of [...answered, `/v1/listings?snapshot_date=${firstDay}`])
    assert.equal((await client.get(path)).status, 200, path);
  const { status, reasons, lake: counts } = await healthOf(client);
  assert.equal(status, "degraded");
  assert.deepEqual([...reasons].sort(), [`damaged file ${damaged.path}`, `damaged file ${sold.path}`]);
  assert.deepEqual([counts.damages, counts.files > counts.checked], [2, true]);
  const logged = parseLog(lines.join("")).filter(({ msg }) => msg === "damaged file");
  assert.deepEqual(
    logged.map(({ message }) => String(message).split(":")[0]).sort(),
    [damaged, sold].map(({ path }) => `Invalid content of ${path}`),
  );
  for (const restore of restorations) await restore();
  await eventually("ready", async () => (await healthOf(client)).status === "ready");
  assert.deepEqual(await client.getBody("getTrends", past), before);
});

test("the scrub finds damage without a request, and restored serving files are used again", async (scope) => {
  const { lake, manifest } = await copyLake(scope);
  const client = await startService(scope, lake, { scrub: { bytesPerHour: 2 ** 45, pauseMs: 1 } });
  const files = [...Object.values(manifest.tables).flat(), ...manifest.serving];
  await eventually("every file is checked", async () => (await healthOf(client)).lake.checked === files.length);
  const damaged = [
    ...manifest.serving.filter(({ kind }) => kind === "index"),
    ...manifest.serving.filter(({ kind }) => kind === "rows").slice(0, 1),
    ...manifest.tables.snapshots.slice(0, 1),
    ...manifest.tables.dealers,
  ];
  const unused = ["row store", "search index", "search index of 2026-03"].map((name) => `${name} not in use`);
  const restorations = [];
  for (const file of damaged) restorations.push(await damage(lake, file));
  await eventually("found", async () => (await healthOf(client)).reasons.length === damaged.length + unused.length);
  const { status, reasons, serving, lake: counts } = await healthOf(client);
  assert.deepEqual([status, serving.index, serving.rows, counts.damages], ["degraded", false, false, damaged.length]);
  assert.deepEqual([...reasons].sort(), [...unused, ...damaged.map(({ path }) => `damaged file ${path}`)].sort());
  assert.equal((await client.get("/v1/listings")).status, 200);
  for (const restore of restorations) await restore();
  await eventually("ready", async () => (await healthOf(client)).status === "ready");
  const repaired = await healthOf(client);
  assert.deepEqual([repaired.serving.index, repaired.serving.rows], [true, true]);
});

test("damage at random places of every kind of file is detected or harmless", {
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
