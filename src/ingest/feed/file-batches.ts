/**
 * Batches of small feed files of one shape, which one statement reads: planning a statement takes a hundred times as long as reading a small file.
 *
 * A statement fails as a whole. The files that wait are then read alone and in order, so that the error is that of the first invalid file.
 */
import { sep } from "node:path";
import type { FeedFile } from "./feed-file.ts";
import type { FeedTable } from "./feed-schema.ts";
import { batchBytesMax, type CheckedContent } from "./file-checks.ts";
import { describeFileError } from "./file-errors.ts";
import type { FileGroup, FileShape, ReadSettings } from "./file-formats.ts";

/** The most files of a batch by default: the plan of a statement grows with them. */
const batchFilesMax = 500;

export interface CheckedFile extends CheckedContent {
  readonly file: FeedFile;
  readonly shape: FileShape;
}

interface WaitingFile extends CheckedFile {
  /** Its place in the delivery. */
  readonly place: number;
}

/** A batch whose statement has failed, and the tables that had been read of it before. */
interface FailedBatch {
  readonly batch: readonly WaitingFile[];
  readonly done: ReadonlySet<FeedTable>;
  readonly thrown: unknown;
}

/** Reads a group of files, and adds the tables that it has read to `done`, which it skips. */
type ReadGroup = (group: FileGroup, done: Set<FeedTable>) => Promise<void>;

export class FileBatches {
  private readonly batches = new Map<string, WaitingFile[]>();
  private added = 0;

  /** `refuse` is called with the error of each file that cannot be read, and throws it unless the others go in without it. */
  constructor(
    private readonly settings: ReadSettings,
    private readonly readGroup: ReadGroup,
    private readonly refuse: (file: FeedFile, thrown: unknown) => void,
  ) {}

  /** Adds a file to the batch of its shape, and reads batches that are full. */
  async add(checked: CheckedFile): Promise<void> {
    const { batchFilesMax: filesMax = batchFilesMax } = this.settings;
    const key = keyOf(checked);
    const waiting = this.batches.get(key) ?? [];
    if (bytesIn(waiting) + bytesIn([checked]) > batchBytesMax) await this.read(key);
    const batch = this.batches.get(key) ?? [];
    batch.push({ ...checked, place: this.added });
    this.added += 1;
    this.batches.set(key, batch);
    if (batch.length >= filesMax || bytesIn(batch) >= batchBytesMax) await this.read(key);
  }

  /** Reads all files that wait. */
  async readAll(): Promise<void> {
    for (const key of this.batches.keys()) await this.read(key);
  }

  private async read(key: string): Promise<void> {
    const batch = this.batches.get(key) ?? [];
    const [first] = batch;
    if (first === undefined) return;
    const done = new Set<FeedTable>();
    try {
      const files = batch.map(({ file }) => file);
      await this.readGroup({ files, file: first.file, shape: first.shape }, done);
      this.batches.delete(key);
    } catch (thrown) {
      await this.readAlone({ batch, done, thrown });
    }
  }

  /** Reads each file that waits alone, without the tables that have been read of it. Refuses the invalid ones in order. */
  private async readAlone({ batch, done, thrown }: FailedBatch): Promise<void> {
    const waiting = [...this.batches.values()].flat().sort((one, other) => one.place - other.place);
    this.batches.clear();
    for (const one of waiting) {
      const { file, shape } = one;
      const isOfBatch = batch.includes(one);
      try {
        if (isOfBatch && batch.length === 1) throw thrown;
        await this.readGroup({ files: [file], file, shape }, isOfBatch ? new Set(done) : new Set());
      } catch (error) {
        const context = { columns: shape.columns, limits: this.settings.limits };
        this.refuse(file, await describeFileError(file, context, error));
      }
    }
  }
}

/** Returns a text that files have in common if one statement can read them and distinguish them by their paths. */
function keyOf({ file, shape }: CheckedFile): string {
  const { table, format, isGzip, layout, mapping } = file;
  return JSON.stringify([table, format, isGzip, placeOf(file), layout, mapping?.name, shape]);
}

/** Returns the folder from which the path of a file is its name; the path itself if its name is another, or its folder, as in an archive. */
function placeOf({ path, name, folder }: FeedFile): string {
  const depth = name.split("/").length;
  const parts = path.split(sep);
  const isNamed = parts.slice(-depth).join("/") === name && (folder ?? parts.at(-2)) === parts.at(-2);
  return isNamed ? `${depth} ${parts.slice(0, -depth).join(sep)}` : path;
}

/** Returns the content of a batch. A file that is larger, or has odd quotes, is read alone: the first saves numbering the rows of several. */
const bytesIn = (files: readonly CheckedContent[]): number =>
  files.reduce((sum, { bytes, hasOddQuotes }) => sum + (hasOddQuotes ? batchBytesMax : bytes), 0);
