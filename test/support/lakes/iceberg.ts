/** Reads Iceberg metadata as other engines do, from `version-hint.text` on, and compares it with the lake's manifests. */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import avro from "avsc";
import { icebergTables } from "../../../src/lake/iceberg/table-schema.ts";
import { currentManifest, type LakeFile, type Manifest, readManifest, versionsIn } from "../../../src/lake/manifest.ts";
import type { TableName } from "../../../src/lake/tables.ts";

export interface IcebergSnapshot {
  readonly "snapshot-id": number;
  readonly "parent-snapshot-id"?: number;
  readonly "sequence-number": number;
  readonly "timestamp-ms": number;
  readonly "manifest-list": string;
  readonly summary: Readonly<Record<string, string>>;
}

export interface IcebergMetadata {
  readonly location: string;
  readonly "current-snapshot-id": number;
  readonly "last-sequence-number": number;
  readonly "last-updated-ms": number;
  readonly snapshots: readonly IcebergSnapshot[];
  readonly "snapshot-log": readonly { readonly "snapshot-id": number; readonly "timestamp-ms": number }[];
  readonly "metadata-log": readonly { readonly "metadata-file": string }[];
}

interface ListedManifest {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly sequence_number: number;
  readonly min_sequence_number: number;
  readonly added_files_count: number;
  readonly existing_files_count: number;
  readonly deleted_files_count: number;
  readonly added_rows_count: number;
  readonly existing_rows_count: number;
}

interface ManifestEntry {
  readonly status: number;
  readonly sequence_number: number;
  readonly data_file: {
    readonly file_path: string;
    readonly partition: Readonly<Record<string, string | number>>;
    readonly record_count: number;
    readonly file_size_in_bytes: number;
    readonly lower_bounds: readonly { readonly key: number; readonly value: Buffer }[] | null;
  };
}

/** Reads all rows of an Avro file by the schema in its header. */
async function readAvro<Row>(path: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of avro.createFileDecoder(path)) rows.push(row);
  return rows;
}

/** Reads the metadata that `version-hint.text` names; undefined if the table has none. */
export async function readIceberg(lake: string, table: string): Promise<IcebergMetadata | undefined> {
  const folder = join(lake, "iceberg", table, "metadata");
  if (!existsSync(folder)) return undefined;
  const hint = await readFile(join(folder, "version-hint.text"), "utf8");
  return JSON.parse(await readFile(join(folder, `v${hint}.metadata.json`), "utf8"));
}

/** Returns the versions of a table's snapshots, oldest first. */
export async function icebergVersions(lake: string, table: string): Promise<readonly string[]> {
  const metadata = await readIceberg(lake, table);
  return metadata?.snapshots.map(({ summary }) => summary["carquet.version"] ?? "") ?? [];
}

/** Returns the versions from the published one back, oldest first. */
async function versionChain(lake: string): Promise<readonly Manifest[]> {
  const existing = await versionsIn(lake);
  const chain: Manifest[] = [];
  for (let at = await currentManifest(lake); at !== undefined; ) {
    chain.unshift(at);
    const previous: string | null = at.previous;
    at = previous !== null && existing.includes(previous) ? await readManifest(lake, previous) : undefined;
  }
  return chain;
}

/** Returns the faults of the metadata of all tables, compared with the lake's manifests; empty if there are none. */
export async function icebergFaults(lake: string): Promise<readonly string[]> {
  const chain = await versionChain(lake);
  const faults = await Promise.all(icebergTables.map((table) => tableFaults(lake, table, chain)));
  return faults.flat();
}

async function tableFaults(lake: string, table: TableName, chain: readonly Manifest[]): Promise<readonly string[]> {
  const metadata = await readIceberg(lake, table);
  if (metadata === undefined) return [`${table}: no metadata`];
  const { snapshots } = metadata;
  const versions = snapshots.map(({ summary }) => summary["carquet.version"]);
  const times = snapshots.map((snapshot) => snapshot["timestamp-ms"]);
  const faults = [
    ...difference(
      `${table}: versions`,
      versions,
      chain.map(({ version }) => version),
    ),
    ...difference(
      `${table}: times`,
      times,
      [...new Set(times)].sort((a, b) => a - b),
    ),
    ...difference(`${table}: current`, metadata["current-snapshot-id"], snapshots.at(-1)?.["snapshot-id"]),
    ...difference(`${table}: sequence`, metadata["last-sequence-number"], snapshots.at(-1)?.["sequence-number"]),
    ...difference(
      `${table}: log`,
      metadata["snapshot-log"].map((entry) => entry["timestamp-ms"]),
      times,
    ),
  ];
  for (const { "metadata-file": file } of metadata["metadata-log"])
    if (!existsSync(join(lake, "iceberg", table, "metadata", basename(file))))
      faults.push(`${table}: ${file} is missing`);
  for (const [index, snapshot] of snapshots.entries()) {
    const expected = chain[index]?.tables[table] ?? [];
    faults.push(...(await snapshotFaults(lake, metadata.location, snapshot, expected)));
    const parent = snapshots[index - 1]?.["snapshot-id"];
    if (parent !== undefined) faults.push(...difference(`${table}: parent`, snapshot["parent-snapshot-id"], parent));
  }
  return faults;
}

async function snapshotFaults(
  lake: string,
  location: string,
  snapshot: IcebergSnapshot,
  expected: readonly LakeFile[],
): Promise<readonly string[]> {
  const name = `${basename(location)} ${snapshot.summary["carquet.version"]}`;
  const root = location.slice(0, -`/iceberg/${basename(location)}`.length);
  const pathOf = (uri: string): string => join(lake, uri.slice(root.length));
  const faults: string[] = [];
  const live: ManifestEntry[] = [];
  for (const listed of await readAvro<ListedManifest>(pathOf(snapshot["manifest-list"]))) {
    const path = pathOf(listed.manifest_path);
    const entries = await readAvro<ManifestEntry>(path);
    const counted = [0, 1, 2].map((status) => entries.filter((entry) => entry.status === status).length);
    const { existing_files_count, added_files_count, deleted_files_count } = listed;
    faults.push(
      ...difference(`${name}: counts`, [existing_files_count, added_files_count, deleted_files_count], counted),
      ...difference(`${name}: length`, listed.manifest_length, (await stat(path)).size),
    );
    const remaining = entries.filter(({ status }) => status !== 2);
    const rows = remaining.reduce((sum, { data_file }) => sum + data_file.record_count, 0);
    faults.push(...difference(`${name}: rows`, listed.added_rows_count + listed.existing_rows_count, rows));
    if (remaining.some((entry) => entry.sequence_number < listed.min_sequence_number))
      faults.push(`${name}: a sequence number below the least of its manifest`);
    if (remaining.some((entry) => entry.sequence_number > snapshot["sequence-number"]))
      faults.push(`${name}: a sequence number after its snapshot's`);
    live.push(...remaining);
  }
  for (const { data_file } of live) {
    const bytes = await sizeOf(pathOf(data_file.file_path));
    faults.push(...difference(`${name}: size of ${data_file.file_path}`, bytes, data_file.file_size_in_bytes));
  }
  const found = live.map(({ data_file }) => [
    data_file.file_path.slice(root.length + 1),
    partitionText(data_file.partition),
    data_file.record_count,
    data_file.file_size_in_bytes,
  ]);
  const listed = expected.map(({ path, partition, rows, bytes }) => [path, partition, rows, bytes]);
  return [...faults, ...difference(`${name}: files`, found.sort(), listed.sort())];
}

/** Returns the size of a file; undefined if it does not exist. */
const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  );

/** Returns a partition as the lake's manifest has it: days are counted from 1970. */
function partitionText(partition: Readonly<Record<string, string | number>>): string | null {
  const [value] = Object.values(partition);
  if (value === undefined) return null;
  return typeof value === "number" ? new Date(value * 86_400_000).toISOString().slice(0, 10) : value;
}

function difference(what: string, found: unknown, expected: unknown): readonly string[] {
  const foundText = JSON.stringify(found);
  const expectedText = JSON.stringify(expected);
  return foundText === expectedText ? [] : [`${what}: ${foundText}: expected ${expectedText}`];
}

/** Returns the sorted paths of all files of Iceberg metadata. */
export async function listIcebergFiles(lake: string): Promise<readonly string[]> {
  const paths = await readdir(lake, { recursive: true });
  return paths.filter((path) => isIcebergFile(path)).sort();
}

/** Returns whether a path within a lake is that of a file of Iceberg metadata, which says where the lake is and when it was written. */
export const isIcebergFile = (path: string): boolean => /^iceberg\/\w+\/metadata\/./.test(path);
