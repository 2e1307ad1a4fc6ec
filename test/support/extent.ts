/**
 * The extent of a run, which `CARQUET_TESTS` sets: `npm test` leaves out the tests that cost the most, and draws little at random. With `every`,
 * all tests run with short draws; with `all`, they run in full, as in `npm run test:all`.
 */

const extents = ["short", "every", "all"] as const;
const requested = process.env.CARQUET_TESTS ?? "short";
const extent = extents.find((name) => name === requested);
if (extent === undefined)
  throw new Error(`Invalid value "${requested}" for CARQUET_TESTS: expected ${extents.join(", ")}.`);

/** Returns the extent of randomized and exhaustive tests in this run. */
export const extentOf = <T>(short: T, full: T): T => (extent === "all" ? full : short);

/** The `skip` option of tests that only `npm run test:all` includes. */
export const skipUnlessFull = extent === "all" ? false : "runs in npm run test:all";

/** The `skip` option of tests that `npm test` leaves out. */
export const skipInShortRun = extent === "short" ? "runs in npm run test:all" : false;

/** Returns every `step`-th case in `npm test`, and all cases in other runs: for cases that differ in their data alone, and cost much. */
export const sampled = <T>(cases: readonly T[], step: number): readonly T[] =>
  extent === "short" ? cases.filter((_, index) => index % step === 0) : cases;
