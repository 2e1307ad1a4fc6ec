/**
 * The folders of `src/`: layer, budget of lines, contents. `test/tidy.test.ts` enforces the first two, and the table in `docs/architecture.md` is
 * generated from them.
 */

export interface Folder {
  /** A folder imports only from folders of lower layers. */
  readonly layer: number;
  /** Lines of TypeScript and CSS, without generated files. A change that needs more takes them from elsewhere, or raises the budget and says why. */
  readonly linesMax: number;
  readonly contents: string;
}

// biome-ignore format: a table is read by its columns
export const folders: Readonly<Record<string, Folder>> = {
  "main.ts": { layer: 12, linesMax: 40, contents: "runs a command; prints its error" },
  cli: { layer: 11, linesMax: 3973, contents: "`program.ts`, the table of commands; `commands/`, one file each; settings" },
  web: { layer: 10, linesMax: 18526, contents: "the web application: `site.ts` has the routes; pages by subject; `client/` runs in browsers, `styles/`" },
  mcp: { layer: 10, linesMax: 1934, contents: "the agent server: tools derived from operations, over HTTP and standard input" },
  http: { layer: 9, linesMax: 4805, contents: "`server.ts` has the steps of every request, `pipeline.ts` those of an operation; exports, OAuth, webhooks" },
  operations: { layer: 8, linesMax: 1146, contents: "an operation as a function: `answer.ts` limits, validates, holds, computes and charges; endpoints" },
  export: { layer: 8, linesMax: 428, contents: "all listings of a search as a file" },
  demo: { layer: 8, linesMax: 2029, contents: "the generated market and the truth about it" },
  sources: { layer: 8, linesMax: 983, contents: "feeds from elsewhere: the sources file, connecting, fetching, a day's way into the queue" },
  ingest: { layer: 7, linesMax: 8687, contents: "feeds to a version: `feed/` reads files, `normalize/` parses values, `dimensions/` assigns keys, `lifecycle/` decides states" },
  query: { layer: 7, linesMax: 6761, contents: "request to plan to rows: filters, pages, facets, look-ups, trends, values, evidence, suggestions" },
  accounts: { layer: 7, linesMax: 4831, contents: "keys, ledger, policy, sign-in; the accounts file and PostgreSQL" },
  replication: { layer: 7, linesMax: 665, contents: "a lake kept equal to a published one: the follower, push" },
  serving: { layer: 6, linesMax: 5959, contents: "one open version: dimensions, search index, row store" },
  valuation: { layer: 5, linesMax: 645, contents: "the fit of prices that a publish stores" },
  lake: { layer: 4, linesMax: 3645, contents: "tables, manifests, views; the writer; verify and vacuum; Iceberg metadata" },
  listing: { layer: 3, linesMax: 1350, contents: "the model of a listing: attributes, filters, sorts, rules and numbers of its lifecycle" },
  connectors: { layer: 3, linesMax: 1145, contents: "where feeds are fetched from, and lakes are read from and pushed to: a folder, HTTPS, SFTP, FTP, a bucket" },
  formats: { layer: 3, linesMax: 691, contents: "tables of rows as Arrow, Parquet, CSV and NDJSON" },
  db: { layer: 2, linesMax: 2271, contents: "DuckDB, SQLite, PostgreSQL, the `sql` tag, engine faults" },
  contract: { layer: 1, linesMax: 1409, contents: "the OpenAPI document and what derives from it: decoding, types, errors; `build/` is the generator" },
  base: { layer: 0, linesMax: 974, contents: "files, days, JSON, threads, turns of the event loop: knows neither vehicles nor HTTP" },
};
