/**
 * The files of an open version, and which of them are damaged.
 *
 * A damaged file stays out of use until the version is opened again, because the engine may have cached parts of it.
 */
import { DamagedFile, messageOf } from "../../base/user-error.ts";
import { type Refusal, refuse } from "../../contract/errors.ts";
import type { ListedFile } from "../../lake/listed-file.ts";
import { filesOf, type Manifest, tableFilesOf } from "../../lake/manifest.ts";
import type { VerifiedFiles } from "./verified-files.ts";

/** A file that failed a query is hashed again after this time at the earliest. */
const recheckMs = 600_000;

/** The `Retry-After` of a request that needs a damaged file. */
const damagedRetrySeconds = 60;

export class VersionFiles {
  private readonly damaged = new Map<string, ListedFile>();
  private readonly files: readonly ListedFile[];

  constructor(
    manifest: Pick<Manifest, "tables" | "serving">,
    private readonly verified: VerifiedFiles,
  ) {
    this.files = filesOf(manifest);
  }

  get damagedPaths(): readonly string[] {
    return [...this.damaged.keys()];
  }

  get count(): number {
    return this.files.length;
  }

  /** Returns the fault of a file; undefined if it is intact (see `VerifiedFiles.faultOf`). Notes a damaged file. Rejects if it cannot be read. */
  async faultOf(file: ListedFile, check: "size" | "content" = "content"): Promise<string | undefined> {
    return this.noteFault(file, await this.verified.faultOf(file, check));
  }

  /** Hashes a file, even if it is verified. Notes a damaged file and returns its fault. Rejects if it cannot be read. */
  async recheck(file: ListedFile): Promise<string | undefined> {
    return this.noteFault(file, await this.verified.recheck(file));
  }

  /**
   * Refuses with `data_unavailable` if one of the files is damaged; rejects if one cannot be read. Hashes unverified files one after another, so that a request for many hardly
   * delays a request for few.
   */
  async require(files: readonly ListedFile[]): Promise<void> {
    for (const file of files)
      if ((await this.faultOf(file)) !== undefined || this.damaged.has(file.path)) throw damagedData();
  }

  /** Hashes files again that failed a query, each at most once per `recheckMs`. */
  async recheckFailed(files: readonly ListedFile[]): Promise<void> {
    const dueMs = performance.now() - recheckMs;
    for (const file of files) if (this.verified.checkedAtMs(file) < dueMs) await this.recheck(file);
  }

  /** Returns whether a damaged file is intact again, so that the version should be opened again. */
  async isRepaired(): Promise<boolean> {
    for (const file of this.damaged.values())
      if ((await this.verified.faultOf(file).catch(messageOf)) === undefined) return true;
    return false;
  }

  private noteFault(file: ListedFile, fault: string | undefined): string | undefined {
    if (fault !== undefined) this.damaged.set(file.path, file);
    return fault;
  }
}

const damagedReason = "The data that this request needs is damaged. Retry later, or ask the operator to restore it.";

/** Returns the refusal of a request that needs a damaged file. */
export const damagedData = (): Refusal =>
  refuse("data_unavailable", { reason: damagedReason, retryAfter: damagedRetrySeconds });

/**
 * Checks the content of the files that every query depends on (dimensions and active listings), and throws if one is damaged. Checks the
 * size of all others: requests that need a damaged one are refused.
 */
export async function checkFiles(files: VersionFiles, manifest: Manifest): Promise<void> {
  const { tables } = manifest;
  const dimensions = [...tables.builds, ...tables.dealers, ...tables.tokens, ...tables.options];
  const needed = new Set<ListedFile>([...dimensions, ...tables.listings]);
  for (const file of needed) {
    const fault = await files.faultOf(file);
    if (fault !== undefined) throw new DamagedFile(fault);
  }
  for (const file of tableFilesOf(manifest)) if (!needed.has(file)) await files.faultOf(file, "size");
}
