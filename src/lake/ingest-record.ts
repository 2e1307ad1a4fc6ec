/**
 * Files in the lake's folder that are not part of a version: the record of the last ingest, from which the service informs operators, and the feeds that an
 * operator has released, which ingest reads.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createFolder, isNotFound, replaceFile } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";

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

/** A collapsed feed that is to be accepted. */
export interface ReleasedFeed {
  readonly dealer_id: string;
  readonly day: string;
  /** The number of its VINs. */
  readonly vins: number;
}

const pathIn = (lake: string): string => join(lake, "released-feeds.json");

/** Returns the released feeds of a lake. Throws a UserError if the file is malformed. */
export async function readReleasedFeeds(lake: string): Promise<readonly ReleasedFeed[]> {
  try {
    const content: unknown = JSON.parse(await readFile(pathIn(lake), "utf8"));
    if (Array.isArray(content) && content.every(isReleasedFeed)) return content;
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  throw new UserError(
    `${pathIn(lake)}: malformed: expected an array of released feeds as "carquet release" writes it.`,
  );
}

/** Adds a feed to the released ones, once. */
export async function releaseFeed(lake: string, feed: ReleasedFeed): Promise<void> {
  const others = (await readReleasedFeeds(lake)).filter(
    ({ dealer_id, day }) => dealer_id !== feed.dealer_id || day !== feed.day,
  );
  const feeds = [...others, feed].map((one) => JSON.stringify(one));
  await replaceFile(pathIn(lake), `[\n${feeds.join(",\n")}\n]\n`);
}

const isReleasedFeed = (value: unknown): value is ReleasedFeed =>
  isObject(value) &&
  typeof value.dealer_id === "string" &&
  typeof value.day === "string" &&
  Number.isInteger(value.vins);
