/** Copies the record of the queue's last run, which no version lists: best effort, because a lake is whole without it. */
import {
  type IngestRecord,
  ingestRecordKey,
  ingestRecordText,
  parseIngestRecord,
  readIngestRecord,
  writeIngestRecord,
} from "../lake/ingest-record.ts";
import type { S3Store } from "./s3.ts";
import type { LakeSource } from "./source.ts";
import { readText, type TransferOptions } from "./transfer.ts";

/** The size of a record. */
const recordBytesMax = 65_536;

/** Copies the record of a source to a lake if it is newer. Never throws. */
export async function followIngestRecord(source: LakeSource, lake: string, options: TransferOptions): Promise<void> {
  try {
    const read = await readText(source, ingestRecordKey, recordBytesMax, options);
    const record = read && parseIngestRecord(read.text);
    if (record !== undefined && isNewer(record, await readIngestRecord(lake))) await writeIngestRecord(lake, record);
  } catch {
    // The next check reads it again.
  }
}

/** Uploads the record of a lake, if it has one. Never throws. */
export async function pushIngestRecord(lake: string, store: S3Store): Promise<void> {
  try {
    const record = await readIngestRecord(lake);
    if (record !== undefined) await store.writeText(ingestRecordKey, ingestRecordText(record));
  } catch {
    // The next push uploads it again.
  }
}

const isNewer = ({ at }: IngestRecord, local: IngestRecord | undefined): boolean =>
  local === undefined || Date.parse(at) > Date.parse(local.at);
