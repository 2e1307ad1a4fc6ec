/** The metadata files of an Iceberg table: `v<number>.metadata.json`; `version-hint.text` names the newest. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { v5 as uuidV5 } from "uuid";
import { isNotFound } from "../../base/files.ts";
import { integerIn, isRow, type Json, type Row, textIn } from "../../base/json.ts";
import {
  type FileChange,
  type ListedManifest,
  manifestListContent,
  metadataLocation,
  partitionFields,
  snapshotIdOf,
  summaryOf,
  tableLocation,
} from "./manifests.ts";
import { fieldsOf, greatestId, type IcebergTable, nameMapping, partitionFieldId } from "./table-schema.ts";

/** Earlier metadata files that a table keeps, for readers that have just opened one. */
const earlierFilesMax = 10;

/** The history of a table, from its newest metadata file. */
export interface TableHistory {
  /** URI of the table's folder. */
  readonly location: string;
  /** Snapshots as in the file, oldest first. */
  readonly snapshots: readonly Row[];
  readonly updatedMs: number;
  /** Earlier metadata files, oldest first. */
  readonly log: readonly Row[];
}

const uuidNamespace = "6f0bd0a5-6c3f-4f0c-9a37-0d2f5c2d8f11";

export const hintName = "version-hint.text";

export const metadataName = (number: number): string => `v${number}.metadata.json`;

export const metadataFolder = (lake: string, table: IcebergTable): string => join(lake, "iceberg", table, "metadata");

/** Returns the names of the files in a folder; empty if it does not exist. */
export async function fileNamesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    throw thrown;
  }
}

/** Returns the number of the newest metadata file in a folder; 0 if there is none. */
export async function newestNumber(folder: string): Promise<number> {
  const numbers = (await fileNamesIn(folder)).map((name) => Number(/^v(\d+)\.metadata\.json$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

/** Returns the version of a snapshot; empty if Carquet has not written it. */
export function versionOf({ summary }: Row): string {
  const version = isRow(summary) ? summary["carquet.version"] : undefined;
  return typeof version === "string" ? version : "";
}

/** Reads a metadata file; undefined if it is missing or not one. */
export async function readTableHistory(path: string): Promise<TableHistory | undefined> {
  try {
    const content: Json = JSON.parse(await readFile(path, "utf8"));
    if (!isRow(content)) return undefined;
    const rowsIn = (name: string): readonly Row[] => {
      const rows = content[name];
      return Array.isArray(rows) ? rows.filter((row: Json) => isRow(row)) : [];
    };
    const [location, updatedMs] = [textIn(content, "location"), integerIn(content, "last-updated-ms")];
    return { location, updatedMs, snapshots: rowsIn("snapshots"), log: rowsIn("metadata-log") };
  } catch (thrown) {
    if (isNotFound(thrown) || thrown instanceof SyntaxError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

export function nextLog(history: TableHistory | undefined, number: number): readonly Row[] {
  if (history === undefined) return [];
  const file = `${history.location}/metadata/${metadataName(number)}`;
  return [...history.log, { "timestamp-ms": history.updatedMs, "metadata-file": file }].slice(-earlierFilesMax);
}

/** Returns the content of a metadata file. `location` is the URI of the lake's folder; `snapshots` are not empty. */
export function tableMetadata(
  table: IcebergTable,
  location: string,
  { snapshots, log, updatedMs }: Omit<TableHistory, "location">,
): string {
  const fields = fieldsOf(table);
  const current = snapshots.at(-1);
  const reference = (row: Row | undefined, type: string) => ({ "snapshot-id": integerIn(row, "snapshot-id"), type });
  const metadata = {
    "format-version": 2,
    "table-uuid": uuidV5(tableLocation(location, table), uuidNamespace),
    location: tableLocation(location, table),
    "last-sequence-number": integerIn(current, "sequence-number"),
    "last-updated-ms": updatedMs,
    "last-column-id": greatestId(fields),
    "current-schema-id": 0,
    schemas: [{ type: "struct", "schema-id": 0, fields }],
    "default-spec-id": 0,
    "partition-specs": [{ "spec-id": 0, fields: partitionFields(table) }],
    "last-partition-id": partitionFields(table).length === 0 ? partitionFieldId - 1 : partitionFieldId,
    "default-sort-order-id": 0,
    "sort-orders": [{ "order-id": 0, fields: [] }],
    properties: { "schema.name-mapping.default": JSON.stringify(nameMapping(fields)) },
    "current-snapshot-id": integerIn(current, "snapshot-id"),
    refs: {
      main: reference(current, "branch"),
      ...Object.fromEntries(snapshots.map((snapshot) => [versionOf(snapshot), reference(snapshot, "tag")] as const)),
    },
    snapshots,
    "snapshot-log": snapshots.map((snapshot) => ({
      "timestamp-ms": integerIn(snapshot, "timestamp-ms"),
      "snapshot-id": integerIn(snapshot, "snapshot-id"),
    })),
    "metadata-log": log,
  };
  return `${JSON.stringify(metadata, null, 1)}\n`;
}

/** What a snapshot of a version consists of. */
export interface SnapshotParts {
  readonly version: string;
  readonly parentId: number | null;
  readonly timestampMs: number;
  /** URI of the manifest list. */
  readonly list: string;
  readonly entries: readonly FileChange[];
}

/** Returns a snapshot as metadata files have it. */
export function snapshotRow({ version, parentId, timestampMs, list, entries }: SnapshotParts): Row {
  const id = snapshotIdOf(version);
  return {
    "snapshot-id": id,
    ...(parentId === null ? {} : { "parent-snapshot-id": parentId }),
    "sequence-number": id,
    "timestamp-ms": timestampMs,
    "manifest-list": list,
    summary: summaryOf(version, entries),
    "schema-id": 0,
  };
}

/** Returns the path within the lake of a file of metadata, from its URI. */
export const metadataPath = (table: IcebergTable, uri: string): string =>
  `${metadataLocation("", table).slice(1)}/${uri.slice(uri.lastIndexOf("/") + 1)}`;

/** Reads the manifests of a snapshot; undefined if its manifest list is missing or damaged. */
export async function readManifestList(
  lake: string,
  table: IcebergTable,
  snapshot: Row,
): Promise<readonly ListedManifest[] | undefined> {
  try {
    return manifestListContent(await readFile(join(lake, metadataPath(table, textIn(snapshot, "manifest-list"))))).rows;
  } catch {
    return undefined;
  }
}
