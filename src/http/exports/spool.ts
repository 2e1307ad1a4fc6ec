/**
 * Spool of the service: a folder with the exports that are being written, sent, and kept for clients that resume or repeat a download.
 *
 * Identical requests share a file. Files that no response uses are removed, the least recently used first, when the folder exceeds its
 * size. Nothing in it outlives the service.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { refuse } from "../../contract/errors.ts";
import { Job } from "../../db/job.ts";
import { type ExportSize, exportRetrySeconds, spoolIsFull } from "./export-process.ts";

/** How often the disk space is measured while an export is written. */
const pollMs = 250;

export interface SpoolLimits {
  /** The folder in which the spool is created. */
  readonly folder: string;
  readonly bytesMax: number;
  /** Exports that are written at once. */
  readonly writtenMax: number;
}

/** Writes an export to a path, for a job. */
type Write = (path: string, job: Job) => Promise<ExportSize>;

/** A file of the spool, or one that is being written. */
interface SpooledFile {
  readonly folder: string;
  readonly job: Job;
  readonly written: Promise<ExportSize>;
  isWritten: boolean;
  /** Responses that use it. */
  users: number;
}

/** A complete file, which stays until it is released. */
export interface SpooledExport extends ExportSize {
  readonly path: string;
  release(): void;
}

const fileName = "export";

/** Names the host too, because process ids repeat in containers. */
const prefix = `carquet-exports-${hostname()}-`;

/** The folders of this process. */
const ownFolders = new Set<string>();

export class Spool {
  /** Files by key, the least recently used first. */
  private readonly files = new Map<string, SpooledFile>();
  private folder: string | undefined;
  private nextId = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: SpoolLimits) {}

  /**
   * Returns the file of a key, written on a miss. Refuses with `overloaded` if too many are being written, and with `data_unavailable` if
   * there is no space for it. Writing ends early when all jobs that wait for the file are aborted.
   */
  async open(key: string, job: Job, write: Write): Promise<SpooledExport> {
    const file = this.files.get(key) ?? this.start(key, job, write);
    this.files.delete(key);
    this.files.set(key, file);
    file.users += 1;
    const release = (): void => {
      file.users -= 1;
    };
    if (!file.isWritten) file.job.join(job);
    try {
      return { ...(await job.race(file.written)), path: join(file.folder, fileName), release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Ends all work and removes the folder. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const files = [...this.files.values()];
    for (const { job } of files) job.abort(refuse("overloaded", {}));
    await Promise.allSettled(files.map(({ written }) => written));
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true });
  }

  private get writing(): readonly SpooledFile[] {
    return [...this.files.values()].filter(({ isWritten }) => !isWritten);
  }

  private start(key: string, { accounts }: Job, write: Write): SpooledFile {
    if (this.writing.length >= this.limits.writtenMax) throw refuse("overloaded", { retryAfter: exportRetrySeconds });
    this.folder ??= createSpoolFolder(this.limits.folder);
    this.nextId += 1;
    const folder = join(this.folder, String(this.nextId));
    const job = new Job(...accounts);
    const forget = (): void => {
      if (this.files.get(key) === file) this.files.delete(key);
    };
    // At once, so that a later request does not join what has been aborted.
    job.signal.addEventListener("abort", forget, { once: true });
    const file: SpooledFile = { folder, job, written: this.write(folder, job, write), isWritten: false, users: 0 };
    file.written.then(
      () => {
        file.isWritten = true;
      },
      () => {
        forget();
        void rm(folder, { recursive: true, force: true });
      },
    );
    this.timer ??= setInterval(() => void this.limitSize(), pollMs).unref();
    return file;
  }

  private async write(folder: string, job: Job, write: Write): Promise<ExportSize> {
    await mkdir(folder);
    const startedAtMs = performance.now();
    job.time.start(startedAtMs);
    try {
      const written = await write(join(folder, fileName), job);
      await this.limitSize();
      job.signal.throwIfAborted();
      return written;
    } finally {
      job.time.end(startedAtMs, performance.now());
    }
  }

  /** Removes unused files until the folder fits, then ends the export that began last. */
  private async limitSize(): Promise<void> {
    if (this.writing.length === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    let bytes = await sizeOf(this.folder ?? "");
    for (const [key, file] of [...this.files]) {
      if (bytes <= this.limits.bytesMax) return;
      if (!file.isWritten || file.users > 0) continue;
      this.files.delete(key);
      bytes -= await sizeOf(file.folder);
      await rm(file.folder, { recursive: true, force: true });
    }
    if (bytes > this.limits.bytesMax) this.writing.at(-1)?.job.abort(spoolIsFull());
  }
}

/** Creates the folder of a spool, and removes those that processes of this host left behind which were killed. */
function createSpoolFolder(parent: string): string {
  mkdirSync(parent, { recursive: true });
  const folders = readdirSync(parent).filter((name) => name.startsWith(prefix));
  for (const path of folders.map((name) => join(parent, name))) {
    const pid = Number.parseInt(path.slice(join(parent, prefix).length), 10);
    const isUsed = pid === process.pid ? ownFolders.has(path) : isRunning(pid);
    if (!isUsed) rmSync(path, { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  ownFolders.add(folder);
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}

/** Returns the size of the files below a folder. What is removed meanwhile counts as empty. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (stats) => (stats.isFile() ? stats.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
