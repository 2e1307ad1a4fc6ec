/**
 * How a service divides the memory of the machine, or of its container: Node.js, the columns of search indexes, the exports written at once, and the
 * ingests of `carquet run` have their part, and the query engine takes what is left if `--memory` does not say.
 */
import { totalmem } from "node:os";
import { bytesIn } from "./option-parsers.ts";

export interface MemorySettings {
  /** Set by `--memory`. */
  readonly memoryLimit?: string | undefined;
  readonly exportMemory: string;
  /** The exports that are written at once. */
  readonly writtenExports: number;
  /** Of `carquet run`, whose ingests run one at a time. */
  readonly ingestMemory?: string;
}

const mib = 2 ** 20;
const gib = 2 ** 30;

/** What Node.js takes at most in a service and in an ingest, and in the process that writes an export, beside their query engines. */
export const nodeBytes = { service: gib, ingest: gib, export: 512 * mib } as const;

/** The process of statements is ended before it takes all of what an export may: it grows until it has ended. */
const statementNodeBytes = 384 * mib;

/** The share of the memory that columns of search indexes take at most, and the least that they have. */
const columnShare = 1 / 8;
const columnBytesMin = 128 * mib;

/** Returns the memory limit of the columns of search indexes: see `ColumnCache`. */
export const columnMemory = (total = availableMemory()): number =>
  Math.round(Math.max(columnBytesMin, columnShare * total));

/** The largest share of the memory that the engine takes, and the least it needs to answer. */
const engineShareMax = 0.8;
const engineBytesMin = 256 * mib;

/** Returns the memory limit of a service's query engine as DuckDB reads it; without `--memory` one that lets all processes fit into `total` bytes. */
export function engineMemory(settings: MemorySettings, total = availableMemory()): string {
  const { memoryLimit, exportMemory, writtenExports, ingestMemory } = settings;
  if (memoryLimit !== undefined) return memoryLimit;
  const exports = writtenExports * (limitBytes(exportMemory, total) + nodeBytes.export);
  const ingest = ingestMemory === undefined ? 0 : limitBytes(ingestMemory, total) + nodeBytes.ingest;
  const left = total - nodeBytes.service - columnMemory(total) - exports - ingest;
  return `${Math.round(Math.max(engineBytesMin, Math.min(left, engineShareMax * total)) / mib)}MiB`;
}

/** Returns the memory at which a process of statements is ended, by the limit of its query engine. */
export const statementBytes = (memoryLimit: string): number =>
  limitBytes(memoryLimit, availableMemory()) + statementNodeBytes;

/** Returns the bytes of the machine, or of the container if it has fewer. */
function availableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Returns the bytes of a memory limit: a size, or a share of `total`. */
const limitBytes = (limit: string, total: number): number => bytesIn(limit) ?? (Number.parseFloat(limit) / 100) * total;
