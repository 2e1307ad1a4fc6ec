/**
 * Arrays that requests use one after another. New ones of megabytes in each request would make V8 collect all garbage once a second, which stops the event
 * loop for 15 to 40 ms.
 */

/** The memory that waits for the next request. */
const idleBytesMax = 2 ** 26;
/** Sizes are powers of two, from this on. */
const bytesMin = 2 ** 12;

/** What is idle, by size. */
const idle = new Map<number, ArrayBuffer[]>();
let idleBytes = 0;

export class BorrowedArrays {
  private readonly buffers: ArrayBuffer[] = [];

  /** Returns an array with any content. */
  take(length: number): Int32Array {
    const bytes = 2 ** Math.ceil(Math.log2(Math.max(bytesMin, length * Int32Array.BYTES_PER_ELEMENT)));
    const known = idle.get(bytes)?.pop();
    if (known !== undefined) idleBytes -= bytes;
    const buffer = known ?? new ArrayBuffer(bytes);
    this.buffers.push(buffer);
    return new Int32Array(buffer, 0, length);
  }

  zeros(length: number): Int32Array {
    return this.take(length).fill(0);
  }

  /** Returns all arrays for the next request. Not after a failure: what else is waited for may still write into them. */
  release(): void {
    for (const buffer of this.buffers.splice(0)) {
      if (idleBytes + buffer.byteLength > idleBytesMax) continue;
      idleBytes += buffer.byteLength;
      const ofSize = idle.get(buffer.byteLength);
      if (ofSize === undefined) idle.set(buffer.byteLength, [buffer]);
      else ofSize.push(buffer);
    }
  }
}
