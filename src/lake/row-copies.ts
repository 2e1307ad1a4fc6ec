/**
 * The row copies: the listings of a version, active, missing, sold or ended, row by row, in a file for each of their Parquet files. They
 * are a cache below `hot/rows/`, made in a thread after a version has been opened; until a file is there, and where it cannot be made,
 * the Parquet file answers. They can be deleted at any time.
 */
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Worker } from "node:worker_threads";
import { Failure, messageOf } from "../base/failure.ts";
import { makeFolder } from "../base/files.ts";
import type { Row } from "../base/json.ts";
import { startThread } from "../base/threads.ts";
import { removeOthers } from "./caches.ts";
import type { Known, ListingState } from "./lookups.ts";
import type { LakeFile } from "./manifest.ts";
import type { Reading } from "./readings.ts";
import { RowFile, rowFormat } from "./row-file.ts";
import type { RowTask, RowWord } from "./row-thread.ts";

/** A listing that was looked up, and what is read of it. */
export interface FoundRow {
  readonly state: ListingState;
  readonly row: Row;
}

/** The name of the copy of a file of listings: by what is in it, so that it serves all versions that have the file. */
const nameOf = ({ sha256 }: LakeFile): string => `${sha256.slice(0, 32)}-${rowFormat}.db`;

export class RowCopies {
  /** Those that are open, by their names. */
  private readonly copies = new Map<string, RowFile>();
  private readonly folder: string;
  private readonly making: Promise<void>;
  private thread: Worker | undefined;
  private isReady = false;
  private isStopped = false;

  /**
   * Takes those copies of a version's listings that are there, and makes the others after what is waited for. `onFailure` is told why
   * there are none.
   */
  constructor(
    private readonly lake: string,
    private readonly known: readonly Known[],
    after: Promise<void>,
    private readonly onFailure: (message: string) => void,
  ) {
    this.folder = join(lake, "hot", "rows");
    this.making = this.make(after).catch((thrown: unknown) => this.fail(thrown));
  }

  /** Resolves when all copies are there, or will not be made. */
  settled(): Promise<void> {
    return this.making;
  }

  /** What is read of the rows at some positions of some files in a row; undefined where there is no copy of them. */
  at(files: readonly LakeFile[], positions: readonly number[], names: readonly Reading[]): readonly Row[] | undefined {
    return this.reading(() => {
      const rows = positions.map((position) => this.rowAt(files, position, names));
      return rows.every((row) => row !== undefined) ? rows : undefined;
    });
  }

  /** The listings of an id (32 hex digits) or of a VIN, in whatever state; undefined while there is not a copy of each file. */
  by(what: "id" | "vin", wanted: string, names: readonly Reading[]): readonly FoundRow[] | undefined {
    if (!this.isReady) return undefined;
    const found = ({ state, file }: Known): readonly FoundRow[] =>
      this.copyOf(file)
        .by(what, wanted, names)
        .map((row) => ({ state, row }));
    return this.reading(() => this.known.flatMap(found));
  }

  /** Ends the making of copies, and closes those that are there. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.thread?.postMessage("stop");
    await this.making;
    this.close();
  }

  private rowAt(files: readonly LakeFile[], position: number, names: readonly Reading[]): Row | undefined {
    let start = 0;
    for (const file of files) {
      if (position < start + file.rows) return this.copies.get(nameOf(file))?.at(position - start, names);
      start += file.rows;
    }
    return undefined;
  }

  private copyOf(file: LakeFile): RowFile {
    const copy = this.copies.get(nameOf(file));
    if (copy === undefined) throw new Failure(`${file.path}: its row copy is not open.`);
    return copy;
  }

  /** What is read from copies; when one cannot be read, all are given up, and the Parquet files answer. */
  private reading<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (thrown) {
      this.fail(thrown);
      void rm(this.folder, { recursive: true, force: true }).catch(() => {});
      return undefined;
    }
  }

  private async make(after: Promise<void>): Promise<void> {
    await makeFolder(this.folder);
    const files = new Map(this.known.map(({ file }) => [nameOf(file), file]));
    const there = new Set(await readdir(this.folder));
    for (const name of files.keys()) if (there.has(name)) await this.takeOrRemove(name);
    const absent = [...files].filter(([name]) => !this.copies.has(name));
    if (absent.length > 0) await after;
    if (absent.length > 0 && !this.isStopped) await this.makeThose(absent);
    if (this.isStopped) return;
    if (this.copies.size < files.size) throw new Failure("The thread that makes row copies has ended early.");
    this.isReady = true;
    await removeOthers(this.folder, new Set(files.keys()));
  }

  private async makeThose(absent: readonly (readonly [name: string, file: LakeFile])[]): Promise<void> {
    const tasks: readonly RowTask[] = absent.map(([name, { path, rows }]) => ({
      ...{ path: join(this.lake, path), rows, target: join(this.folder, name) },
    }));
    const thread = startThread(new URL("./row-thread.ts", import.meta.url), tasks);
    this.thread = thread;
    await new Promise<void>((ended, failed) => {
      thread.on("message", (word: RowWord) => {
        if ("failed" in word) return failed(new Failure(word.failed));
        try {
          this.take(basename(word.made));
        } catch (thrown) {
          failed(thrown);
        }
      });
      thread.once("error", failed);
      thread.once("exit", () => ended());
    });
  }

  private take(name: string): void {
    if (!this.isStopped) this.copies.set(name, new RowFile(join(this.folder, name)));
  }

  /** Takes a copy that is there; one that cannot be opened goes, and is made again. */
  private async takeOrRemove(name: string): Promise<void> {
    try {
      this.take(name);
    } catch {
      await rm(join(this.folder, name), { force: true });
    }
  }

  private fail(thrown: unknown): void {
    this.isReady = false;
    this.close();
    if (!this.isStopped) this.onFailure(messageOf(thrown));
  }

  private close(): void {
    for (const copy of this.copies.values()) copy.close();
    this.copies.clear();
  }
}
