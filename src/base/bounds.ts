/** Every limit of the service that `schemas/openapi.yaml` does not state: concurrency, queues, timeouts and cache sizes. */
import { availableParallelism } from "node:os";

export const bounds = {
  /** Concurrent queries: one can be planned while another executes. Leaves threads of the pool free, also while versions change. */
  sessions: Math.min(8, 2 * availableParallelism()),
  /** Queries that may wait for a session; more are refused as `overloaded`. */
  waitingQueries: 512,
  /** From the arrival of a query to its result. */
  deadlineMs: 10_000,
  /** The default size of the response cache. */
  responseCacheBytes: 64 * 2 ** 20,
  /** How often the server checks for a new version. */
  publishedPollMs: 250,
  /** How long a stopping server waits for requests in flight. */
  drainMs: 30_000,
  /** Timeouts for receiving the headers of a request, and all of it. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** The size of a request's headers with its path and query, and their number. */
  headerBytes: 16_384,
  headers: 100,
  /** Open connections. */
  connections: 10_000,
  /** How often the server checks whether the daily tier review is due. */
  reviewPollMs: 60_000,
  /** How long an idle connection stays open. */
  keepAliveMs: 65_000,
  /** The highest page end (offset + limit) that a bounded heap finds; beyond it, all matches are sorted. */
  heapRows: 10_000,
  /** The longest diagonal of a `bbox`. */
  boxDiagonalMilesMax: 1000,
  /** The fewest listings of a bucket with a metric; smaller buckets have `insufficient_sample`. */
  metricListingsMin: 10,
  /** The most ranges of a range facet. */
  rangeBuckets: 20,
  /** The most ranges of a range facet with a requested `interval`. */
  fixedRangeBuckets: 100,
  /** Up to this many matches, counting ids in typed arrays is faster than counting in the engine (measured by bench/search-index). */
  fetchedMatches: 100_000,
  /** The search index caches this many first listings of each sort. */
  firsts: 10_000,
  /** Defaults of the limits of a feed file: its size, as stored and uncompressed, and the ratio of the two. */
  feedFileBytes: 2 * 2 ** 30,
  feedUncompressedBytes: 8 * 2 ** 30,
  feedCompressionRatio: 200,
  /** Its rows, the size of one, and how deep the arrays and objects of one are nested. */
  feedRows: 10_000_000,
  feedRecordBytes: 256 * 2 ** 10,
  feedNesting: 32,
  /** Columns of a feed file. The plan of a query grows with them. */
  feedColumns: 1000,
  /** The footer of a Parquet feed: a hundred row groups of all fields take up less than 1 MB. */
  parquetFooterBytes: 64 * 2 ** 20,
  /** Characters of an unusable value that are kept in `rejects`. */
  rejectedValueCharacters: 200,
  /** The Parquet source keeps the matches of a facet request in memory up to this share of the listings. */
  keptMatchesShare: 0.25,
} as const;
