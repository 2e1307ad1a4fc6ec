/** The extent of randomized and exhaustive tests: short in `npm test`, full in `npm run test:all`. */

const isFull = process.env.CARQUET_TESTS === "all";

/** Returns the extent of this run. */
export const extentOf = <T>(short: T, full: T): T => (isFull ? full : short);

/** The `skip` option of tests that only the full run includes. */
export const skipInShortRun = isFull ? false : "runs in npm run test:all";
