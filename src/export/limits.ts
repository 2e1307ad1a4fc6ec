/** Limits of exports, and what the process that writes a file sends to the service that has started it. */

/**
 * What a writer reports: its end, that a file of the lake is damaged, why a statement failed, or the processor
 * time of its statements and whether one has run.
 */
export type WriterMessage =
  | { readonly rows: number; readonly bytes: number }
  | { readonly isDamaged: true }
  | { readonly invalid: string }
  | { readonly usedMs: number; readonly hasRun: boolean };

/** Sends a message to the service that has started this process, if one has. */
export const report = (message: WriterMessage): void => void process.send?.(message);

/** The memory limit of the query engine. An export of any size needs half of it. */
export const exportMemory = "512MiB";

/** The most rows that are sorted at once, which takes some 200 MB. */
export const sortedRowsMax = 131_072;

/** Settings of the query engine: freed memory goes back to the system at once, which takes a sixth more time and two fifths less memory. */
export const exportEngineSettings = { allocator_bulk_deallocation_flush_threshold: "1MiB" } as const;
