/** Describes the environment of a run: machine, versions, and the sizes of the dataset and of the peers' databases. */
import { stat } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { projectText } from "../../src/base/project-files.ts";
import { engineVersion } from "../../src/db/duckdb.ts";
import { currentCommit, type Dataset, folderBytes } from "../dataset/dataset.ts";
import { publishedManifest } from "../dataset/flat-rows.ts";
import type { Environment, Results } from "../report/results.ts";
import type { Server } from "../servers/server.ts";

/** Returns the parts `machine`, `versions` and `dataset` of results. Sizes are in bytes. */
export async function describeEnvironment(
  dataset: Dataset,
  peers: readonly Server[],
): Promise<Pick<Results, "machine" | "versions" | "dataset">> {
  const { tables } = await publishedManifest(dataset.lake);
  return {
    ...(await describeMachine({
      engine: engineVersion,
      ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    })),
    dataset: {
      ...dataset.shape,
      sold: tables.sold.reduce((sum, { rows }) => sum + rows, 0),
      bytes: await databaseSizes(dataset, peers),
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

/** Returns the bytes of the lake without its serving files (`lake`), of these (`copies`), of the flat active rows, and of each peer. */
async function databaseSizes(dataset: Dataset, peers: readonly Server[]): Promise<Readonly<Record<string, number>>> {
  const servingFiles = await folderBytes(join(dataset.lake, "serving"));
  const flat = await stat(join(dataset.flat, "active.parquet"));
  const sizes: Record<string, number> = {
    lake: (await folderBytes(dataset.lake)) - servingFiles,
    copies: servingFiles,
    flat_active: flat.size,
  };
  // DuckDB reads the flat rows in place.
  for (const { name } of peers) if (name !== "duckdb") sizes[name] = await folderBytes(join(dataset.folder, name));
  return sizes;
}
