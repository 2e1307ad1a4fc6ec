/**
 * Verified files: which files of a lake have the size and SHA-256 that the manifest lists.
 *
 * A file is hashed at its first use, and again when its inode, size or change time differs. Both outcomes are remembered: a damaged file
 * is not hashed again until it has been replaced. That a file cannot be read is not: the next use tries again. One instance serves all versions that a process opens.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { createOnce } from "../../base/concurrency.ts";
import { sha256Of } from "../../base/files.ts";
import { sha256InThread } from "../../base/hash-thread.ts";
import { DamagedFile, messageOf } from "../../base/user-error.ts";
import { Refusal, refuse } from "../../contract/errors.ts";
import { fileFault, type ListedFile } from "../../lake/listed-file.ts";
import { type Manifest, tableFilesOf } from "../../lake/manifest.ts";

/** Files up to this size are hashed here, within a millisecond; larger ones in a thread. */
const inThreadFromBytes = 1 << 20;

/** The outcome of a check; `fault` is undefined for an intact file. */
interface Check {
  readonly identity: string | undefined;
  readonly fault: string | undefined;
  readonly checkedAtMs: number;
}

/** What of a file is checked: its size, its content unless that is verified, or its content again. */
export type FileCheck = "size" | "content" | "again";

export class VerifiedFiles {
  private readonly checks = new Map<string, Check>();
  private readonly hashing = new Map<string, Promise<string | undefined>>();
  /** How often a file has been found damaged. */
  damages = 0;

  /** `onDamage` is called once when a file is found damaged. */
  constructor(
    private readonly folder: string,
    private readonly onDamage: (fault: string) => void = () => {},
  ) {}

  /** Returns the fault of a file as a message; undefined if it is intact. Rejects if it cannot be read. */
  async faultOf(file: ListedFile, check: FileCheck = "content"): Promise<string | undefined> {
    if (check === "again") return this.recheck(file);
    const identity = this.identityOf(file);
    const known = this.checkOf(file);
    if (identity !== undefined && known?.identity === identity) return known.fault;
    const fault = await fileFault(this.folder, file, "size");
    if (fault !== undefined) return this.record(file, identity, fault);
    return check === "size" ? undefined : this.hashOnce(file, identity);
  }

  private async recheck(file: ListedFile): Promise<string | undefined> {
    const identity = this.identityOf(file);
    try {
      return this.record(file, identity, await this.contentFaultOf(file));
    } catch (thrown) {
      this.checks.set(keyOf(file), { identity: undefined, fault: undefined, checkedAtMs: performance.now() });
      throw thrown;
    }
  }

  /** Returns the outcome of the last check of a file, on the clock of `performance.now`; undefined if it never was hashed. */
  checkOf(file: ListedFile): Check | undefined {
    return this.checks.get(keyOf(file));
  }

  /** Returns the identity of a file's content, which changes when it is written or replaced; undefined for a missing file. Throws if it cannot be read. */
  private identityOf({ path }: ListedFile): string | undefined {
    // Within microseconds: a thread of the pool would wait for a processor beside those that execute statements.
    const found = statSync(join(this.folder, path), { bigint: true, throwIfNoEntry: false });
    return found && `${found.ino} ${found.size} ${found.ctimeNs}`;
  }

  private hashOnce(file: ListedFile, identity: string | undefined): Promise<string | undefined> {
    const key = `${keyOf(file)} ${identity}`;
    return createOnce(this.hashing, key, async () => {
      const fault = this.record(file, identity, await this.contentFaultOf(file));
      this.hashing.delete(key);
      return fault;
    });
  }

  private contentFaultOf(file: ListedFile): Promise<string | undefined> {
    return fileFault(this.folder, file, "content", file.bytes > inThreadFromBytes ? sha256InThread : sha256Of);
  }

  private record(file: ListedFile, identity: string | undefined, fault: string | undefined): string | undefined {
    const previous = this.checkOf(file);
    this.checks.set(keyOf(file), { identity, fault, checkedAtMs: performance.now() });
    if (fault !== undefined && previous?.fault === undefined) {
      this.damages += 1;
      this.onDamage(fault);
    }
    return fault;
  }
}

const keyOf = ({ path, sha256 }: ListedFile): string => `${path} ${sha256}`;

/** A file that failed a query is hashed again after this time at the earliest. */
const recheckMs = 600_000;

/** The `Retry-After` of a request that needs a damaged file. */
const damagedRetrySeconds = 60;

/** The files of an open version. A damaged one stays out of use until the version is opened again, because the engine may have cached parts of it. */
export class VersionFiles {
  private readonly damaged = new Map<string, ListedFile>();

  constructor(private readonly verified: VerifiedFiles) {}

  get damagedPaths(): readonly string[] {
    return [...this.damaged.keys()];
  }

  /** Returns the fault of a file; undefined if it is intact (see `VerifiedFiles.faultOf`). Notes a damaged file. Rejects if it cannot be read. */
  async faultOf(file: ListedFile, check: FileCheck = "content"): Promise<string | undefined> {
    const fault = await this.verified.faultOf(file, check);
    if (fault !== undefined) this.damaged.set(file.path, file);
    return fault;
  }

  /**
   * Runs a query that reads files. Refuses with `data_unavailable` if one of them is damaged, or was written or replaced while the query read it; rejects
   * if one cannot be read.
   */
  async reading<T>(files: readonly ListedFile[], query: () => Promise<T>): Promise<T> {
    const before = await this.require(files);
    const requireSame = async (): Promise<void> => {
      if ((await this.require(files)) !== before) throw damagedData();
    };
    let result: T;
    try {
      result = await query();
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) await this.recheckFailed(files);
      await requireSame();
      throw thrown;
    }
    await requireSame();
    return result;
  }

  /**
   * Refuses with `data_unavailable` if one of the files is damaged; rejects if one cannot be read. Returns the identity of their contents. Hashes unverified
   * files one after another, so that a request for many hardly delays a request for few.
   */
  private async require(files: readonly ListedFile[]): Promise<string> {
    const identities: (string | undefined)[] = [];
    for (const file of files) {
      if ((await this.faultOf(file)) !== undefined || this.damaged.has(file.path)) throw damagedData();
      identities.push(this.verified.checkOf(file)?.identity);
    }
    return identities.join();
  }

  /** Hashes files again that failed a query, each at most once per `recheckMs`. */
  private async recheckFailed(files: readonly ListedFile[]): Promise<void> {
    const dueMs = performance.now() - recheckMs;
    for (const file of files)
      if ((this.verified.checkOf(file)?.checkedAtMs ?? Number.NEGATIVE_INFINITY) < dueMs)
        await this.faultOf(file, "again");
  }

  /** Returns whether a damaged file is intact again, so that the version should be opened again. */
  async isRepaired(): Promise<boolean> {
    for (const file of this.damaged.values())
      if ((await this.verified.faultOf(file).catch(messageOf)) === undefined) return true;
    return false;
  }
}

const damagedReason = "The data that this request needs is damaged. Retry later, or ask the operator to restore it.";

/** Returns the refusal of a request that needs a damaged file. */
export const damagedData = (): Refusal =>
  refuse("data_unavailable", { reason: damagedReason, retryAfter: damagedRetrySeconds });

/** Returns the files that every query depends on: dimensions and active listings. */
export function filesOfOpening({ tables }: Pick<Manifest, "tables">): readonly ListedFile[] {
  return [...tables.builds, ...tables.dealers, ...tables.tokens, ...tables.options, ...tables.listings];
}

/** Checks the content of the files that every query depends on, and throws if one is damaged. Checks the size of all others: requests that need a damaged one are refused. */
export async function checkFiles(files: VersionFiles, manifest: Manifest): Promise<void> {
  const needed = new Set(filesOfOpening(manifest));
  for (const file of needed) {
    const fault = await files.faultOf(file);
    if (fault !== undefined) throw new DamagedFile(fault);
  }
  for (const file of tableFilesOf(manifest)) if (!needed.has(file)) await files.faultOf(file, "size");
}
