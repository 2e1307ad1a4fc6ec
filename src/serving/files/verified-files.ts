/**
 * Verified files: which files of a lake have the size and SHA-256 that the manifest lists.
 *
 * A file is hashed at its first use, and again when its inode, size or change time differs. Both outcomes are remembered: a damaged file
 * is not hashed again until it has been replaced. That a file cannot be read is not: the next use tries again. One instance serves all versions that a process opens.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createOnce } from "../../base/concurrency.ts";
import { sha256Of } from "../../base/files.ts";
import { sha256InThread } from "../../base/hash-thread.ts";
import { fileFault, type ListedFile } from "../../lake/listed-file.ts";

/** Files up to this size are hashed here, within a millisecond; larger ones in a thread. */
const inThreadFromBytes = 1 << 20;

/** The outcome of a check; `fault` is undefined for an intact file. */
interface Check {
  readonly identity: string | undefined;
  readonly fault: string | undefined;
  readonly checkedAtMs: number;
}

export class VerifiedFiles {
  private readonly checks = new Map<string, Check>();
  private readonly hashing = new Map<string, Promise<string | undefined>>();
  private damageCount = 0;

  /** `onDamage` is called once when a file is found damaged. */
  constructor(
    private readonly folder: string,
    private readonly onDamage: (fault: string) => void = () => {},
  ) {}

  /** How often a file has been found damaged. */
  get damages(): number {
    return this.damageCount;
  }

  /** Returns the fault of a file as a message; undefined if it is intact. Rejects if it cannot be read. With `size`, does not hash a file that is not verified yet. */
  async faultOf(file: ListedFile, check: "size" | "content" = "content"): Promise<string | undefined> {
    const identity = await this.identityOf(file);
    const known = this.checks.get(keyOf(file));
    if (identity !== undefined && known?.identity === identity) return known.fault;
    const fault = await fileFault(this.folder, file, "size");
    if (fault !== undefined) return this.record(file, identity, fault);
    return check === "size" ? undefined : this.hashOnce(file, identity);
  }

  /** Hashes a file, even if it is verified. Returns its fault; rejects if it cannot be read. */
  async recheck(file: ListedFile): Promise<string | undefined> {
    const identity = await this.identityOf(file);
    try {
      return this.record(file, identity, await this.contentFaultOf(file));
    } catch (thrown) {
      this.checks.set(keyOf(file), { identity: undefined, fault: undefined, checkedAtMs: performance.now() });
      throw thrown;
    }
  }

  /** Returns when a file was hashed last (`performance.now`); minus infinity if it never was. */
  checkedAtMs(file: ListedFile): number {
    return this.checks.get(keyOf(file))?.checkedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Returns the identity of a file's content, which changes when the file is written or replaced; undefined for an unreadable file. */
  private async identityOf({ path }: ListedFile): Promise<string | undefined> {
    const found = await stat(join(this.folder, path), { bigint: true }).catch(() => undefined);
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
    const previous = this.checks.get(keyOf(file));
    this.checks.set(keyOf(file), { identity, fault, checkedAtMs: performance.now() });
    if (fault !== undefined && previous?.fault === undefined) {
      this.damageCount += 1;
      this.onDamage(fault);
    }
    return fault;
  }
}

const keyOf = ({ path, sha256 }: ListedFile): string => `${path} ${sha256}`;
