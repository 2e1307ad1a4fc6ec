/** How the ids of a search index are laid out: one space for all columns, so that one plain array counts them all. */

/** An unknown value, in every column. */
export const unknownId = 0;

/** The id of the first value of the dictionary; those below are of the ranges of a request. */
export const firstValueId = 1024;
