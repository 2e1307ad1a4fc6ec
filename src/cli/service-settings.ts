/** Settings of the service: of `serve` and `start`. */
import { exportMemory } from "../export/limits.ts";
import {
  connectionsPerAddressMax,
  drainTimeoutMs,
  exportDeadlineMs,
  exportsMax,
  responseCacheBytesMax,
  spoolBytesMax,
} from "../http/limits.ts";
import { chargeFlushes } from "../http/service/service-state.ts";
import { accountRequestsMax, requestDeadlineMs } from "../operations/caller.ts";
import {
  hostParser,
  integerParser,
  inUnits,
  memoryParser,
  originsParser,
  secondsParser,
  sizeParser,
} from "./option-parsers.ts";
import { type SettingRows, sharedSettings, type ValuesOf } from "./settings.ts";

// biome-ignore format: a table is read by its columns
export const serviceSettings = {
  ...sharedSettings("lake", "accounts"),
  chargeFlush: { flags: "--charge-flush <mode>", env: "CARQUET_CHARGE_FLUSH", choices: chargeFlushes, default: "interval",
    help: "when charges are written to disk: within 100 ms (interval), of which a loss of power takes those of the last 100 ms, or each before its request is answered" },
  host: { flags: "--host <host>", env: "CARQUET_HOST", default: "127.0.0.1", parse: hostParser, help: "address to listen on" },
  ...sharedSettings("port", "publicUrl"),
  corsOrigins: { flags: "--cors-origin <origin>", env: "CARQUET_CORS_ORIGIN", default: [], shownDefault: "none", parse: originsParser,
    help: "origins whose pages may call the API and the agent server, separated by commas or repeated; * for any, with an API key" },
  auth: { flags: "--auth <mode>", env: "CARQUET_AUTH", choices: ["keys", "off"], default: "keys",
    help: "off: no keys, accounts and charges, for one's own machine or network; needs a --host that is one address" },
  explorer: { flags: "--explorer <mode>", env: "CARQUET_EXPLORER", choices: ["charged", "free"], default: "charged",
    help: "free: pages of the explorer charge nothing to the accounts that are signed in" },
  privateWebhooks: { flags: "--private-webhooks", env: "CARQUET_PRIVATE_WEBHOOKS",
    help: "let webhooks of saved searches have any address, also without TLS or in the service's own network" },
  photos: { flags: "--photos <mode>", env: "CARQUET_PHOTOS", choices: ["off", "direct"], default: "off",
    help: "photos of dealers on the pages: direct from their hosts, which learn who looks; off draws the cars" },
  tlsCert: { flags: "--tls-cert <file>", help: "serve HTTPS with this certificate chain (PEM); needs --tls-key" },
  tlsKey: { flags: "--tls-key <file>", help: "private key of the certificate (PEM)" },
  trustedProxies: { flags: "--trust-proxy [n]", preset: "1", parse: integerParser(10, 1),
    help: "trust X-Forwarded-For and X-Forwarded-Proto from n proxies" },
  connectionsPerAddress: { flags: "--connections-per-address <n>", env: "CARQUET_CONNECTIONS_PER_ADDRESS",
    default: connectionsPerAddressMax, parse: integerParser(1_000_000),
    help: "open connections of one client address, at most half of all; 0 for no limit; none with --trust-proxy" },
  drainDelayMs: { flags: "--drain-delay <seconds>", env: "CARQUET_DRAIN_DELAY", ...inUnits(1000, 0.5, secondsParser),
    help: "how long a stopping service continues to accept requests, while /readyz answers 503; set it above the interval of a load balancer's health checks" },
  drainTimeoutMs: { flags: "--drain-timeout <seconds>", env: "CARQUET_DRAIN_TIMEOUT", ...inUnits(1000, drainTimeoutMs / 1000, secondsParser),
    help: "how long a stopping service then waits for the requests in flight" },
  metricsPort: { flags: "--metrics-port <port>", env: "CARQUET_METRICS_PORT", parse: integerParser(65_535),
    help: "port for /metrics (Prometheus) and the health checks, on the same address; 0 picks a free one" },
  overdueMs: { flags: "--overdue-after <hours>", env: "CARQUET_OVERDUE_AFTER", parse: inUnits(3_600_000, 0, integerParser(8760)).parse,
    help: "hours from the beginning of the as-of date after which the next delivery is overdue (/readyz, log, metric, pages); 0 for never " +
      "(default: 12 hours later than the published days let expect)" },
  ...sharedSettings("threads", "memoryLimit"),
  responseCacheBytes: { flags: "--response-cache <MiB>", ...inUnits(2 ** 20, responseCacheBytesMax / 2 ** 20, integerParser(1_048_576)),
    help: "size of the response cache in memory; 0 turns it off" },
  accountRequests: { flags: "--account-requests <n>", env: "CARQUET_ACCOUNT_REQUESTS", default: accountRequestsMax, parse: integerParser(10_000, 1),
    help: "requests of one account in progress at once; more are refused with 429" },
  deadlineMs: { flags: "--deadline <seconds>", env: "CARQUET_DEADLINE", ...inUnits(1000, requestDeadlineMs / 1000, integerParser(600, 1)),
    help: "time from a request's arrival to its response; then it is refused with 504" },
  writtenExports: { flags: "--exports <n>", env: "CARQUET_EXPORTS", default: exportsMax, parse: integerParser(100, 1),
    help: "exports that are written at once; more wait, fairly by account" },
  exportDeadlineMs: { flags: "--export-deadline <seconds>", env: "CARQUET_EXPORT_DEADLINE",
    ...inUnits(1000, exportDeadlineMs / 1000, integerParser(86_400, 1)),
    help: "time for an export to be written, and again for it to be sent" },
  exportMemory: { flags: "--export-memory <size>", env: "CARQUET_EXPORT_MEMORY", default: exportMemory, parse: memoryParser,
    help: "memory limit of the query engine of each export" },
  spool: { flags: "--spool <dir>", env: "CARQUET_SPOOL",
    help: "folder for the files of exports (default: the system's temporary folder)" },
  spoolBytes: { flags: "--spool-size <size>", env: "CARQUET_SPOOL_SIZE", default: spoolBytesMax, shownDefault: "8GiB",
    parse: sizeParser("16MiB", "16TiB", "8GiB"),
    help: "most disk space of the files of exports, also while they are written" },
  sqlDeadlineMs: { flags: "--sql-deadline <seconds>", env: "CARQUET_SQL_DEADLINE", ...inUnits(1000, 0, integerParser(3600)),
    help: "time for the statements of a request to /v1/sql, each with the memory of an export; 0 turns /v1/sql off" },
} as const satisfies SettingRows;

export type ServiceValues = ValuesOf<typeof serviceSettings>;
