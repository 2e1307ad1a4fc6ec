/**
 * Batches: days that are written one after another and published as one version, that of the last of them. Only a version that is published has a
 * manifest, a folder with its catalog and Iceberg metadata, and views, so that these grow with the versions and not with the days.
 *
 * Files that a day replaces before its batch is published are removed at once: no version lists them.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, tableFilesOf } from "../lake/manifest.ts";
import { publish } from "../lake/writer/writer.ts";

/** After how much a batch is published: about a minute's work, which is what a kill loses at most. */
export interface BatchLimits {
  readonly rows: number;
  readonly days: number;
}

export const batchLimits: BatchLimits = { rows: 500_000, days: 100 };

/** What the manifest of a replay has instead of what follows from the version before it. */
export type ReplayFields = Pick<Manifest, "previous" | "replayed_from">;

export class Batch {
  private last: Manifest | undefined;
  private rows = 0;
  private days = 0;

  /** `base` is the version on which the days build. A replay has `replay`, and publishes nothing before its end. */
  constructor(
    private readonly lake: string,
    private base: Manifest | undefined,
    private readonly limits: BatchLimits,
    private readonly replay?: ReplayFields,
  ) {}

  /** Adds a day whose files are written. Publishes the batch if it is full, and the first day of a lake. */
  async add(day: Manifest, rows: number): Promise<void> {
    await this.removeReplaced(day);
    this.last = day;
    this.rows += rows;
    this.days += 1;
    const isFull = this.rows >= this.limits.rows || this.days >= this.limits.days;
    if (isFull || this.base === undefined) await this.publishEarly();
  }

  /** Publishes the days so far, unless they are those of a replay. */
  async publishEarly(): Promise<void> {
    if (this.replay === undefined) await this.publish();
  }

  /** Publishes the days that have been added since the last version. */
  async publish(): Promise<void> {
    if (this.last === undefined) return;
    const version = { ...this.last, previous: this.base?.version ?? null, ...this.replay };
    await publish(this.lake, version);
    this.base = version;
    this.last = undefined;
    this.rows = 0;
    this.days = 0;
  }

  /** Removes the files of the day before that neither the day nor the base has. */
  private async removeReplaced(day: Manifest): Promise<void> {
    if (this.last === undefined) return;
    const kept = new Set([day, ...(this.base ? [this.base] : [])].flatMap(tableFilesOf).map(({ path }) => path));
    for (const { path } of tableFilesOf(this.last)) if (!kept.has(path)) await rm(join(this.lake, path));
  }
}
