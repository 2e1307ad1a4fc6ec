/** Reads the Iceberg metadata of the published version as other engines do, from `version-hint.text` on, and compares it with the lake's manifest. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import avro from "avsc";
import { currentManifest, type Manifest } from "../../../src/lake/manifest.ts";
import { type TableName, tableNames } from "../../../src/lake/tables.ts";

export interface IcebergMetadata {
  readonly location: string;
  readonly "table-uuid": string;
  readonly "current-snapshot-id": number;
  readonly "last-sequence-number": number;
  readonly "last-updated-ms": number;
  readonly snapshots: readonly {
    readonly "snapshot-id": number;
    readonly "manifest-list": string;
    readonly summary: Readonly<Record<string, string>>;
  }[];
}

interface ListedManifest {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly added_files_count: number;
  readonly added_rows_count: number;
}

type Bounds = readonly { readonly key: number; readonly value: Buffer }[];

export interface ManifestEntry {
  readonly status: number;
  readonly data_file: {
    readonly file_path: string;
    readonly partition: Readonly<Record<string, string>>;
    readonly record_count: number;
    readonly file_size_in_bytes: number;
    readonly lower_bounds: Bounds | null;
    readonly upper_bounds: Bounds | null;
  };
}

/** Reads all rows of an Avro file by the schema in its header. */
export async function readAvro<Row>(path: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of avro.createFileDecoder(path)) rows.push(row);
  return rows;
}

/** Reads the metadata file of a table that `version-hint.text` names. */
export async function readIceberg(lake: string, table: TableName): Promise<IcebergMetadata> {
  const folder = join(lake, "current", "iceberg", table, "metadata");
  const hint = await readFile(join(folder, "version-hint.text"), "utf8");
  return JSON.parse(await readFile(join(folder, `v${hint}.metadata.json`), "utf8"));
}

/** Returns the version that readers of a table's metadata find. */
export const icebergVersion = async (lake: string, table: TableName): Promise<string | undefined> =>
  (await readIceberg(lake, table)).snapshots[0]?.summary["carquet.version"];

/** Returns the tables whose metadata lists other files than the published manifest, or files that do not exist, with what it lists. */
export async function icebergFaults(lake: string): Promise<readonly string[]> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) return ["nothing is published"];
  const faults = await Promise.all(tableNames.map((table) => tableFault(lake, table, manifest)));
  return faults.flat();
}

async function tableFault(lake: string, table: TableName, manifest: Manifest): Promise<readonly string[]> {
  const files = manifest.tables[table].map(({ path, partition, rows, bytes }) => [path, partition, rows, bytes]);
  const rows = manifest.tables[table].reduce((sum, file) => sum + file.rows, 0);
  const expected = JSON.stringify([manifest.version, files.length, rows, files]);
  const found = JSON.stringify(await listedFiles(lake, table));
  return found === expected ? [] : [`${table}: ${found}: expected ${expected}`];
}

/** Returns a table's version, numbers of files and rows, and files, by following the paths of the metadata. */
async function listedFiles(lake: string, table: TableName): Promise<readonly unknown[]> {
  const { location, snapshots } = await readIceberg(lake, table);
  const root = location.slice(0, -`/current/iceberg/${table}`.length);
  const pathOf = (uri: string): string => join(lake, uri.slice(root.length));
  const [manifest] = await readAvro<ListedManifest>(pathOf(snapshots[0]?.["manifest-list"] ?? ""));
  const path = pathOf(manifest?.manifest_path ?? "");
  const entries = await readAvro<ManifestEntry>(path);
  const files: unknown[] = [];
  for (const { data_file } of entries) {
    const [partition = null] = Object.values(data_file.partition);
    const { size } = await stat(pathOf(data_file.file_path));
    const bytes = size === data_file.file_size_in_bytes ? size : `${size} bytes instead of those listed`;
    files.push([data_file.file_path.slice(root.length + 1), partition, data_file.record_count, bytes]);
  }
  const isWhole = manifest?.manifest_length === (await stat(path)).size && snapshots.length === 1;
  const version = isWhole ? snapshots[0]?.summary["carquet.version"] : "an invalid length of the manifest";
  return [version, manifest?.added_files_count, manifest?.added_rows_count, files];
}

/** Returns the sorted paths of all files of Iceberg metadata of a version, with their content. */
export async function readIcebergFiles(lake: string, version: string): Promise<ReadonlyMap<string, Buffer>> {
  const folder = `versions/${version}/iceberg`;
  const entries = await readdir(join(lake, folder), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = paths.sort().map(async (path) => [path.slice(lake.length + 1), await readFile(path)] as const);
  return new Map(await Promise.all(contents));
}
