/** Describes the environment of a run: machine, versions, and the sizes of the dataset and of the peers' databases. */
import { stat } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { projectText } from "../../src/base/project-files.ts";
import { engineVersion } from "../../src/db/duckdb.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { currentCommit, type Dataset, folderBytes } from "../dataset/dataset.ts";
import { publishedManifest } from "../dataset/flat-rows.ts";
import type { Environment, Results, Storage } from "../report/results.ts";
import type { Server } from "../servers/server.ts";

/** Returns the parts `machine`, `versions` and `dataset` of results. Sizes are in bytes. */
export async function describeEnvironment(
  dataset: Dataset,
  peers: readonly Server[],
): Promise<Pick<Results, "machine" | "versions" | "dataset">> {
  const manifest = await publishedManifest(dataset.lake);
  const storage = storageOf(manifest);
  return {
    ...(await describeMachine({
      engine: engineVersion,
      ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    })),
    dataset: {
      ...dataset.shape,
      sold: manifest.tables.sold.reduce((sum, { rows }) => sum + rows, 0),
      bytes: await databaseSizes(dataset, storage, peers),
      storage,
    },
  };
}

/** Returns the machine and the versions of Carquet, Node.js and further programs. */
export async function describeMachine(programs: Readonly<Record<string, string>>): Promise<Environment> {
  const [processor] = cpus();
  return {
    machine: {
      cpu: processor?.model ?? "unknown",
      cores: cpus().length,
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

/** Returns the sizes of the published version. Files of earlier versions, which `vacuum` removes, do not count. */
function storageOf({ format, days, tables, serving }: Manifest): Storage {
  const published = Object.keys(days);
  const [first = "", last = ""] = [published[0], published.at(-1)];
  return {
    format,
    days: 1 + (Date.parse(last) - Date.parse(first)) / (24 * 60 * 60 * 1000),
    active: sumOf(Object.values(days)) / published.length,
    tables: Object.fromEntries(
      Object.entries(tables).map(([table, files]) => [table, sumOf(files.map(({ bytes }) => bytes))]),
    ),
    serving: sumOf(serving.map(({ bytes }) => bytes)),
  };
}

/** Returns the bytes of the lake's tables (`lake`), of its serving files (`copies`), of the flat active rows, and of each peer. */
async function databaseSizes(
  dataset: Dataset,
  { tables, serving }: Storage,
  peers: readonly Server[],
): Promise<Readonly<Record<string, number>>> {
  const flat = await stat(join(dataset.flat, "active.parquet"));
  const sizes: Record<string, number> = {
    lake: sumOf(Object.values(tables)),
    copies: serving,
    flat_active: flat.size,
  };
  // DuckDB reads the flat rows in place.
  for (const { name } of peers) if (name !== "duckdb") sizes[name] = await folderBytes(join(dataset.folder, name));
  return sizes;
}
