/** The environment variables of the program. A misspelled one would change nothing, silently. */
import { nearestWord } from "../base/nearest-word.ts";
import { printable, UsageError } from "../base/user-error.ts";

const prefix = "CARQUET_";

/** Variables of settings, of the log, of the examples for clients, and of the project's tests. */
const names = new Set(
  (
    "ACCOUNTS ACCOUNT_REQUESTS AUTH CHARGE_FLUSH CONNECTIONS_PER_ADDRESS CORS_ORIGIN DEADLINE DRAIN_DELAY DRAIN_TIMEOUT EXPLORER EXPORTS EXPORT_DEADLINE " +
    "EXPORT_MEMORY HOST LAKE METRICS_PORT OVERDUE_AFTER PHOTOS PORT PRIVATE_WEBHOOKS PUBLIC_URL SPOOL SPOOL_SIZE SQL_DEADLINE " +
    "INGEST_MEMORY METRICS_FOLDER SOURCES COLLAPSED_FEEDS COLLAPSED_MIN_VINS COLLAPSED_SHARE JUMPED_MIN_PRICES JUMPED_SHARE JUMP_FACTOR CURRENCY " +
    "DEALERS MAPPING PRESET MAX_COMPRESSION_RATIO MAX_FILE_SIZE MAX_NESTING MAX_RECORD_SIZE MAX_ROWS MAX_UNCOMPRESSED_SIZE GRACE MONTHS VERSIONS " +
    "FOLLOW_INTERVAL METRICS_FILE S3_ENDPOINT SOURCE STALL_TIMEOUT TRANSFERS LOG_FORMAT LOG_LEVEL KEY URL CPU_SECONDS_MAX PYTHON REAL_CSV TESTS " +
    "USAGE_FOLDER"
  ).split(" "),
);

/** Throws a UsageError for a variable that begins with CARQUET_ and that the program does not know. */
export function checkVariables(variables: readonly string[]): void {
  const unknown = variables.find((name) => name.startsWith(prefix) && !names.has(name.slice(prefix.length)));
  if (unknown === undefined) return;
  // With a shorter prefix, which lets short names differ in two letters, as LAEK does from LAKE.
  const nearest = nearestWord(
    unknown.replace(prefix, "C_"),
    [...names].map((name) => `C_${name}`),
  );
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest.replace("C_", prefix)}?`;
  throw new UsageError(
    `Unknown environment variable ${printable(unknown, 60)}: expected one that docs/configuration.md lists.${hint}`,
  );
}
