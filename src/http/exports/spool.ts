/**
 * Spool of the service: a folder with the exports that are being written, sent, and kept for clients that resume or repeat a download.
 *
 * Identical requests share a file. Files that no response uses are removed when they reach their age, and, the least recently used first, when
 * the folder exceeds its size. Nothing in it outlives the service.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { refuse } from "../../contract/errors.ts";
import { FairPool } from "../../db/fair-pool.ts";
import { Job } from "../../db/job.ts";
import { type FileSize, spoolFull, tooManyExports } from "./writer-process.ts";

export interface SpoolLimits {
  /** Files that processes write at once. */
  readonly writtenMax: number;
  /** Files that wait for that; beyond it, the account with the most of them is refused. */
  readonly waitingMax: number;
  /** The folder in which the spool is created. */
  readonly folder: string;
  readonly bytesMax: number;
  /** How long a file is kept once it is written. */
  readonly ageMs: number;
}

/** Writes a file to a path, for a job whose statements count for the accounts that wait for it and whose signal ends the work. */
type Write = (path: string, job: Job) => Promise<FileSize>;

/** A request for a file of the spool. */
export interface SpoolRequest {
  /** Names the content of the file. */
  readonly key: string;
  readonly job: Job;
  /** Whether it is written at once, by the service itself: it needs no writer. */
  readonly isQuick?: boolean;
  /** How long the file is kept once it is written. Default: that of the spool. */
  readonly ageMs?: number;
  /** The most disk space of its folder. Default: that of the spool. */
  readonly bytesMax?: number;
}

/** A file of the spool, or one that is being written. */
interface SpooledFile {
  readonly folder: string;
  readonly job: Job;
  readonly bytesMax: number;
  readonly written: Promise<FileSize>;
  state: "waiting" | "writing" | "written";
  /** Disk space when it was measured last: once it is written, and again and again before. */
  bytes: number;
  /** The jobs that wait for it, or whose responses use it. */
  readonly users: Set<Job>;
  /** Removes it at its age. */
  expiry: NodeJS.Timeout | undefined;
}

/** A complete file, which stays until it is released. */
export interface SpooledExport extends FileSize {
  readonly path: string;
  release(): void;
}

const fileName = "export";

/** How often the disk space is measured while a file is written. */
const pollMs = 250;

/** Names the host too, because process ids repeat in containers. */
const prefix = `carquet-exports-${hostname()}-`;

const ownFolders = new Set<string>();

export class Spool {
  /** Files by key, the least recently used first. */
  private readonly files = new Map<string, SpooledFile>();
  /** Its folder, which is created with the first file. */
  readonly folder: string;
  private nextId = 0;
  private timer: NodeJS.Timeout | undefined;
  /** The writers of files, whose time counts as session time. */
  private readonly writers: FairPool<number>;

  constructor(private readonly limits: SpoolLimits) {
    this.folder = join(resolve(limits.folder), `${prefix}${process.pid}-${randomUUID()}`);
    const writers = Array.from({ length: limits.writtenMax }, (_, number) => number);
    this.writers = new FairPool(writers, { waitingMax: limits.waitingMax, refusal: tooManyExports });
  }

  /**
   * Returns the file of a key, written on a miss, once there is a writer for it. Refuses with `overloaded` if too many wait for one, and with
   * `data_unavailable` if the spool is full. Writing ends early when all jobs that wait for the file are aborted.
   */
  async open(request: SpoolRequest, write: Write): Promise<SpooledExport> {
    const { key, job } = request;
    const file = this.files.get(key) ?? this.start(request, write);
    this.files.delete(key);
    this.files.set(key, file);
    file.users.add(job);
    const release = (): void => {
      file.users.delete(job);
      if (file.users.size === 0 && file.expiry === undefined && file.state === "written") void this.remove(key, file);
    };
    if (file.state !== "written") file.job.join(job);
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
    for (const { job, expiry } of files) {
      clearTimeout(expiry);
      job.abort(refuse("overloaded", {}));
    }
    await Promise.allSettled(files.map(({ written }) => written));
    await rm(this.folder, { recursive: true, force: true });
  }

  private get writing(): readonly SpooledFile[] {
    return [...this.files.values()].filter(({ state }) => state === "writing");
  }

  private start({ key, job: { accounts }, isQuick = false, ...limits }: SpoolRequest, write: Write): SpooledFile {
    const { ageMs = this.limits.ageMs, bytesMax = this.limits.bytesMax } = limits;
    // An unused one can have been cleaned away.
    if (!existsSync(this.folder)) createSpoolFolder(this.folder);
    this.nextId += 1;
    const job = new Job(...accounts);
    const forget = (): void => {
      if (this.files.get(key) === file) this.files.delete(key);
    };
    // Removed at once, so that a later request does not join an aborted export.
    job.signal.addEventListener("abort", forget, { once: true });
    const written = Promise.resolve().then(() =>
      isQuick ? this.write(file, write) : this.writers.use(job, () => this.write(file, write)),
    );
    const file: SpooledFile = {
      folder: join(this.folder, String(this.nextId)),
      job,
      bytesMax,
      written,
      state: "waiting",
      bytes: 0,
      users: new Set(),
      expiry: undefined,
    };
    file.written.then(() => {
      file.state = "written";
      file.expiry = setTimeout(() => this.expire(key, file), ageMs).unref();
    }, forget);
    this.timer ??= setInterval(() => void this.limitSize(), pollMs).unref();
    return file;
  }

  /** Writes a file. Of what throws, nothing is left. */
  private async write(file: SpooledFile, write: Write): Promise<FileSize> {
    const { folder, job } = file;
    file.state = "writing";
    try {
      await mkdir(folder);
      const written = await write(join(folder, fileName), job);
      await this.limitSize();
      job.signal.throwIfAborted();
      return written;
    } catch (thrown) {
      await rm(folder, { recursive: true, force: true });
      throw thrown;
    }
  }

  /** Removes a file that has reached its age; one in use when it is released. */
  private expire(key: string, file: SpooledFile): void {
    file.expiry = undefined;
    if (file.users.size === 0) void this.remove(key, file);
  }

  private async remove(key: string, file: SpooledFile): Promise<void> {
    clearTimeout(file.expiry);
    if (this.files.get(key) === file) this.files.delete(key);
    await rm(file.folder, { recursive: true, force: true });
  }

  /** Ends exports that exceed their own size. Removes unused files until the folder fits. Ends the last export of an account that has more than is free. */
  private async limitSize(): Promise<void> {
    for (const file of this.writing) {
      file.bytes = await sizeOf(file.folder);
      if (file.bytesMax < this.limits.bytesMax && file.bytes > file.bytesMax) file.job.abort(spoolFull());
    }
    const files = [...this.files];
    if (files.every(([, { state }]) => state === "written")) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    let bytes = files.reduce((sum, [, file]) => sum + file.bytes, 0);
    for (const [key, file] of files) {
      if (bytes <= this.limits.bytesMax) break;
      if (file.state !== "written" || file.users.size > 0) continue;
      bytes -= file.bytes;
      await this.remove(key, file);
    }
    this.writing.findLast((file) => this.exceedsShare(file))?.job.abort(spoolFull());
  }

  /** Returns whether each account that waits for a file has more bytes in use than are free for others. */
  private exceedsShare({ job: { accounts } }: SpooledFile): boolean {
    const used = [...this.files.values()].filter(({ users }) => users.size > 0);
    const bytesOf = (files: readonly SpooledFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
    const freeBytes = this.limits.bytesMax - bytesOf(used);
    const filesOf = (account: string) =>
      used.filter(({ users }) => [...users].some((user) => user.accounts.has(account)));
    return [...accounts].every((account) => bytesOf(filesOf(account)) > freeBytes);
  }
}

/** Creates the folder of a spool, and removes those that processes of this host left behind which were killed. */
function createSpoolFolder(folder: string): void {
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true });
  const folders = readdirSync(parent).filter((name) => name.startsWith(prefix));
  for (const path of folders.map((name) => join(parent, name))) {
    const pid = Number.parseInt(path.slice(join(parent, prefix).length), 10);
    const isUsed = pid === process.pid ? ownFolders.has(path) : isRunning(pid);
    if (!isUsed) rmSync(path, { recursive: true, force: true });
  }
  mkdirSync(folder, { mode: 0o700 });
  ownFolders.add(folder);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}

/** Returns the size of the files below a folder. A file that is removed meanwhile counts as empty. */
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
