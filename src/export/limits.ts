/** Limits of exports, and what the process that writes one sends to its service besides rows. */

/** Sent when the export fails because a file of the lake is damaged. */
export const damagedMessage = "damaged";

/** The memory limit of the query engine. An export of any size needs half of it. */
export const exportMemory = "512MiB";

/** The most rows that are sorted at once, which takes some 200 MB. */
export const sortedRowsMax = 131_072;
