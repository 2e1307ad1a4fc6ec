/** Chance from a seed: the same seed draws the same. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to but not including 1; mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Whether something of a probability happens. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new RangeError("There is nothing to pick from.");
    return item;
  }

  /** One to so many of a list, possibly the same more than once. */
  some<Item>(items: readonly Item[], most: number): readonly Item[] {
    return Array.from({ length: this.integer(1, most) }, () => this.pick(items));
  }
}
