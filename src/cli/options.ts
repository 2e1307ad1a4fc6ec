/** Options shared by commands, with their defaults and parsers. Precedence: flag, then environment variable, then default. */
import { Option } from "commander";
import { onlyReplica } from "../accounts/policy/replica.ts";
import { exportMemory } from "../export/limits.ts";
import {
  accountExportsMax,
  connectionsPerAddressMax,
  drainTimeoutMs,
  exportDeadlineMs,
  exportsMax,
  responseCacheBytesMax,
  spoolBytesMax,
} from "../http/limits.ts";
import { defaultFeedLimits } from "../ingest/feed/feed-limits.ts";
import { accountRequestsMax, requestDeadlineMs } from "../operations/limits.ts";
import {
  dayParser,
  integerParser,
  memoryParser,
  parseInteger,
  parseSize,
  replicaParser,
  secondsParser,
  sizeParser,
} from "./option-parsers.ts";

/** Makes an option mandatory and says so in the help. */
export function mandatory(option: Option): Option {
  option.description += " (required)";
  return option.makeOptionMandatory();
}

export const lakeOption = (): Option =>
  new Option("--lake <dir>", "lake folder").env("CARQUET_LAKE").default("data/lake");

export const accountsOption = (): Option =>
  new Option("--accounts <file>", "accounts file, or URL of a PostgreSQL database (postgres://USER@HOST/DATABASE)")
    .env("CARQUET_ACCOUNTS")
    .default("data/accounts.db");

export const jsonOption = (): Option => new Option("--json", "print JSON").default(false);

export const hostOption = (): Option =>
  new Option("--host <host>", "address to listen on").env("CARQUET_HOST").default("127.0.0.1");

export const portOption = (): Option =>
  new Option("--port <port>", "port to listen on; 0 picks a free one")
    .env("CARQUET_PORT")
    .default(8080)
    .argParser(integerParser(65_535));

export const publicUrlOption = (): Option =>
  new Option("--public-url <url>", "URL that clients use, if it differs from the address listened on").env(
    "CARQUET_PUBLIC_URL",
  );

export const tlsCertOption = (): Option =>
  new Option("--tls-cert <file>", "serve HTTPS with this certificate chain (PEM); needs --tls-key");

export const tlsKeyOption = (): Option => new Option("--tls-key <file>", "private key of the certificate (PEM)");

export const trustProxyOption = (): Option =>
  new Option("--trust-proxy [n]", "trust X-Forwarded-For and X-Forwarded-Proto from n proxies")
    .preset("1")
    .argParser(integerParser(10, 1));

export const connectionsPerAddressOption = (): Option =>
  new Option(
    "--connections-per-address <n>",
    "open connections of one client address, at most half of all; 0 for no limit; none with --trust-proxy",
  )
    .env("CARQUET_CONNECTIONS_PER_ADDRESS")
    .default(connectionsPerAddressMax)
    .argParser(integerParser(1_000_000));
export const metricsPortOption = (): Option =>
  new Option(
    "--metrics-port <port>",
    "port for /metrics (Prometheus) and the health checks, on the same address; 0 picks a free one",
  )
    .env("CARQUET_METRICS_PORT")
    .argParser(integerParser(65_535));

export const drainDelayOption = (): Option =>
  new Option(
    "--drain-delay <seconds>",
    "how long a stopping service continues to accept requests, while /readyz answers 503; set it above the interval of a load balancer's health checks",
  )
    .env("CARQUET_DRAIN_DELAY")
    .default(0.5)
    .argParser(secondsParser);

export const drainTimeoutOption = (): Option =>
  new Option("--drain-timeout <seconds>", "how long a stopping service then waits for the requests in flight")
    .env("CARQUET_DRAIN_TIMEOUT")
    .default(drainTimeoutMs / 1000)
    .argParser(secondsParser);

export const threadsOption = (): Option =>
  new Option("--threads <n>", "query engine threads (default: all processors)").argParser(integerParser(1024, 1));

export const memoryOption = (): Option =>
  new Option("--memory <size>", "query engine memory limit, such as 4GiB (default: 80 % of the memory)").argParser(
    memoryParser,
  );

export const responseCacheOption = (): Option =>
  new Option("--response-cache <MiB>", "size of the response cache in memory; 0 turns it off")
    .default(responseCacheBytesMax / 2 ** 20)
    .argParser((text) => parseInteger(text, 0, 1_048_576));

export const overdueAfterOption = (): Option =>
  new Option(
    "--overdue-after <hours>",
    "hours from the beginning of the as-of date after which the next delivery is overdue (/readyz, log, metric); 0 for never",
  )
    .env("CARQUET_OVERDUE_AFTER")
    .default(0)
    .argParser(integerParser(8760));

export const metricsFileOption = (): Option =>
  new Option("--metrics-file <file>", "write metrics of the run to this file (*.prom), for the textfile collector").env(
    "CARQUET_METRICS_FILE",
  );

export const mappingOption = (): Option =>
  new Option("--mapping <file>", "mapping of a CSV with other columns to a feed (schema: schemas/mapping.json)").env(
    "CARQUET_MAPPING",
  );

export const scrubOption = (): Option =>
  new Option(
    "--scrub <MiB>",
    "MiB per hour read in the background to check the lake's files for damage; 0 turns it off",
  )
    .env("CARQUET_SCRUB")
    .default(4096)
    .argParser((text) => parseInteger(text, 0, 1_048_576));

/** Options that earlier releases had. They are accepted and have no effect. */
export const retiredOptions = (): readonly Option[] =>
  ["--past-index-dir <dir>", "--past-index-bytes <size>", "--past-index-requests <n>", "--past-index-days <days>"].map(
    (flags) => new Option(flags).hideHelp(),
  );

export const accountRequestsOption = (): Option =>
  new Option("--account-requests <n>", "requests of one account in progress at once; more are refused with 429")
    .env("CARQUET_ACCOUNT_REQUESTS")
    .default(accountRequestsMax)
    .argParser(integerParser(10_000, 1));

export const replicaOption = (): Option =>
  new Option(
    "--replica <k/n>",
    "this is the k-th of n services that share the accounts; it grants one n-th of the limits of accounts and client addresses",
  )
    .env("CARQUET_REPLICA")
    .default(onlyReplica, "1/1")
    .argParser(replicaParser);

export const deadlineOption = (): Option =>
  new Option("--deadline <seconds>", "time from a request's arrival to its response; then it is refused with 504")
    .env("CARQUET_DEADLINE")
    .default(requestDeadlineMs / 1000)
    .argParser(integerParser(600, 1));

/** The limits of exports over HTTP. */
export const exportOptions = (): readonly Option[] => [
  new Option("--exports <n>", "exports that are written at once; more are refused with 503")
    .env("CARQUET_EXPORTS")
    .default(exportsMax)
    .argParser(integerParser(100, 1)),
  new Option("--account-exports <n>", "exports of one account in progress at once, until the last byte is sent")
    .env("CARQUET_ACCOUNT_EXPORTS")
    .default(accountExportsMax)
    .argParser(integerParser(1000, 1)),
  new Option("--export-deadline <seconds>", "time for an export to be written, and again for it to be sent")
    .env("CARQUET_EXPORT_DEADLINE")
    .default(exportDeadlineMs / 1000)
    .argParser(integerParser(86_400, 1)),
  new Option("--export-memory <size>", "memory limit of the query engine of each export")
    .env("CARQUET_EXPORT_MEMORY")
    .default(exportMemory)
    .argParser(memoryParser),
  new Option("--spool <dir>", "folder for the files of exports (default: the system's temporary folder)").env(
    "CARQUET_SPOOL",
  ),
  new Option("--spool-size <size>", "most disk space of the files of exports, also while they are written")
    .env("CARQUET_SPOOL_SIZE")
    .default(spoolBytesMax, "8GiB")
    .argParser(sizeParser),
];

/** The values of `exportOptions`. */
export interface ExportLimitSettings {
  readonly exports: number;
  readonly accountExports: number;
  readonly exportDeadline: number;
  readonly exportMemory: string;
  readonly spool?: string;
  readonly spoolSize: number;
}

/** The former name of `--response-cache`. */
export const answersOption = (): Option =>
  new OptionAlias("--answers <MiB>", responseCacheOption()).argParser((text) => parseInteger(text, 0, 1_048_576));

/** An additional name of an option: sets the same value, and is absent from the help. */
class OptionAlias extends Option {
  constructor(
    flags: string,
    private readonly target: Option,
  ) {
    super(flags);
    this.hideHelp();
  }

  override attributeName(): string {
    return this.target.attributeName();
  }
}

/** The limits of feed files. */
export const feedLimitOptions = (): readonly Option[] => [
  new Option("--max-file-size <size>", "largest feed file, as stored")
    .env("CARQUET_MAX_FILE_SIZE")
    .default(defaultFeedLimits.fileBytes, "2GiB")
    .argParser(sizeParser),
  new Option("--max-uncompressed-size <size>", "largest feed file, uncompressed")
    .env("CARQUET_MAX_UNCOMPRESSED_SIZE")
    .default(defaultFeedLimits.uncompressedBytes, "8GiB")
    .argParser(sizeParser),
  new Option("--max-compression-ratio <n>", "most uncompressed bytes of a feed file for each stored byte")
    .env("CARQUET_MAX_COMPRESSION_RATIO")
    .default(defaultFeedLimits.compressionRatio)
    .argParser(integerParser(1_000_000, 1)),
  new Option("--max-rows <n>", "most rows of a feed file")
    .env("CARQUET_MAX_ROWS")
    .default(defaultFeedLimits.rows)
    .argParser(integerParser(1_000_000_000, 1)),
  new Option("--max-record-size <size>", "largest row of a feed file, from 1KiB to 16MiB")
    .env("CARQUET_MAX_RECORD_SIZE")
    .default(defaultFeedLimits.recordBytes, "256KiB")
    .argParser((text) => parseSize(text, 2 ** 10, 2 ** 24)),
  new Option("--max-nesting <n>", "greatest depth of arrays and objects in a row of NDJSON; the row itself counts 1")
    .env("CARQUET_MAX_NESTING")
    .default(defaultFeedLimits.nesting)
    .argParser(integerParser(1000, 1)),
];

/** The values of `feedLimitOptions`. */
export interface FeedLimitSettings {
  readonly maxFileSize: number;
  readonly maxUncompressedSize: number;
  readonly maxCompressionRatio: number;
  readonly maxRows: number;
  readonly maxRecordSize: number;
  readonly maxNesting: number;
}

export const sqlHistoryOption = (): Option =>
  new Option(
    "--history <file>",
    "file that keeps the shell's history, or none (default: sql_history in the folder carquet of $XDG_STATE_HOME, else of ~/.local/state)",
  ).env("CARQUET_SQL_HISTORY");

export const dayOption = (): Option => new Option("--day <YYYY-MM-DD>", "day of the delivery").argParser(dayParser);

export const replayOption = (): Option =>
  new Option(
    "--replay-from <YYYY-MM-DD>",
    "discard this day and all later ones, then ingest them again; needs the folders of all of them",
  ).argParser(dayParser);

/** The options of the query engine. */
export interface EngineSettings {
  readonly threads?: number;
  readonly memory?: string;
}

/** Converts the command-line options of the query engine to the options of `DuckDatabase`. */
export function engineOptions({ threads, memory }: EngineSettings): { threads?: number; memoryLimit?: string } {
  return {
    ...(threads === undefined ? {} : { threads }),
    ...(memory === undefined ? {} : { memoryLimit: memory }),
  };
}
