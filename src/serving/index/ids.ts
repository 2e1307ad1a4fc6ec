/** Ids of a search index: one number space for all columns, so that one array counts them all. */

/** An unknown value, in every column. */
export const unknownId = 0;

/** The first id of the dictionary. Smaller ids belong to the ranges of a request. */
export const firstValueId = 1024;
