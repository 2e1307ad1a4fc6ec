/**
 * How a service divides the memory of the machine, or of its container: Node.js, the exports written at once, and the ingests of `carquet run` have
 * their part, and the query engine takes what is left if `--memory` does not say.
 */
import { totalmem } from "node:os";

export interface MemorySettings {
  /** Set by `--memory`. */
  readonly memoryLimit?: string | undefined;
  readonly exportMemory: string;
  /** The exports that are written at once. */
  readonly writtenExports: number;
  /** Of `carquet run`, whose ingests run one at a time. */
  readonly ingestMemory?: string;
}

const [mib, gib] = [2 ** 20, 2 ** 30];

/** What Node.js takes at most in a service and in an ingest, and in the process that writes an export, beside their query engines. */
export const nodeBytes = { service: gib, ingest: gib, export: 512 * mib } as const;

/** The largest share of the memory that the engine takes, and the least it needs to answer. */
const [engineShareMax, engineBytesMin] = [0.8, 256 * mib];

/** Returns the memory limit of a service's query engine as DuckDB reads it; without `--memory` one that lets all processes fit into `total` bytes. */
export function engineMemory(settings: MemorySettings, total = availableMemory()): string {
  const { memoryLimit, exportMemory, writtenExports, ingestMemory } = settings;
  if (memoryLimit !== undefined) return memoryLimit;
  const bytesIn = (limit: string): number => bytesOf(limit, total);
  const exports = writtenExports * (bytesIn(exportMemory) + nodeBytes.export);
  const ingest = ingestMemory === undefined ? 0 : bytesIn(ingestMemory) + nodeBytes.ingest;
  const left = total - nodeBytes.service - exports - ingest;
  return `${Math.round(Math.max(engineBytesMin, Math.min(left, engineShareMax * total)) / mib)}MiB`;
}

/** Returns the bytes of the machine, or of the container if it has fewer. */
function availableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Returns the bytes that DuckDB reads in a memory limit which `memoryParser` accepts. */
function bytesOf(limit: string, total: number): number {
  const [, number, unit = "", binary] = /^([\d.]+)\s*([KMGT%])(i?)B?$/i.exec(limit) ?? [];
  if (unit === "%") return (Number(number) / 100) * total;
  const power = 1 + "KMGT".indexOf(unit.toUpperCase());
  return Number(number) * (binary === "" ? 1000 : 1024) ** power;
}
