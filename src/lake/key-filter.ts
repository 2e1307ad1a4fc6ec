/**
 * Which keys a file may hold, in a few bits for each: a Bloom filter. A look-up then reads the one file that has its key, and one in a
 * hundred of the others.
 */

const bitsPerKey = 10;
/** With so many bits set for each key, and ten there, 0.8 % of the keys that are not there seem to be. */
const bitsSet = 7;

export class KeyFilter {
  private constructor(private readonly bytes: Uint8Array) {}

  /** An empty filter for so many keys. */
  static of(keys: number): KeyFilter {
    return new KeyFilter(new Uint8Array(Math.ceil((keys * bitsPerKey) / 8) + 1));
  }

  /** A filter that was written as a text. */
  static read(text: string): KeyFilter {
    return new KeyFilter(Buffer.from(text, "base64"));
  }

  toString(): string {
    return Buffer.from(this.bytes).toString("base64");
  }

  add(key: string): void {
    for (const bit of this.bitsOf(key)) this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** Whether a key may have been added; when not, it was not. */
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
