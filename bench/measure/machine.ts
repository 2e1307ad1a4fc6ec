/** Describes a run: machine, versions, and the sizes of the dataset and of the peers' databases. */
import { stat } from "node:fs/promises";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { projectText } from "../../src/base/project-files.ts";
import { engineVersion } from "../../src/db/duckdb.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { currentCommit, type Dataset, folderBytes } from "../dataset/dataset.ts";
import type { Environment, Results } from "../report/results.ts";
import type { Server } from "../servers/server.ts";

/** Returns all of a run's results but its measurements. */
export async function describeRun(
  dataset: Dataset,
  peers: readonly Server[],
  isQuick: boolean,
): Promise<Omit<Results, "measurements">> {
  const manifest = await requireManifest(dataset.lake);
  const { listings, days, end, seed, options } = dataset.shape;
  const sold = sumOf(manifest.tables.sold.map(({ rows }) => rows));
  const storage = storageOf(manifest);
  const sizes = Object.entries(await databaseSizes(dataset, storage, peers));
  const onDisk = sizes
    .flatMap(([name, bytes]) => (bytes === 0 ? [] : `${name} ${(bytes / 1e6).toFixed(0)} MB`))
    .join(", ");
  return {
    title: `${listings.toLocaleString("en")} listings, ${days} days, ${options} options, lake format ${manifest.format}`,
    notes: [
      `Seed ${seed}, as of ${end}, ${sold.toLocaleString("en")} sold. On disk: ${onDisk}.`,
      storageNote(storage),
      ...(isQuick ? ["A quick run: fewer repetitions of each request."] : []),
    ],
    ...(await describeMachine({
      engine: engineVersion,
      ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    })),
    dataset: { listings, days, options, lakeFormat: manifest.format },
  };
}

/** Returns the machine and the versions of Carquet, Node.js and further programs. */
export async function describeMachine(programs: Readonly<Record<string, string>>): Promise<Environment> {
  const [processor] = cpus();
  return {
    machine: {
      cpu: processor?.model ?? "unknown",
      // Those that this process may use: a run is restricted to some by `taskset`.
      cores: availableParallelism(),
      memory_gib: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()}`,
    },
    versions: {
      carquet: `${JSON.parse(projectText("package.json")).version} ${(await currentCommit()) ?? ""}`.trim(),
      node: process.version,
      ...programs,
    },
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** The files of a published version, in bytes. */
interface Storage {
  /** The days from the first to the last one with a snapshot. */
  readonly days: number;
  /** The mean number of active listings of a day. */
  readonly active: number;
  readonly tables: Readonly<Record<string, number>>;
  readonly serving: number;
}

/** Returns the sizes of the published version. Files of earlier versions, which `vacuum` removes, do not count. */
function storageOf({ days, tables, serving }: Manifest): Storage {
  const published = Object.keys(days);
  const first = published[0] ?? "";
  const last = published.at(-1) ?? "";
  return {
    days: 1 + (Date.parse(last) - Date.parse(first)) / (24 * 60 * 60 * 1000),
    active: sumOf(Object.values(days)) / published.length,
    tables: Object.fromEntries(
      Object.entries(tables).map(([table, files]) => [table, sumOf(files.map(({ bytes }) => bytes))]),
    ),
    serving: sumOf(serving.map(({ bytes }) => bytes)),
  };
}

/** Returns the bytes of the lake's tables (`lake`), of its serving files, and, if there are peers, of the flat active rows and of each peer. */
async function databaseSizes(
  dataset: Dataset,
  { tables, serving }: Storage,
  peers: readonly Server[],
): Promise<Readonly<Record<string, number>>> {
  const sizes: Record<string, number> = { lake: sumOf(Object.values(tables)), "serving files": serving };
  if (peers.length > 0) sizes["flat active rows"] = (await stat(join(dataset.flat, "active.parquet"))).size;
  // DuckDB reads the file of flat rows.
  for (const { name } of peers) if (name !== "duckdb") sizes[name] = await folderBytes(join(dataset.folder, name));
  return sizes;
}

/** Returns a sentence about the bytes per active listing and year. */
function storageNote({ days, active, tables, serving }: Storage): string {
  const bytesOf = (names: readonly string[]): number => sumOf(names.map((name) => tables[name] ?? 0));
  const perYear = (bytes: number): string => Math.round((bytes / active) * (365 / days)).toLocaleString("en");
  const all = bytesOf(Object.keys(tables));
  return [
    `Bytes per active listing and year, over ${days} days of ${Math.round(active).toLocaleString("en")} listings:`,
    `${perYear(bytesOf(["listings", "past_listings"]))} in listings and past_listings (${perYear(bytesOf(["past_listings"]))} in ended intervals alone, which grow with the days),`,
    `${perYear(all)} in all tables, ${perYear(all + serving)} with serving files.`,
  ].join(" ");
}
