/** Every limit of the service that `schemas/openapi.yaml` does not state: concurrency, queues, timeouts and cache sizes. */
import { availableParallelism } from "node:os";

export const bounds = {
  /**
   * Concurrent queries. One account uses at most half of them, two for each processor: one query can be planned while another executes.
   * Leaves threads of the pool free, also while versions change.
   */
  sessions: Math.min(12, 4 * availableParallelism()),
  /** Queries that may wait for a session; beyond it, the account with the most of them is refused as `overloaded`. */
  waitingQueries: 512,
  /** Requests of one account in progress, waiting ones included. */
  concurrentRequests: 128,
  /** Session time of an uncharged request that counts as one request against the rate limits. */
  unchargedMs: 100,
  /** From the arrival of a request to its response. */
  deadlineMs: 10_000,
  /** The most values of a facet among which `facet_value_prefix` looks. */
  facetValues: 100_000,
  /** The size of a request to the agent server, and of an answer, in characters of JSON. */
  agentRequestBytes: 65_536,
  answerCharacters: 40_000,
  /** The default size of the response cache. */
  responseCacheBytes: 64 * 2 ** 20,
  /** How often the server checks for a new version. */
  publishedPollMs: 250,
  /** How often it looks how the last ingest ended. */
  ingestRecordPollMs: 1_000,
  /** The size of the record of the last ingest that a follower reads. */
  ingestRecordBytes: 65_536,
  /** How long a stopping service continues to accept requests, unless set, and how long it then waits for those in flight. */
  drainDelayMs: 500,
  drainMs: 30_000,
  /**
   * Behind a proxy, how long no request must have arrived before a stopping service closes its port, and how long it waits for that: less than
   * proxies avoid a server that has failed.
   */
  quietMs: 300,
  refusingMs: 1_500,
  /** How long the lake and the accounts file may then take to close; what still hangs is killed. */
  closeMs: 5_000,
  /** How long a stopping service waits for the first request of a connection. */
  unusedConnectionMs: 500,
  /** Log lines that wait for standard error; lines beyond this size are dropped. */
  logBytes: 2 ** 20,
  /** Log lines are written when this much waits, or after this time. */
  logChunkBytes: 4096,
  logFlushMs: 100,
  /** How soon a write of the log is repeated: to a full pipe, and after an error. */
  logPipeMs: 10,
  logRetryMs: 1000,
  /** How long a stopping service waits for the last write of the log. */
  logCloseMs: 1000,
  /** How often the files of the TLS certificate are checked for changes, and how long they must have been unchanged. */
  certificatePollMs: 1000,
  certificateSettleMs: 250,
  /** Timeouts for receiving the headers of a request, and all of it. */
  headersMs: 10_000,
  requestMs: 30_000,
  /** Smaller responses are not compressed: they fit into two packets. */
  compressedBytesMin: 2048,
  /** The size of a request's path and query; of these and the headers together; and the number of headers. */
  uriBytes: 16_384,
  headerBytes: 32_768,
  headers: 100,
  /** A longer form of the web application is refused. */
  formBytes: 16_384,
  /** How much of a body that is too long is received, and discarded, before the connection is closed. */
  discardedBodyBytes: 8 * 2 ** 20,
  /** How long a connection whose request the HTTP parser rejects stays open, for the client to read the response. */
  rejectedConnectionMs: 1000,
  /** Open connections, if the limit of file descriptors allows as many. */
  connections: 10_000,
  /** Further connections, which only health checks are answered on; the oldest of them is closed for the next one. */
  healthConnections: 64,
  /** The default of the open connections of one client address. */
  connectionsPerAddress: 1_000,
  /** From the arrival of a request to the end of its response: closes the connections of clients that read too slowly. */
  responseMs: 60_000,
  /** Authentications with invalid API keys from one client address (IPv6: one /64 network); further ones are refused. */
  failedAuthentications: { failuresMax: 100, windowMs: 60_000, networksMax: 10_000 },
  /**
   * Failed sign-ins to one account from one client address, to one account, and from one client address; further attempts are refused. The
   * first also limits wrong current passwords when the password of an account is changed.
   */
  failedSignIns: { failuresMax: 10, windowMs: 900_000, networksMax: 10_000 },
  failedSignInsOfAccount: { failuresMax: 100, windowMs: 900_000, networksMax: 10_000 },
  failedSignInsOfAddress: { failuresMax: 50, windowMs: 900_000, networksMax: 10_000 },
  /** Password hashes that are computed at once, each in 128 MiB, and those that wait. */
  passwordHashes: 2,
  waitingPasswordHashes: 20,
  /** Registrations of OAuth clients, with fetches of client ID metadata documents, from one client address, and authorization requests. */
  clientRegistrations: { failuresMax: 60, windowMs: 3_600_000, networksMax: 10_000 },
  authorizationRequests: { failuresMax: 100, windowMs: 600_000, networksMax: 10_000 },
  /** The size of a registration, and of a client ID metadata document. */
  registrationBytes: 8_192,
  clientDocumentBytes: 5_120,
  /** How long a registered client is kept that has not been given a token, and since it was last given one. */
  unusedClientMs: 86_400_000,
  usedClientMs: 90 * 86_400_000,
  /** Lifetimes of what the authorization server issues, in seconds: a refresh token is replaced with each use. */
  authorizationRequestSeconds: 900,
  authorizationCodeSeconds: 60,
  accessTokenSeconds: 3_600,
  refreshTokenSeconds: 30 * 86_400,
  /** The most polls that pass before a version that does not open is tried again. */
  openPollsMax: 40,
  /** How often the server checks whether the daily tier review is due. */
  reviewPollMs: 60_000,
  /** How long an idle connection stays open. */
  keepAliveMs: 65_000,
  /** The most places of an `exclude_assembly_location`, like the `maxItems` of other lists. */
  listItems: 100,
  /** The most values of `meta.unmatched` that have a suggestion. */
  suggestions: 10,
  /** The longest diagonal of a `bbox`. */
  boxDiagonalMilesMax: 1000,
  /** The fewest listings with a known value that have a metric; fewer have `insufficient_sample`. */
  metricListingsMin: 10,
  /** The most ranges of a range facet. */
  rangeBucketsMax: 20,
  /** The most ranges of a range facet with a requested `interval`. */
  fixedRangeBucketsMax: 100,
  /** The most intervals of a trend, and the most values: intervals times series of all facets times metrics. */
  trendIntervalsMax: 400,
  trendValuesMax: 20_000,
  /** The most listings in the snapshots that a trend reads: two cores measure as many within the deadline, if no filter narrows them. */
  trendListingsMax: 100_000_000,
  /** The default period of a trend. */
  trendDays: 90,
  /** The days up to and including a point whose sales are the denominator of its days of supply. */
  supplyDays: 30,
  /** Up to this many matches, counting ids in typed arrays is faster than counting in the engine (measured by bench/search-index). */
  fetchedMatches: 100_000,
  /** Earlier metadata files that an Iceberg table keeps, for readers that have just opened one. */
  icebergMetadataFiles: 10,
  /** Files of a table's Iceberg metadata that are written and synced at once. */
  icebergFilesAtOnce: 32,
  /** Rows of a table that the SQL shell shows; other modes and `.output` write all of them. */
  shellTableRows: 1_000,
  /** Lines that the SQL shell's history keeps. */
  shellHistoryLines: 1_000,
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
  /** How fast the scrub reads files by default, in bytes per hour: 1.2 MB a second take 0.1 % of a processor. */
  scrubBytesPerHour: 4096 * 2 ** 20,
  /** How long the scrub pauses after each file. */
  scrubPauseMs: 250,
  /** A file that failed a query is hashed again, and an intact one used again, after this time at the earliest. */
  recheckMs: 600_000,
  /** The memory of the database that writes Parquet responses, which have at most a page of rows. */
  encoderMemory: "256MiB",
  /** The memory limit of the query engine of an export, by default. An export needs half of it, whatever its size. */
  exportMemory: "1GiB",
  /** The most rows of an export that are sorted at once, which takes some 400 MB. */
  exportRangeRows: 262_144,
  /** Defaults of the exports that are written at once, and of those of one account in progress, until the last byte is sent. */
  exports: 2,
  accountExports: 4,
  /** How long an export may take to be written, by default, and then to be sent. */
  exportDeadlineMs: 1_800_000,
  /** The default of the disk space of exports: files that are written, sent, and kept to be resumed. */
  spoolBytes: 8 * 2 ** 30,
  /** How often the disk space of exports is measured while one is written. */
  spoolPollMs: 250,
  /** The `Retry-After` of an export that is refused because too many are written, or because their disk space is used up. */
  exportRetrySeconds: 30,
  /** The largest manifest that is fetched: one of a thousand days has some 3 MB. And the largest `CURRENT`. */
  manifestBytes: 16 * 2 ** 20,
  currentBytes: 1024,
  /** Attempts in a row without progress, after which a transfer fails, and what counts as progress: sources can send a byte now and then. */
  transferAttempts: 5,
  transferProgressBytes: 1024,
  /** The wait after the first failed attempt. */
  transferRetryMs: 250,
  /** Redirects that a web server can answer with, one after another. */
  redirects: 5,
  /** Files above this size are uploaded in parts of it, or of more if they were too many: stores accept 10,000, from 5 MiB on. */
  uploadPartBytes: 32 * 2 ** 20,
  uploadPartsMax: 10_000,
  /** The age at which an upload that has not been completed is one of a killed push. */
  unfinishedUploadMs: 86_400_000,
  /** Defaults of the files that are transferred at once, and of how long a transfer may make no progress. */
  transfers: 4,
  transferStallMs: 30_000,
  /** The default interval between two checks for a new version at the source of a follower. */
  followPollMs: 10_000,
  /** How often a follower begins again because the source has published another version meanwhile. */
  followAttempts: 5,
  /** The `Retry-After` of a request that needs a damaged file. */
  damagedRetrySeconds: 60,
} as const;
