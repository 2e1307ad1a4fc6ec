/** Every bound that is not in the document, unit last. */
import { availableParallelism } from "node:os";

export const bounds = {
  /** Queries that run at once: while one is planned, others are worked on. Leaves room in the thread pool, also while versions change. */
  sessions: Math.min(8, 2 * availableParallelism()),
  /** Queries that may wait for a session; more are refused as overload. */
  waitingQueries: 512,
  /** From a query's arrival to its answer. */
  deadlineMs: 10_000,
  /** Answers that are kept, unless told otherwise. */
  answerBytes: 64 * 2 ** 20,
  /** How often the server looks whether another version has been published. */
  publishedPollMs: 250,
  /** How long a stopping server waits for the requests in flight. */
  drainMs: 30_000,
  /** A request's headers must have arrived by then, and all of it. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** All headers of a request together, its path and query among them, and how many they may be. */
  headerBytes: 16_384,
  headers: 100,
  /** Connections that are open at once. */
  connections: 10_000,
  /** How often the server looks whether a day's tier review is due. */
  reviewPollMs: 60_000,
  /** An idle connection is kept open for so long. */
  keepAliveMs: 65_000,
  /** The greatest page end (offset + limit) that is found by a bounded heap; beyond, the matches are sorted. */
  heapRows: 10_000,
  /** From corner to corner of a bbox (section 8.1 of the specification). */
  boxDiagonalMilesMax: 1000,
  /** The fewest listings of a bucket that a metric is given for. */
  metricListingsMin: 10,
  /** The most ranges of a numeric facet. */
  rangeBuckets: 20,
  /** The most ranges of a numeric facet whose width a request fixes. */
  fixedRangeBuckets: 100,
  /** Up to so many matches, fetching ids and counting them in typed arrays costs less than counting in the engine (bench/search-index). */
  fetchedMatches: 100_000,
  /** So many of the first listings in each sort are kept in memory. */
  firsts: 10_000,
  /** Matches of a facet request are kept in memory when they are at most this share of the listings. */
  keptMatchesShare: 0.25,
} as const;
