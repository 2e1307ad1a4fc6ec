/** Seeded random numbers: the same seed returns the same sequence (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number, both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Returns true with a probability. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns one item of a list. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new RangeError("Expected a list with at least one item.");
    return item;
  }

  /** Returns 1 to `most` items of a list, possibly repeated. */
  some<Item>(items: readonly Item[], max: number): readonly Item[] {
    return Array.from({ length: this.integer(1, max) }, () => this.pick(items));
  }
}
