/**
 * Kept versions that requests have named, open for a short time: at most `openMax` of them, because each holds its dimensions and dictionaries in memory.
 * Files that another version has too are hashed once. A version is closed when it has not been used for `idleMs`.
 */
import { refuse } from "../contract/errors.ts";
import type { LakeVersion } from "./lake-version.ts";

const openMax = 2;
const idleMs = 60_000;

/** A version and the number of requests that use it. */
interface OpenVersion {
  readonly opening: Promise<LakeVersion>;
  inFlight: number;
  timer?: NodeJS.Timeout;
}

export class PinnedVersions {
  /** The versions that were used last come last. */
  private readonly opened = new Map<string, OpenVersion>();

  constructor(private readonly open: (name: string) => Promise<LakeVersion>) {}

  /** Calls `work` with a version, which stays open until `work` settles. Refuses with `overloaded` if all others are in use. */
  async use<T>(name: string, work: (version: LakeVersion) => Promise<T>): Promise<T> {
    const one = this.opened.get(name) ?? this.add(name);
    this.opened.delete(name);
    this.opened.set(name, one);
    clearTimeout(one.timer);
    one.inFlight += 1;
    try {
      return await work(await one.opening);
    } finally {
      one.inFlight -= 1;
      if (one.inFlight === 0) one.timer = setTimeout(() => this.remove(name, one), idleMs).unref();
    }
  }

  /** Closes the versions that no request uses; the others close some time after their last request. */
  close(): void {
    for (const [name, one] of this.opened) if (one.inFlight === 0) this.remove(name, one);
  }

  private add(name: string): OpenVersion {
    const unused = [...this.opened].find(([, { inFlight }]) => inFlight === 0);
    if (this.opened.size >= openMax) {
      if (unused === undefined) throw refuse("overloaded", {});
      this.remove(...unused);
    }
    const one: OpenVersion = { opening: this.open(name), inFlight: 0 };
    one.opening.catch(() => this.opened.get(name) === one && this.opened.delete(name));
    return one;
  }

  private remove(name: string, one: OpenVersion): void {
    clearTimeout(one.timer);
    if (this.opened.get(name) === one) this.opened.delete(name);
    one.opening.then(
      (version) => version.close(),
      () => undefined,
    );
  }
}
