/** Limits of exports, and what the process that writes one sends to its service besides rows. */

/** Sent when the export fails because a file of the lake is damaged. */
export const damagedMessage = "damaged";

/** The memory limit of the query engine. An export of any size needs half of it. */
export const exportMemory = "512MiB";

/** The most rows that are sorted at once, which takes some 200 MB. */
export const sortedRowsMax = 131_072;

/** Settings of the query engine: freed memory goes back to the system at once, which takes a sixth more time and two fifths less memory. */
export const exportEngineSettings = { allocator_bulk_deallocation_flush_threshold: "1MiB" } as const;
