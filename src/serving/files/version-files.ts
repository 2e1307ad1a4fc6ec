/**
 * The files of an open version, and which of them are disabled.
 *
 * A damaged file stays disabled until the version is opened again, because the engine may have cached parts of it.
 */
import { DamagedFile, messageOf } from "../../base/user-error.ts";
import { type Refusal, refuse } from "../../contract/errors.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { ListedFile } from "../../lake/listed-file.ts";
import { filesOf, type Manifest, tableFilesOf } from "../../lake/manifest.ts";
import type { VerifiedFiles } from "./verified-files.ts";

/** A file that failed a query is hashed again, and an intact one used again, after this time at the earliest. */
const recheckMs = 600_000;

/** The `Retry-After` of a request that needs a damaged file. */
const damagedRetrySeconds = 60;

interface DisabledFile {
  readonly file: ListedFile;
  /** When it may be used again if it is intact, in terms of `performance.now`; 0 for a damaged file. */
  readonly untilMs: number;
}

export class VersionFiles {
  private readonly disabled = new Map<string, DisabledFile>();
  private readonly files: readonly ListedFile[];

  constructor(
    manifest: Pick<Manifest, "tables" | "serving">,
    private readonly verified: VerifiedFiles,
  ) {
    this.files = filesOf(manifest);
  }

  get damagedPaths(): readonly string[] {
    return [...this.disabled].flatMap(([path, { untilMs }]) => (untilMs === 0 ? [path] : []));
  }

  get count(): number {
    return this.files.length;
  }

  /** Returns the fault of a file; undefined if it is intact (see `VerifiedFiles.faultOf`). Disables a damaged file. Rejects if it cannot be read. */
  async faultOf(file: ListedFile, check: "size" | "content" = "content"): Promise<string | undefined> {
    return this.noteFault(file, await this.verified.faultOf(file, check));
  }

  /** Hashes a file, even if it is verified. Disables a damaged file and returns its fault. Rejects if it cannot be read. */
  async recheck(file: ListedFile): Promise<string | undefined> {
    return this.noteFault(file, await this.verified.recheck(file));
  }

  /**
   * Refuses with `data_unavailable` if one of the files is damaged; rejects if one cannot be read. Hashes unverified files one after another, so that a request for many hardly
   * delays a request for few.
   */
  async require(files: readonly ListedFile[]): Promise<void> {
    for (const file of files)
      if ((await this.faultOf(file)) !== undefined || this.disabled.has(file.path)) throw damagedData();
  }

  /** Hashes files again that failed a query, each at most once per `recheckMs`. */
  async recheckFailed(files: readonly ListedFile[]): Promise<void> {
    const dueMs = performance.now() - recheckMs;
    for (const file of files) if (this.verified.checkedAtMs(file) < dueMs) await this.recheck(file);
  }

  /** Puts a file out of use that failed: until it is replaced if it is damaged, else for `recheckMs`, also if it cannot be read. */
  async disable(file: ListedFile): Promise<void> {
    this.disabled.set(file.path, { file, untilMs: performance.now() + recheckMs });
    await this.recheck(file).catch(undefinedIfUnreadable);
  }

  /** Returns whether a disabled file is intact again, so that the version should be reopened. */
  async isRepaired(): Promise<boolean> {
    for (const { file, untilMs } of this.disabled.values())
      if (performance.now() >= untilMs && (await this.isIntact(file))) return true;
    return false;
  }

  /** Hashes a file that cannot be read again after `recheckMs`. */
  private async isIntact(file: ListedFile): Promise<boolean> {
    const fault = await this.verified.faultOf(file).catch((thrown: unknown) => {
      this.disabled.set(file.path, { file, untilMs: performance.now() + recheckMs });
      return messageOf(thrown);
    });
    return fault === undefined;
  }

  private noteFault(file: ListedFile, fault: string | undefined): string | undefined {
    if (fault !== undefined) this.disabled.set(file.path, { file, untilMs: 0 });
    return fault;
  }
}

/** Returns undefined for the error of a file that cannot be read; throws others. */
function undefinedIfUnreadable(thrown: unknown): undefined {
  if (classifyFault(thrown) !== "io error") throw thrown;
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
