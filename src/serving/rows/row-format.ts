/**
 * Storage format of one row in a row file: id and VIN in plain form, the other columns as JSON lines, LZ4-compressed with the file's
 * dictionary, and a CRC-32 over all of it and the row's position.
 *
 * LZ4 with a dictionary takes a third of the bytes. Decompressing 50 rows takes 0.1 ms; 50 calls of inflate take 1 ms.
 */
import { crc32 } from "node:zlib";
import lz4 from "lz4-napi";
import { DamagedFile } from "../../base/user-error.ts";
import type { JsonRow } from "../../lake/json-row.ts";
import { listingRow } from "../../lake/served-columns.ts";

/** The compressed columns: all but id and VIN, which are the first two of `listingRow`. */
export const packedColumns = listingRow.columns.slice(2);

export interface StoredRow {
  readonly position: number;
  /** 16 bytes. */
  readonly id: Buffer;
  readonly vin: string;
  readonly packed: Buffer;
  readonly checksum: number;
}

/** Maximum size of a dictionary. */
const dictionaryBytes = 16_384;

/** Returns a dictionary of sample rows. Matches near its end compress best. */
export const dictionaryOf = (samples: readonly string[]): Buffer =>
  Buffer.from(samples.join("\n")).subarray(-dictionaryBytes);

/** A row before it is packed. */
export interface TextRow {
  readonly position: number;
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly vin: string;
  /** JSON lines of `packedColumns`, then the first day on which the row holds and the day after the last; empty if there is none. */
  readonly text: string;
}

/** A row and the days on which it holds: from `validFrom` until the day before `validTo`, or still if that is empty. */
export interface UnpackedRow {
  readonly id: string;
  readonly row: JsonRow;
  readonly validFrom: string;
  readonly validTo: string;
}

export function packRow({ position, id, vin, text }: TextRow, dictionary: Buffer): StoredRow {
  const stored = { position, id: Buffer.from(id, "hex"), vin, packed: lz4.compressSync(Buffer.from(text), dictionary) };
  return { ...stored, checksum: checksumOf(stored) };
}

/** Unpacks a row. Throws a DamagedFile if the checksum does not match. */
export function unpackRow(stored: StoredRow, dictionary: Buffer): UnpackedRow {
  const checksum = checksumOf(stored);
  if (checksum !== stored.checksum)
    throw new DamagedFile(`Invalid checksum ${checksum} of the row of VIN ${stored.vin}: expected ${stored.checksum}.`);
  const lines = lz4.uncompressSync(stored.packed, dictionary).toString("utf8").split("\n");
  const [validFrom = "", validTo = ""] = lines.splice(-2);
  const id = stored.id.toString("hex");
  return {
    id,
    row: listingRow.checked([`"${id}"`, `"${stored.vin}"`, ...lines]),
    validFrom,
    validTo,
  };
}

/** The position is the initial value of the CRC, so that a row which is found in another position has another checksum. */
const checksumOf = ({ position, id, vin, packed }: Omit<StoredRow, "checksum">): number =>
  crc32(packed, crc32(vin, crc32(id, position)));
