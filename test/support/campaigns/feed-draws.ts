/**
 * Ingests mutated feeds. Each ingest must publish a version that `verify` accepts, or fail with one line that names the file and leave
 * the published version unchanged.
 */
import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../src/base/user-error.ts";
import { type FeedTable, feedTables } from "../../../src/ingest/feed/feed-schema.ts";
import { currentVersion } from "../../../src/lake/manifest.ts";
import { Chance } from "../chance.ts";
import { lakeFaults, listLakeFiles } from "../lakes/contents.ts";
import { copyLake, ingestPath, queryLake, samplePath } from "../lakes/lakes.ts";
import { mutateFeed } from "./feed-mutations.ts";

const day = "2026-11-19";
const formats = ["csv", "csv.gz", "ndjson", "ndjson.gz", "parquet"] as const;
const tables = feedTables;

/** Part of a file's name, in each draw another. */
const suffixes = ["", "", "", "[1]", "*", "?", " 'x\"", "%20", "\n", "—", "{a,b}"];

export interface FeedDraws {
  readonly published: number;
  readonly refused: number;
}

/** Runs the draws of a seed from `first` on, in an empty folder. `onDraw` is called before each. */
export async function ingestMutatedFeeds(
  folder: string,
  { seed, first, draws }: { readonly seed: number; readonly first: number; readonly draws: number },
  onDraw: (draw: number) => void = () => {},
): Promise<FeedDraws> {
  const base = join(folder, "base");
  const lake = join(folder, "lake");
  await ingestPath(base, samplePath, { day: "2026-11-18", hasServingFiles: false });
  const samples = await writeSamples(join(folder, "samples"), base);
  const published = await currentVersion(base);
  const files = await listLakeFiles(base);
  const counts = { published: 0, refused: 0 };
  await copyLake(base, lake);
  for (let draw = first; draw < first + draws; draw += 1) {
    onDraw(draw);
    const { feeds, name, what } = await drawFeeds(folder, samples, new Chance(seed * 1_000_003 + draw));
    const thrown = await ingestPath(lake, feeds, { hasServingFiles: false, threads: 2, memoryLimit: "1GiB" }).then(
      () => undefined,
      (error: unknown) => error ?? "nothing",
    );
    const context = `seed ${seed}, draw ${draw}: ${what}`;
    if (thrown === undefined) {
      assert.equal(await currentVersion(lake), `${day}.1`, context);
      assert.deepEqual(await lakeFaults(lake), [], context);
      counts.published += 1;
    } else {
      assertNamesFile(thrown, name, context);
      assert.equal(await currentVersion(lake), published, context);
      counts.refused += 1;
    }
    await rm(feeds, { recursive: true });
    if (thrown !== undefined && (await listLakeFiles(lake)).join() === files.join()) continue;
    await rm(lake, { recursive: true });
    await copyLake(base, lake);
  }
  return counts;
}

function assertNamesFile(thrown: unknown, name: string, context: string): void {
  assert.ok(thrown instanceof UserError, `${context}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`);
  assert.ok(thrown.message.startsWith(name.replace("\n", "\ufffd")), `${context}: ${thrown.message}`);
  assert.match(thrown.message, /^.{1,3000}$/, context);
}

type Samples = ReadonlyMap<string, Buffer>;

/** Writes the sample's second day in each format. Returns the uncompressed content by file name. */
async function writeSamples(folder: string, lake: string): Promise<Samples> {
  await mkdir(folder);
  const samples = new Map<string, Buffer>();
  for (const table of tables) {
    const csv = join(samplePath, day, `${table}.csv`);
    const read = `FROM read_csv('${csv}', header = true, all_varchar = true)`;
    for (const format of ["ndjson", "parquet"])
      await queryLake(
        lake,
        `COPY (${read}) TO '${join(folder, `${table}.${format}`)}' (FORMAT ${format === "ndjson" ? "json" : "parquet, COMPRESSION uncompressed"})`,
      );
    samples.set(`${table}.csv`, await readFile(csv));
    for (const format of ["ndjson", "parquet"])
      samples.set(`${table}.${format}`, await readFile(join(folder, `${table}.${format}`)));
  }
  return samples;
}

const sampleOf = (samples: Samples, table: FeedTable, format: string): Buffer =>
  samples.get(`${table}.${format.replace(".gz", "")}`) ?? Buffer.alloc(0);

/** Writes a delivery with one mutated file. Returns its folder, the name of the file, and its mutations. */
async function drawFeeds(
  folder: string,
  samples: Samples,
  chance: Chance,
): Promise<{ readonly feeds: string; readonly name: string; readonly what: string }> {
  const feeds = join(folder, day);
  await mkdir(feeds);
  const mutated = chance.pick([...tables, "inventory", "inventory"] as const);
  const format = chance.pick(formats);
  const name = `${mutated}${chance.pick(suffixes)}.${format}`;
  const { bytes, mutations } = mutateFeed(sampleOf(samples, mutated, format), format.endsWith(".gz"), chance);
  for (const table of tables)
    if (table !== mutated) await writeFile(join(feeds, `${table}.csv`), sampleOf(samples, table, "csv"));
  await writeFile(join(feeds, name), bytes);
  return { feeds, name, what: `${JSON.stringify(name)} with ${mutations.join(", ")}` };
}
