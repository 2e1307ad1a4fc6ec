/** Faults during the overload: the process is killed, the disk fills up, files of the lake are damaged and restored. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../../src/base/json.ts";
import { currentManifest, filesOf } from "../../../../src/lake/manifest.ts";
import type { Chance } from "../../chance.ts";
import { damageUntil, type LedgerDisk, sleepUnless } from "../mixed/faults.ts";
import type { Journal } from "../mixed/journal.ts";
import type { KilledService } from "./killed-service.ts";

export interface FaultOptions {
  readonly service: KilledService;
  readonly lake: string;
  readonly disk: LedgerDisk;
  readonly journal: Journal;
  readonly chance: Chance;
  readonly isOver: () => boolean;
  readonly onEvent: (line: string) => void;
}

/** Shortest and longest seconds between two faults of a kind. */
const secondsBetween = { kill: [30, 120], full: [40, 160], damage: [10, 60] } as const;
/** How long the disk stays full, and a damaged file damaged. */
const fullSecondsMax = 15;
const heldSecondsMax = 30;
/** How long the service may take to notice a restored file. */
const noticedMs = 120_000;
const restartPauseMsMax = 3_000;

export class Faults {
  damages = 0;
  /** Damaged files that the service reported. */
  found = 0;

  constructor(private readonly options: FaultOptions) {}

  /** Causes all faults until the time is over, and repairs the last ones. */
  async run(): Promise<void> {
    const manifest = await currentManifest(this.options.lake);
    const paths = manifest === undefined ? [] : filesOf(manifest).map(({ path }) => path);
    await Promise.all([this.repeat("kill", this.kill), this.repeat("full", this.fill), this.repeatDamage(paths)]);
  }

  private repeatDamage(paths: readonly string[]): Promise<void> {
    return this.repeat("damage", () => this.damage(this.options.chance.pick(paths)));
  }

  private async repeat(kind: keyof typeof secondsBetween, fault: () => Promise<void>): Promise<void> {
    const { chance, isOver } = this.options;
    const [fromSeconds, toSeconds] = secondsBetween[kind];
    for (;;) {
      await sleepUnless(isOver, 1000 * chance.integer(fromSeconds, toSeconds));
      if (isOver()) return;
      await fault();
    }
  }

  private readonly kill = async (): Promise<void> => {
    const { service, chance, onEvent } = this.options;
    const startedAtMs = performance.now();
    await service.killAndRestart(chance.integer(0, restartPauseMsMax));
    onEvent(`killed and in service again after ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
  };

  private readonly fill = async (): Promise<void> => {
    const { service, disk, chance, isOver, onEvent } = this.options;
    const { pid } = service;
    const seconds = chance.integer(2, fullSecondsMax);
    const full = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    service.fullDisks.push(full);
    await disk.fill(pid);
    await sleepUnless(isOver, seconds * 1000);
    await disk.free(pid);
    full.toMs = Date.now();
    onEvent(`the disk was full for ${seconds} s`);
  };

  /** Damages a file for a while, in which the service may need it, then restores it and waits until the service reports it no more. */
  private async damage(path: string): Promise<void> {
    const { lake, chance, onEvent } = this.options;
    this.damages += 1;
    let isFound = false;
    const startedAtMs = performance.now();
    const seconds = (): string => ((performance.now() - startedAtMs) / 1000).toFixed(1);
    await damageUntil(join(lake, path), chance, async () => {
      await sleep(chance.integer(0, heldSecondsMax * 1000));
      isFound = (await reasonsOf(this.options.service.url))?.some((reason) => reason.includes(path)) ?? false;
      onEvent(`${path} was damaged for ${seconds()} s${isFound ? " and found" : ""}`);
    });
    if (isFound) this.found += 1;
    if (await this.untilUnreported(path)) onEvent(`${path} was restored after ${seconds()} s`);
  }

  /** Waits until `/readyz` does not report a file. Returns false if it always did, which is a problem unless the service was killed in the meantime. */
  private async untilUnreported(path: string): Promise<boolean> {
    const { service, journal } = this.options;
    const fromMs = Date.now();
    while (Date.now() - fromMs < noticedMs) {
      const reasons = await reasonsOf(service.url);
      if (reasons !== undefined && !reasons.some((reason) => reason.includes(path))) return true;
      await sleep(500);
    }
    if (!service.wasDown(fromMs, Date.now())) journal.addProblem("repair not noticed", `${path} in ${noticedMs} ms`);
    return false;
  }
}

/** Returns why a service is not ready; undefined if it does not answer. */
export async function reasonsOf(url: string): Promise<readonly string[] | undefined> {
  try {
    const body: unknown = await (await fetch(`${url}/readyz`)).json();
    return isObject(body) && Array.isArray(body.reasons) ? body.reasons.map(String) : undefined;
  } catch {
    return undefined;
  }
}
