/**
 * Batches: days that are written one after another and published together. Each day is a version with its manifest; what readers open is written
 * once, for the last day: its views and its folder, with the catalog and Iceberg metadata. A single day is a batch of one.
 */
import { replaceFile } from "../base/files.ts";
import { type Manifest, manifestPath, manifestText } from "../lake/manifest.ts";
import { publish } from "../lake/writer/writer.ts";

/** After how long a batch is published by default: a kill loses as much work at most. */
const batchMsMax = 60_000;

/** What the manifest of a replay has instead of what follows from the version before it. */
export type ReplayFields = Pick<Manifest, "previous" | "replayed_from">;

export class Batch {
  private days: Manifest[] = [];
  private startMs = performance.now();

  /** A replay, with `replay`, publishes only the last of its days, at its end. */
  constructor(
    private readonly lake: string,
    private readonly batchMs = batchMsMax,
    private readonly replay?: ReplayFields,
  ) {}

  /** Adds a day whose files are written. Publishes the batch if it has lasted long enough, and the first day of a lake. */
  async add(day: Manifest): Promise<void> {
    this.days.push(day);
    if (day.previous === null || performance.now() - this.startMs >= this.batchMs) await this.publishEarly();
  }

  /** Publishes the days so far, unless they are those of a replay. */
  async publishEarly(): Promise<void> {
    if (this.replay === undefined) await this.publish();
  }

  /** Publishes the days that have been added since the last version. No manifest is written before: readers may list those that exist. */
  async publish(): Promise<void> {
    const last = this.days.at(-1);
    if (last === undefined) return;
    const others = this.replay === undefined ? this.days.slice(0, -1) : [];
    for (const day of others) await replaceFile(manifestPath(this.lake, day.version), manifestText(day));
    await publish(this.lake, { ...last, ...this.replay });
    this.days = [];
    this.startMs = performance.now();
  }
}
