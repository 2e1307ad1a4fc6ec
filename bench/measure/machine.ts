/** What was measured, on what: machine, versions and dataset. */

import { stat } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { projectText } from "../../src/base/project-files.ts";
import { engineVersion } from "../../src/db/duckdb.ts";
import { bytesIn, commit, type Dataset } from "../dataset/dataset.ts";
import { manifestOf } from "../dataset/flat-rows.ts";
import type { Results } from "../report/results.ts";
import type { Server } from "../servers/server.ts";

export async function describe(
  dataset: Dataset,
  peers: readonly Server[],
): Promise<Pick<Results, "machine" | "versions" | "dataset">> {
  const { tables } = await manifestOf(dataset.lake);
  const [processor] = cpus();
  const hot = await bytesIn(join(dataset.lake, "hot"));
  const flat = await stat(join(dataset.flat, "active.parquet"));
  return {
    machine: {
      cpu: processor?.model ?? "unknown",
      cores: cpus().length,
      memory_gib: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()}`,
    },
    versions: {
      carquet: `${JSON.parse(projectText("package.json")).version} ${(await commit()) ?? ""}`.trim(),
      node: process.version,
      engine: engineVersion,
      ...Object.fromEntries(peers.map(({ name, version }) => [name, version])),
    },
    dataset: {
      ...dataset.shape,
      sold: tables.sold.reduce((sum, { rows }) => sum + rows, 0),
      bytes: {
        lake: (await bytesIn(dataset.lake)) - hot,
        copies: hot,
        flat_active: flat.size,
        ...Object.fromEntries(
          await Promise.all(
            peers
              .filter(({ name }) => name !== "duckdb")
              .map(async ({ name }) => [name, await bytesIn(join(dataset.folder, name))]),
          ),
        ),
      },
    },
  };
}
