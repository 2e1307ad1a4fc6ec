/**
 * Verifies the Iceberg metadata of a lake: that every file is there and unchanged, and that each snapshot has exactly the files of its version. A
 * metadata file must be what its snapshots say, since all else in it derives from them; manifests carry a hash of their content. Reads only.
 */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { currentVersion, type LakeFile, type Manifest } from "../manifest.ts";
import type { AvroContent } from "./avro-file.ts";
import {
  type FileChange,
  type ListedManifest,
  type ManifestRow,
  manifestContent,
  manifestListContent,
  manifestListMetadata,
  manifestMetadata,
  metadataLocation,
  type Status,
  snapshotIdOf,
  statusCodes,
} from "./manifests.ts";
import { versionReader } from "./stage.ts";
import {
  hintName,
  metadataFolder,
  metadataName,
  metadataPath,
  newestNumber,
  readTableHistory,
  snapshotRow,
  type TableHistory,
  tableMetadata,
  versionOf,
} from "./table-metadata.ts";
import { type IcebergTable, icebergTables } from "./table-schema.ts";

const repair = 'the next publish or "carquet iceberg" writes it again';

/**
 * Returns the faults of the metadata of the published version and those before it as messages; empty if there are none. A lake without the folder
 * `iceberg/` has no metadata. After a kill in a publish, metadata lags behind until the next writer completes it.
 */
export async function icebergMetadataFaults(lake: string, manifest: Manifest): Promise<readonly string[]> {
  if (!existsSync(join(lake, "iceberg"))) return [];
  // A version may have been published since the manifest was read.
  const published = (await currentVersion(lake)) ?? manifest.version;
  const read = versionReader(lake);
  const filesOf = (table: IcebergTable, version: string): Promise<readonly LakeFile[] | undefined> =>
    read(version).then(
      ({ tables }) => tables[table],
      () => undefined,
    );
  const faults: string[] = [];
  for (const table of icebergTables) {
    const check = new TableCheck(lake, table, (version) => filesOf(table, version));
    faults.push(...(await check.faults(published)));
  }
  return faults;
}

/** The live files of a manifest, and the changes that it records. */
interface CheckedManifest {
  readonly rows: readonly ManifestRow[];
  readonly bytes: number;
}

class TableCheck {
  private readonly found: string[] = [];
  /** Manifests by their path: snapshots share most of them. */
  private readonly manifests = new Map<string, CheckedManifest | undefined>();
  private readonly sizes = new Map<string, number | undefined>();
  /** URI of the lake's folder, as the metadata has it: a copy keeps that of its original. */
  private location = "";

  constructor(
    private readonly lake: string,
    private readonly table: IcebergTable,
    private readonly filesOf: (version: string) => Promise<readonly LakeFile[] | undefined>,
  ) {}

  async faults(published: string): Promise<readonly string[]> {
    const folder = metadataFolder(this.lake, this.table);
    const newest = await newestNumber(folder);
    const hint = await readFile(join(folder, hintName), "utf8").catch(() => "none");
    if (hint !== String(newest))
      this.add(this.pathOf(hintName), `number ${JSON.stringify(hint)}: expected that of the newest file, ${newest}`);
    // A missing file may be the newest.
    const number = Math.max(newest, /^\d{1,9}$/.test(hint) ? Number(hint) : 0);
    const path = this.pathOf(metadataName(number));
    const history = number === 0 ? undefined : await readTableHistory(join(this.lake, path));
    if (history === undefined) this.add(path, "missing, or no JSON: expected the metadata of the table");
    else
      await this.checkHistory(path, history, published).catch((thrown: unknown) =>
        this.add(path, `invalid content (${messageOf(thrown)}): expected the metadata of the table`),
      );
    return this.found;
  }

  private async checkHistory(path: string, history: TableHistory, published: string): Promise<void> {
    const { location, snapshots, log } = history;
    const newest = snapshots.at(-1);
    const version = newest === undefined ? "" : versionOf(newest);
    if (version !== published)
      return this.add(path, `newest snapshot ${version || "of no version"}: expected ${published}`);
    const suffix = `/iceberg/${this.table}`;
    this.location = location.endsWith(suffix) ? location.slice(0, -suffix.length) : location;
    const updatedMs = integerIn(newest, "timestamp-ms");
    const expected = tableMetadata(this.table, this.location, { snapshots, log, updatedMs });
    if ((await readFile(join(this.lake, path), "utf8")) !== expected)
      this.add(path, "invalid content: expected the metadata of its snapshots");
    for (const entry of log) await this.checkEarlierFile(path, entry);
    for (const snapshot of snapshots) await this.checkSnapshot(path, snapshot);
  }

  /** Checks an earlier metadata file, for readers that have opened it. */
  private async checkEarlierFile(listing: string, entry: Row): Promise<void> {
    const uri = textIn(entry, "metadata-file");
    const path = metadataPath(this.table, uri);
    if (!this.isOfTable(uri)) this.add(listing, `lists ${uri}: expected a file of the table`);
    const history = await readTableHistory(join(this.lake, path));
    if (history?.updatedMs !== entry["timestamp-ms"])
      this.add(path, "missing, or invalid content: expected an earlier metadata file");
  }

  private async checkSnapshot(path: string, snapshot: Row): Promise<void> {
    const version = versionOf(snapshot);
    const files = await this.filesOf(version);
    if (files === undefined)
      return this.add(path, `snapshot of ${version || "no version"}: expected a version of the lake`);
    const list = textIn(snapshot, "manifest-list");
    const listPath = metadataPath(this.table, list);
    const parentId = "parent-snapshot-id" in snapshot ? integerIn(snapshot, "parent-snapshot-id") : null;
    const manifests = await this.readAvro(listPath, manifestListMetadata(version, parentId), manifestListContent);
    if (manifests === undefined) return;
    const rows: ManifestRow[] = [];
    const changes: FileChange[] = [];
    for (const listed of manifests.rows) {
      const { rows: all, bytes } = (await this.manifestAt(listed)) ?? { rows: [], bytes: 0 };
      this.checkCounts(listPath, listed, { rows: all, bytes });
      rows.push(...all.filter(({ status }) => status !== statusCodes.deleted));
      changes.push(...changesIn(all, listed.added_snapshot_id === snapshotIdOf(version)));
    }
    await this.checkFiles(listPath, rows, files);
    const timestampMs = integerIn(snapshot, "timestamp-ms");
    const expected = snapshotRow({ version, parentId, timestampMs, list, entries: changes });
    if (!isSame(snapshot, expected) || !this.isOfTable(list))
      this.add(path, `snapshot of ${version}: expected ${JSON.stringify(expected)}`);
  }

  /** Reads a manifest once. */
  private async manifestAt({ manifest_path }: ListedManifest): Promise<CheckedManifest | undefined> {
    const path = metadataPath(this.table, manifest_path);
    if (!this.manifests.has(path)) {
      const read = (content: Buffer): AvroContent<ManifestRow> => manifestContent(this.table, content);
      const manifest = await this.readAvro(path, manifestMetadata(this.table), read);
      const bytes = (await this.sizeOf(path)) ?? 0;
      this.manifests.set(path, manifest && { rows: manifest.rows, bytes });
    }
    return this.manifests.get(path);
  }

  private checkCounts(listPath: string, listed: ListedManifest, { rows, bytes }: CheckedManifest): void {
    if (bytes === 0) return;
    const withStatus = (...statuses: readonly Status[]): readonly ManifestRow[] =>
      rows.filter(({ status }) => statuses.some((name) => statusCodes[name] === status));
    const recordsIn = (some: readonly ManifestRow[]): number =>
      some.reduce((sum, { data_file }) => sum + data_file.record_count, 0);
    const counts = [
      [listed.manifest_length, bytes],
      [listed.existing_files_count, withStatus("existing").length],
      [listed.added_files_count, withStatus("added").length],
      [listed.deleted_files_count, withStatus("deleted").length],
      [listed.existing_rows_count + listed.added_rows_count, recordsIn(withStatus("existing", "added"))],
      [listed.deleted_rows_count, recordsIn(withStatus("deleted"))],
    ];
    if (counts.some(([given, counted]) => given !== counted))
      this.add(listPath, `invalid counts of ${listed.manifest_path}: expected those of its rows`);
  }

  /** Compares the files of a snapshot with those of its version, and with the disk. */
  private async checkFiles(listPath: string, rows: readonly ManifestRow[], files: readonly LakeFile[]): Promise<void> {
    const expected = new Set(
      files.map(({ path, partition, rows: records, bytes }) => fileText(path, partition, records, bytes)),
    );
    for (const { data_file } of rows) {
      const { file_path, partition, record_count, file_size_in_bytes: bytes } = data_file;
      const path = file_path.slice(this.location.length + 1);
      const [key = null] = Object.values(partition);
      if (!expected.delete(fileText(path, key, record_count, bytes)))
        this.add(listPath, `lists ${file_path}: expected only files of the version, as its manifest lists them`);
      else if ((await this.sizeOf(path)) !== bytes) this.add(path, `missing or changed: expected ${bytes} bytes`);
    }
    for (const file of expected) this.add(listPath, `lacks ${file}: expected every file of the version`);
  }

  /** Reads an Avro file with given metadata; undefined, with a fault, if it is missing or damaged. */
  private async readAvro<Content>(
    path: string,
    metadata: Readonly<Record<string, string>>,
    decode: (file: Buffer) => AvroContent<Content>,
  ): Promise<AvroContent<Content> | undefined> {
    try {
      const content = decode(await readFile(join(this.lake, path)));
      if (isSame(content.metadata, metadata)) return content;
      this.add(path, "invalid metadata: expected that of its table and snapshot");
    } catch (thrown) {
      this.add(path, `cannot be read (${messageOf(thrown)}): expected an Avro file as it was written`);
    }
    return undefined;
  }

  private async sizeOf(path: string): Promise<number | undefined> {
    if (!this.sizes.has(path)) {
      const size = await stat(join(this.lake, path)).then(
        (found) => found.size,
        () => undefined,
      );
      this.sizes.set(path, size);
    }
    return this.sizes.get(path);
  }

  private isOfTable(uri: string): boolean {
    return uri.startsWith(`${metadataLocation(this.location, this.table)}/`);
  }

  private pathOf(name: string): string {
    return metadataPath(this.table, name);
  }

  private add(path: string, fault: string): void {
    const message = path.startsWith("iceberg/") ? `${path}: ${fault}; ${repair}.` : `${path}: ${fault}.`;
    if (!this.found.includes(message)) this.found.push(message);
  }
}

/** Returns what a manifest's rows mean for a snapshot: rows of an earlier snapshot's manifest are existing files. */
const changesIn = (rows: readonly ManifestRow[], isOfSnapshot: boolean): readonly FileChange[] =>
  rows
    .filter(({ status }) => isOfSnapshot || status !== statusCodes.deleted)
    .map(({ status, data_file }) => ({
      file: { rows: data_file.record_count, bytes: data_file.file_size_in_bytes },
      status: (isOfSnapshot && statusNames.get(status)) || "existing",
    }));

const statusNames = new Map<number, Status>([
  [statusCodes.added, "added"],
  [statusCodes.deleted, "deleted"],
]);

const fileText = (path: string, partition: string | null, rows: number, bytes: number): string =>
  `${path} (partition ${partition}, ${rows} rows, ${bytes} bytes)`;

const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);
