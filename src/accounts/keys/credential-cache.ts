/**
 * Cache of what credentials stand for: API keys and access tokens. Entries are at most `validMs` old, so that changes of the command line take effect
 * within a second. Unknown credentials are cached too, so that guesses do not reach the accounts.
 */
import { LRUCache } from "lru-cache";
import { refuse } from "../../contract/errors.ts";

/** A value older than this is refreshed in the background; one older than `validMs` is loaded again before use. */
const refreshMs = 300;
const validMs = 900;

/** Cached credentials, and accounts of keys; the least recently used are forgotten. */
export const credentialsMax = 10_000;

/** How long, and how many, unknown credentials are not looked up again. New ones work when this is over. */
const unknownMs = 500;
const unknownMax = 10_000;

/** Concurrent look-ups beyond which only cached values are loaded again, and others are refused. */
const lookUpsMax = 1_024;

interface Cached<Value> {
  readonly value: Value;
  readonly loadedAtMs: number;
}

export abstract class CredentialCache<Value extends object> {
  private readonly cached = new LRUCache<string, Cached<Value>>({ max: credentialsMax });
  private readonly loading = new Map<string, Promise<Value | undefined>>();
  /** The times until which ids are unknown. */
  private readonly unknownUntilMs = new LRUCache<string, number>({ max: unknownMax });

  constructor(protected readonly nowMs: () => number) {}

  /** Looks up what an id stands for; undefined if it is unknown. */
  protected abstract find(id: string): Promise<Value | undefined>;

  /** Returns a cached value; null if the id is unknown, and undefined if it must be loaded first. */
  get(id: string): Value | null | undefined {
    const known = this.cached.get(id);
    if (known === undefined) return (this.unknownUntilMs.get(id) ?? 0) > this.nowMs() ? null : undefined;
    const ageMs = this.nowMs() - known.loadedAtMs;
    if (ageMs > validMs) return undefined;
    if (ageMs > refreshMs) this.load(id).catch(() => undefined);
    return known.value;
  }

  /** Returns true if a value is cached at any age, or is being looked up: a request with it then costs no look-up. */
  has(id: string): boolean {
    return this.cached.has(id) || this.loading.has(id);
  }

  /**
   * Loads a value into the cache; concurrent callers share one look-up. Returns undefined if the id is unknown. Refuses with `overloaded` if the
   * value is not cached and too many are being looked up.
   */
  load(id: string): Promise<Value | undefined> {
    const pending = this.loading.get(id);
    if (pending !== undefined) return pending;
    if (!this.cached.has(id) && this.loading.size >= lookUpsMax) throw refuse("overloaded", {});
    const started = this.lookUp(id).finally(() => this.loading.delete(id));
    this.loading.set(id, started);
    return started;
  }

  private async lookUp(id: string): Promise<Value | undefined> {
    const loadedAtMs = this.nowMs();
    const value = await this.find(id);
    if (value === undefined) {
      this.cached.delete(id);
      this.unknownUntilMs.set(id, loadedAtMs + unknownMs);
    } else this.cached.set(id, { value, loadedAtMs });
    return value;
  }
}
