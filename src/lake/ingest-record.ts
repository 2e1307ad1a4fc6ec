/** The record of the last ingest, from which the service informs operators: a file in the lake's folder that no version contains. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFolder, isNotFound, replaceFile } from "../base/files.ts";
import { isObject } from "../base/json.ts";

export interface IngestRecord {
  /** When the ingest ended, as an ISO 8601 time. */
  readonly at: string;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
  /** How many deliveries of the queue still wait. */
  readonly waiting: number;
  /** How many lie in the queue that were refused. */
  readonly refused: number;
}

export const ingestRecordKey = "last-ingest.json";

export const ingestRecordText = (record: IngestRecord): string => `${JSON.stringify(record)}\n`;

/** Replaces the record of a lake, which need not exist yet. */
export async function writeIngestRecord(lake: string, record: IngestRecord): Promise<void> {
  await createFolder(lake);
  await replaceFile(join(lake, ingestRecordKey), ingestRecordText(record));
}

/** Returns the record of a lake; undefined if it is missing or malformed. */
export async function readIngestRecord(lake: string): Promise<IngestRecord | undefined> {
  try {
    return parseIngestRecord(await readFile(join(lake, ingestRecordKey), "utf8"));
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

/** Parses a record; undefined if the text is malformed. */
export function parseIngestRecord(text: string): IngestRecord | undefined {
  try {
    const content: unknown = JSON.parse(text);
    if (!isObject(content)) return undefined;
    const { at, error, waiting, refused } = content;
    if (typeof at !== "string" || typeof waiting !== "number" || typeof refused !== "number") return undefined;
    return { at, waiting, refused, error: typeof error === "string" ? error : null };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
