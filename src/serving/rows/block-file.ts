/**
 * Block file: an immutable file of numbered blocks for point reads, each found by one read of the file.
 *
 * A block has a checksum that covers its number too, and every number has a block: nothing follows from what is absent. Blocks lie in groups in the order
 * of their numbers. A table at the end has the start of each group, in units of 16 bytes; an open file keeps it in memory, a byte for each block.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { DamagedFile } from "../../base/user-error.ts";

const groupBlocks = 4;
const unitBytes = 16;
/** The length and the checksum of a block come before its content. */
const headerBytes = 8;
/** The number of blocks and the checksum of the table come after it. */
const footerBytes = 8;
const unwrittenBytesMax = 2 ** 20;

/** What the bytes of a block file depend on besides its content. */
export const blockFileFormat = `groups of ${groupBlocks} at ${unitBytes} crc32`;

/** Writes a block file at a path that does not exist yet, without syncs. It is incomplete, and does not open, until `end`. */
export class BlockWriter {
  private readonly descriptor: number;
  private readonly unwritten: Uint8Array[] = [];
  private unwrittenBytes = 0;
  private position = 0;
  private count = 0;
  private readonly starts: number[] = [];

  constructor(path: string) {
    this.descriptor = openSync(path, "wx");
  }

  /** Adds the block with the next number. The content must not change until `end`. */
  add(content: Uint8Array): void {
    if (this.count % groupBlocks === 0) this.beginGroup();
    this.write(wordsOf([content.length, crc32(content, this.count)]));
    this.write(content);
    this.count += 1;
  }

  end(): void {
    this.beginGroup();
    const table = wordsOf(this.starts);
    this.write(table);
    this.write(wordsOf([this.count, crc32(table)]));
    this.flush();
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private beginGroup(): void {
    if (this.unwrittenBytes > unwrittenBytesMax) this.flush();
    const units = Math.ceil(this.position / unitBytes);
    this.write(new Uint8Array(units * unitBytes - this.position));
    this.starts.push(units);
  }

  private write(bytes: Uint8Array): void {
    this.unwritten.push(bytes);
    this.unwrittenBytes += bytes.length;
    this.position += bytes.length;
  }

  private flush(): void {
    const bytes = Buffer.concat(this.unwritten.splice(0));
    for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at);
    this.unwrittenBytes = 0;
  }
}

/** Returns the bytes of integers of 32 bits. */
function wordsOf(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word, 4 * index);
  return bytes;
}

/** What was read last, of any file. */
let scratch = Buffer.alloc(2 ** 16);

/** The descriptor of a closed file, which reads reject: its number may be that of another file by then. */
const closed = -1;

export class BlockFile {
  private descriptor: number;
  private readonly starts: Buffer;

  /** Opens a block file. Throws a DamagedFile if it is incomplete, if its table is damaged, or if it has another number of blocks. */
  constructor(
    private readonly path: string,
    count: number,
  ) {
    this.descriptor = openSync(path, "r");
    try {
      const groups = Math.ceil(count / groupBlocks);
      const tableBytes = 4 * (groups + 1);
      const start = fstatSync(this.descriptor).size - tableBytes - footerBytes;
      const end = Buffer.from(this.read(Math.max(0, start), tableBytes + footerBytes));
      this.starts = end.subarray(0, tableBytes);
      const isIntact =
        end.length === tableBytes + footerBytes &&
        end.readUInt32LE(tableBytes) === count &&
        end.readUInt32LE(tableBytes + 4) === crc32(this.starts) &&
        this.startOf(groups) === start;
      if (!isIntact)
        throw new DamagedFile(`Invalid block file ${path}: expected ${count} blocks and an intact table of them.`);
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  /**
   * Returns the content of a block, which is valid until the next read of any block file. Throws a DamagedFile if the block does not match its checksum.
   */
  blockAt(number: number): Buffer {
    const group = Math.floor(number / groupBlocks);
    const start = this.startOf(group);
    const bytes = this.read(start, this.startOf(group + 1) - start);
    let at = 0;
    let skipped = number % groupBlocks;
    while (skipped > 0 && at + headerBytes <= bytes.length) {
      at += headerBytes + bytes.readUInt32LE(at);
      skipped -= 1;
    }
    if (at + headerBytes <= bytes.length) {
      const from = at + headerBytes;
      const content = bytes.subarray(from, from + bytes.readUInt32LE(at));
      if (crc32(content, number) === bytes.readUInt32LE(at + 4)) return content;
    }
    throw new DamagedFile(`Invalid block ${number} of ${this.path}: expected one that matches its checksum.`);
  }

  /** Closes the file; does nothing if it is closed. */
  close(): void {
    if (this.descriptor !== closed) closeSync(this.descriptor);
    this.descriptor = closed;
  }

  private startOf(group: number): number {
    return unitBytes * this.starts.readUInt32LE(4 * group);
  }

  /** Returns bytes of the file, fewer at its end. */
  private read(position: number, length: number): Buffer {
    if (length > scratch.length) scratch = Buffer.alloc(2 * length);
    let count = 0;
    while (count < length) {
      const read = readSync(this.descriptor, scratch, count, length - count, position + count);
      if (read === 0) break;
      count += read;
    }
    return scratch.subarray(0, count);
  }
}
