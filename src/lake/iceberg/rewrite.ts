/** Rewrites the Iceberg metadata and the catalog of a lake for another location of its files. */
import { replaceFile } from "../../base/files.ts";
import { writeCatalog } from "../analyst/catalog.ts";
import { requireManifest } from "../published-lake.ts";
import { icebergLocation, locationPath, stageIcebergMetadata } from "./stage.ts";
import { metadataFolder, metadataName, newestNumber, readTableHistory } from "./table-metadata.ts";
import { type IcebergTable, icebergTables } from "./table-schema.ts";

export interface IcebergReport {
  readonly version: string;
  /** URI of the lake's folder. */
  readonly location: string;
  readonly tables: readonly {
    readonly table: IcebergTable;
    /** Path of the newest metadata file. */
    readonly metadata: string;
    readonly snapshots: number;
  }[];
}

/**
 * Writes the Iceberg metadata of the published version and those before it, and its catalog. A location, the URI of the lake's folder, is kept for later
 * publishes. The caller holds the lake's lock. Throws a UserError if nothing has been published.
 */
export async function rewriteIcebergMetadata(lake: string, location?: string): Promise<IcebergReport> {
  const published = await requireManifest(lake);
  if (location !== undefined) await replaceFile(locationPath(lake), `${location}\n`);
  const commit = await stageIcebergMetadata(lake, published, { isAnew: true });
  await commit();
  await writeCatalog(lake, published);
  const tables = await Promise.all(icebergTables.map((table) => describeTable(lake, table)));
  return { version: published.version, location: await icebergLocation(lake), tables };
}

async function describeTable(lake: string, table: IcebergTable): Promise<IcebergReport["tables"][number]> {
  const folder = metadataFolder(lake, table);
  const metadata = `${folder}/${metadataName(await newestNumber(folder))}`;
  const history = await readTableHistory(metadata);
  return { table, metadata, snapshots: history?.snapshots.length ?? 0 };
}
