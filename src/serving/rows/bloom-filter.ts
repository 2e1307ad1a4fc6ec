/** Bloom filter of the keys in a row file, so that a look-up skips almost every file without the key. */

const bitsPerKey = 10;
/** With seven hashes and ten bits per key, the false positive rate is 0.8 %. */
const hashCount = 7;

export class BloomFilter {
  /** Identifies the parameters and the hash function; part of the row file format. */
  static readonly format = `bloom ${bitsPerKey} ${hashCount} fnv1a`;

  private constructor(private readonly bytes: Uint8Array) {}

  /** Creates an empty filter sized for a number of keys. */
  static withCapacity(keys: number): BloomFilter {
    return new BloomFilter(new Uint8Array(Math.ceil((keys * bitsPerKey) / 8) + 1));
  }

  /** Reads a filter from its base64 text (see `toString`). */
  static read(text: string): BloomFilter {
    return new BloomFilter(Buffer.from(text, "base64"));
  }

  toString(): string {
    return Buffer.from(this.bytes).toString("base64");
  }

  add(key: string): void {
    for (const bit of this.bitsOf(key)) this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** Returns false only if the key was never added. */
  mightContain(key: string): boolean {
    return this.bitsOf(key).every((bit) => ((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  /** Returns the bit positions of a key, by double hashing. */
  private bitsOf(key: string): readonly number[] {
    const first = hashOf(key, 0x811c9dc5);
    const step = hashOf(key, 0x9747b28c) | 1;
    const bits = this.bytes.length * 8;
    return Array.from({ length: hashCount }, (_, n) => ((first + Math.imul(n, step)) >>> 0) % bits);
  }
}

/** Returns the 32-bit FNV-1a hash of a key from a seed, with a final bit mix. */
function hashOf(key: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
