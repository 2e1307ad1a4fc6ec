/** Limits of exports. */

/** The memory limit of the query engine. An export of any size needs half of it. */
export const exportMemory = "1GiB";

/** The most rows that are sorted at once, which takes some 400 MB. */
export const sortedRowsMax = 262_144;
