/** Every bound that is not in the document, unit last. */
export const bounds = {
  /** Queries that run at once; each uses all processors. Leaves room in the thread pool for files. */
  sessions: 8,
  /** Queries that may wait for a session; more are refused as overload. */
  waitingQueries: 512,
  /** From a query's arrival to its answer. */
  deadlineMs: 10_000,
  /** How often the server looks whether another version has been published. */
  publishedPollMs: 250,
  /** How long a stopping server waits for the requests in flight. */
  drainMs: 30_000,
  /** A request's headers must have arrived by then. */
  headersMs: 10_000,
  /** An idle connection is kept open for so long. */
  keepAliveMs: 65_000,
  /** The greatest page end (offset + limit) that is found by a bounded heap; beyond, the matches are sorted. */
  heapRows: 10_000,
} as const;
