/**
 * The test files that run on every version of Node.js (`npm test -- compatibility`): those of native modules (DuckDB, SQLite, LZ4), HTTP, TLS, streams,
 * worker threads, processes, signals, files and the command line, one of each kind. What is computed or asked of an engine does not depend on the
 * version of Node.js.
 */
export const compatibilityFiles = [
  "accounts/ledger",
  "cli/output",
  "cli/program",
  "db/session-pool",
  "db/sqlite",
  "http/operations/document",
  "http/shutdown",
  "http/tls",
  "ingest/formats",
  "mcp/agents",
  "web/shell",
];
