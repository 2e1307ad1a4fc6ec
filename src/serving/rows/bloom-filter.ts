/** A Bloom filter of the keys in a file: a look-up reads the one file that has its key, and one in a hundred of the others. */

const bitsPerKey = 10;
/** Seven of ten bits a key: 0.8 % false positives. */
const bitsSet = 7;

export class BloomFilter {
  /** Names how keys are hashed, so that a filter of another kind is not read. */
  static readonly format = `bloom ${bitsPerKey} ${bitsSet} fnv1a`;

  private constructor(private readonly bytes: Uint8Array) {}

  /** An empty filter, sized for a number of keys. */
  static of(keys: number): BloomFilter {
    return new BloomFilter(new Uint8Array(Math.ceil((keys * bitsPerKey) / 8) + 1));
  }

  /** Reads a filter from its text. */
  static read(text: string): BloomFilter {
    return new BloomFilter(Buffer.from(text, "base64"));
  }

  toString(): string {
    return Buffer.from(this.bytes).toString("base64");
  }

  add(key: string): void {
    for (const bit of this.bitsOf(key)) this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** Returns false if a key was certainly not added. */
  mayHold(key: string): boolean {
    return this.bitsOf(key).every((bit) => ((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }

  /** The bits of a key, an even step apart. */
  private bitsOf(key: string): readonly number[] {
    const [first, step] = [hashOf(key, 0x811c9dc5), hashOf(key, 0x9747b28c) | 1];
    const bits = this.bytes.length * 8;
    return Array.from({ length: bitsSet }, (_, nth) => ((first + Math.imul(nth, step)) >>> 0) % bits);
  }
}

/** FNV-1a from a seed, with its bits mixed once more at the end. */
function hashOf(key: string, seed: number): number {
  let hash = seed;
  for (let place = 0; place < key.length; place += 1) hash = Math.imul(hash ^ key.charCodeAt(place), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
