/**
 * The row copies: the listings of a version, active, missing, sold or ended, row by row, in a file for each of their Parquet files. They
 * are a cache below `hot/rows/`, made in a thread after a version has been opened. Pages have their rows from the copies that are there,
 * look-ups when all are; until then, and where they cannot be made, the Parquet files answer. They can be deleted at any time.
 */
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Failure, messageOf } from "../base/failure.ts";
import { makeFolder } from "../base/files.ts";
import type { Row } from "../base/json.ts";
import { startThread } from "../base/threads.ts";
import { removeOthers } from "./caches.ts";
import type { Lines } from "./lines.ts";
import type { Known, ListingState } from "./lookups.ts";
import type { LakeFile } from "./manifest.ts";
import { listingLines, type Reading } from "./readings.ts";
import { RowFile, rowFormat } from "./row-file.ts";
import type { RowTasks, RowWord } from "./row-thread.ts";

/** A listing that was looked up, and what is read of it. */
export interface FoundRow {
  readonly state: ListingState;
  readonly row: Row;
}

/** The name of the copy of a file of listings: by what is in it, so that it serves all versions that have the file. */
export const rowCopyName = ({ sha256 }: LakeFile): string => `${sha256.slice(0, 32)}-${rowFormat}.db`;

export class RowCopies {
  /** Those that are open, by the SHA-256 of what they are copies of. */
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

  /** The listings at some positions of some files in a row; undefined where there is no copy of one of them. */
  at(files: readonly LakeFile[], positions: readonly number[]): readonly Lines[] | undefined {
    const facts: Lines[] = [];
    for (const position of positions) {
      const fact = this.factAt(files, position);
      if (fact === undefined) return undefined;
      facts.push(fact);
    }
    return facts;
  }

  /** The listings of an id (32 hex digits) or of a VIN, in whatever state; undefined while there is not a copy of each file. */
  by(what: "id" | "vin", wanted: string, names: readonly Reading[]): readonly FoundRow[] | undefined {
    const found: FoundRow[] = [];
    for (const { state, file } of this.isReady ? this.known : []) {
      const facts = this.from(file, (copy) => copy.by(what, wanted)) ?? [];
      found.push(...facts.map((fact) => ({ state, row: listingLines.rowOf(fact, names) })));
    }
    return this.isReady ? found : undefined;
  }

  /** Ends the making of copies, and closes those that are there. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.thread?.postMessage("stop");
    await this.making;
    for (const copy of this.copies.values()) copy.close();
    this.copies.clear();
  }

  private factAt(files: readonly LakeFile[], position: number): Lines | undefined {
    let start = 0;
    for (const file of files) {
      if (position < start + file.rows) return this.from(file, (copy) => copy.at(position - start));
      start += file.rows;
    }
    return undefined;
  }

  /** What is read from the copy of a file; undefined where there is none. One that cannot be read goes, and is made by a later start. */
  private from<T>(file: LakeFile, read: (copy: RowFile) => T): T | undefined {
    const copy = this.copies.get(file.sha256);
    if (copy === undefined) return undefined;
    try {
      return read(copy);
    } catch (thrown) {
      this.isReady = false;
      this.copies.delete(file.sha256);
      copy.close();
      this.fail(thrown);
      void rm(this.pathOf(file), { force: true }).catch(() => {});
      return undefined;
    }
  }

  private async make(after: Promise<void>): Promise<void> {
    await makeFolder(this.folder);
    const files = new Map(this.known.map(({ file }) => [rowCopyName(file), file]));
    const there = new Set(await readdir(this.folder));
    for (const [name, file] of files) {
      if (there.has(name)) await this.takeOrRemove(file);
      await nextTurn();
    }
    await removeOthers(this.folder, new Set(files.keys()));
    const absent = [...files].filter(([, file]) => !this.copies.has(file.sha256));
    if (absent.length > 0) await after;
    if (absent.length > 0 && !this.isStopped) await this.makeThose(new Map(absent));
    this.isReady = this.copies.size === files.size;
    if (!this.isReady && !this.isStopped) throw new Failure("The thread that makes row copies has ended early.");
  }

  /** Has files made in a thread, and takes each when it is there; fails when the thread does, and ends with it. */
  private makeThose(absent: ReadonlyMap<string, LakeFile>): Promise<void> {
    const tasks: RowTasks = {
      lake: this.lake,
      files: [...absent.values()].map((file) => ({
        ...{ path: join(this.lake, file.path), rows: file.rows, target: this.pathOf(file) },
      })),
    };
    const thread = startThread(new URL("./row-thread.ts", import.meta.url), tasks);
    this.thread = thread;
    return new Promise((ended, failed) => {
      let failure: unknown;
      const giveUp = (thrown: unknown): void => {
        failure ??= thrown;
        thread.postMessage("stop");
      };
      thread.on("message", (word: RowWord) => {
        if ("failed" in word) return giveUp(new Failure(word.failed));
        try {
          const file = absent.get(basename(word.made));
          if (file !== undefined) this.take(file);
        } catch (thrown) {
          giveUp(thrown);
        }
      });
      thread.once("error", giveUp);
      thread.once("exit", () => (failure === undefined ? ended() : failed(failure)));
    });
  }

  private take(file: LakeFile): void {
    if (!this.isStopped) this.copies.set(file.sha256, new RowFile(this.pathOf(file), file.rows));
  }

  /** Takes a copy that is there; one that is not whole goes, and is made again. */
  private async takeOrRemove(file: LakeFile): Promise<void> {
    try {
      this.take(file);
    } catch {
      await rm(this.pathOf(file), { force: true });
    }
  }

  private pathOf(file: LakeFile): string {
    return join(this.folder, rowCopyName(file));
  }

  private fail(thrown: unknown): void {
    if (!this.isStopped) this.onFailure(messageOf(thrown));
  }
}
