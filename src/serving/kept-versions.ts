/**
 * The versions of a lake that requests can name: those whose manifest exists, until `vacuum` removes it. At most `openMax` of them are open, because each
 * holds its dimensions and dictionaries in memory; one is closed when it has not been used for `idleMs`. What is derived from a whole version is derived
 * once.
 */
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createOnce } from "../base/concurrency.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import { serviceJob } from "../db/job.ts";
import { compareVersions, type Manifest, manifestPath, versionPattern, versionsIn } from "../lake/manifest.ts";
import type { LakeVersion } from "./lake-version.ts";

/** Returns the size of the disk of a lake, and what of it is free. */
export async function diskOf(lake: string): Promise<{ readonly bytes: number; readonly freeBytes: number }> {
  const { bsize, blocks, bavail } = await statfs(lake);
  return { bytes: bsize * blocks, freeBytes: bsize * bavail };
}

/** Refuses with `version_unavailable` if a version is not kept; `parameter` names where the request has it. */
export async function requireKept(lake: string, version: string, parameter: string): Promise<void> {
  // Asynchronous reads of the folder wait for threads beside those of the engine.
  if (versionPattern.test(version) && existsSync(manifestPath(lake, version))) return;
  const kept = await versionsIn(lake);
  if (kept.includes(version)) return;
  const [oldest = "none", ...others] = [...kept].sort(compareVersions);
  throw refuse("version_unavailable", { parameter, value: quoted(version), oldest, newest: others.at(-1) ?? oldest });
}

/** Named versions that are open at once, beside the one in service. */
const openMax = 4;

/** How long an account keeps a version after its last request, if another account has none. */
const keptMs = 5_000;

/** How long a request waits until a version can be closed for it, and how often it looks. */
const waitMs = 3_000;
const pollMs = 25;
const idleMs = 60_000;

/** A version, the number of requests that use it, and when each account used it last, on the monotonic clock. */
interface OpenVersion {
  readonly opening: Promise<LakeVersion>;
  readonly usedAtMs: Map<string, number>;
  inFlight: number;
  timer?: NodeJS.Timeout;
}

/** On whose behalf a version is opened. The signal ends the wait for it. */
export interface VersionUser {
  readonly accountId: string;
  readonly signal?: AbortSignal;
  /** Called with the time that an opening took. */
  readonly onOpened?: (ms: number) => void;
}

/**
 * Open named versions, divided by account: an account takes another one only while more can be opened than it has, else in place of one that it
 * has. A version that another account uses stays open.
 */
export class PinnedVersions {
  /** The versions that were used last come last. */
  private readonly opened = new Map<string, OpenVersion>();

  constructor(private readonly open: (name: string) => Promise<LakeVersion>) {}

  /** Calls `work` with a version, which stays open until `work` settles. Refuses with `overloaded` if none can be closed for it within a while. */
  async use<T>(name: string, user: VersionUser, work: (version: LakeVersion) => Promise<T>): Promise<T> {
    const one = await this.enter(name, user);
    try {
      return await work(await one.opening);
    } finally {
      one.inFlight -= 1;
      one.usedAtMs.set(user.accountId, performance.now());
      if (one.inFlight === 0) one.timer = setTimeout(() => this.remove(name, one), idleMs).unref();
    }
  }

  /** Closes the versions that no request uses; the others close some time after their last request. */
  close(): void {
    for (const [name, one] of this.opened) if (one.inFlight === 0) this.remove(name, one);
  }

  private async enter(name: string, user: VersionUser): Promise<OpenVersion> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      user.signal?.throwIfAborted();
      const one = this.opened.get(name) ?? this.add(name, user);
      if (one !== undefined) {
        this.opened.delete(name);
        this.opened.set(name, one);
        clearTimeout(one.timer);
        one.inFlight += 1;
        one.usedAtMs.set(user.accountId, performance.now());
        return one;
      }
      if (performance.now() >= endMs) throw refuse("overloaded", {});
      await pause(pollMs);
    }
  }

  /** Opens a version for an account; returns undefined while it has to wait. */
  private add(name: string, { accountId, onOpened }: VersionUser): OpenVersion | undefined {
    if (!this.hasRoomFor(accountId)) {
      const closable = [...this.opened].find(([, one]) => this.isClosable(one, accountId));
      if (closable !== undefined) this.remove(...closable);
      else {
        // Those that others use too stay open, and are no longer this account's.
        for (const { usedAtMs } of this.opened.values()) if (usedAtMs.size > 1) usedAtMs.delete(accountId);
        if (!this.hasRoomFor(accountId)) return undefined;
      }
    }
    const startedAtMs = performance.now();
    const one: OpenVersion = { opening: this.open(name), usedAtMs: new Map(), inFlight: 0 };
    one.opening
      .catch(() => this.opened.get(name) === one && this.opened.delete(name))
      .finally(() => onOpened?.(performance.now() - startedAtMs));
    return one;
  }

  private hasRoomFor(accountId: string): boolean {
    return openMax - this.opened.size > this.heldBy(accountId);
  }

  private heldBy(accountId: string): number {
    return [...this.opened.values()].filter(({ usedAtMs }) => usedAtMs.has(accountId)).length;
  }

  /** Returns whether a version can be closed for an account: one that only it has, of an account that has more, or that an account has left unused. */
  private isClosable({ inFlight, usedAtMs }: OpenVersion, accountId: string): boolean {
    if (inFlight > 0) return false;
    const held = this.heldBy(accountId);
    const unusedSinceMs = held === 0 ? performance.now() - keptMs : 0;
    return [...usedAtMs].every(
      ([holder, atMs]) => holder === accountId || this.heldBy(holder) > held + 1 || atMs <= unusedSinceMs,
    );
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

/** Returns a function that computes something of a version once, on behalf of all requests, and again after a failure. */
export function oncePerVersion<T>(compute: (version: LakeVersion) => Promise<T>): (version: LakeVersion) => Promise<T> {
  const computed = new WeakMap<Manifest, Promise<T>>();
  return (version) => createOnce(computed, version.manifest, () => compute(version.withJob(serviceJob())));
}
