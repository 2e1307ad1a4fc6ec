/** Targets of the cases, as peer time / Carquet time, and their table in `bench/README.md`, which `npm run bench:publish` writes. */
import type { PeerName } from "../settings.ts";
import { type Results, ratioIn } from "./results.ts";
import { formatNumber, markdownTable } from "./tables.ts";

type Target = Readonly<Partial<Record<PeerName, number>>>;

/** By the name of a case, or of a throughput measurement. */
const targets: Readonly<Record<string, Target>> = {
  "search: default page": { solr: 0.7, clickhouse: 3 },
  "search: make, model, price": { solr: 0.7, clickhouse: 1.3 },
  "search: state": { solr: 0.7, clickhouse: 3 },
  "search: radius 50": { solr: 0.7, clickhouse: 3 },
  "search: two features": { solr: 0.7, clickhouse: 3 },
  "search: VIN mask": { solr: 0.7, clickhouse: 3 },
  "search: dealer": { solr: 0.7, clickhouse: 3 },
  "search: sold": { clickhouse: 1.3 },
  "search: snapshot": { clickhouse: 1.3 },
  "facets: sidebar, state": { solr: 1 },
  "facets: sidebar, largest state": { solr: 1 },
  "facets: sidebar, make": { solr: 1 },
  "facets: 26 categories, state": { solr: 0.5 },
  "facets: 26 categories, make": { solr: 0.5 },
  "facets: all 30": { solr: 2.4, clickhouse: 3 },
  "facets: all 30, state": { solr: 1, clickhouse: 3 },
  "facets: all 30, largest state": { solr: 1, clickhouse: 3 },
  "facets: all 30, make": { solr: 1, clickhouse: 3 },
  "facets: all 30, radius 50": { clickhouse: 3 },
  "facets: all 30, snapshot": { clickhouse: 1.3 },
  "facets: all 30, sold in 90 days": { clickhouse: 1.3 },
  "facets: median price by make": { clickhouse: 1.3 },
  "facets: p95 price by make": { solr: 4.3, clickhouse: 1.3 },
  "facets: p95 price by make, state": { solr: 1 },
  "details: listing by id": { solr: 0.7 },
  "details: VIN": { solr: 0.7 },
  "8 clients, uncached": { solr: 1, clickhouse: 3 },
};

const targetedPeers = ["solr", "clickhouse"] as const satisfies readonly PeerName[];
const labels = { solr: "Solr", clickhouse: "ClickHouse" } as const;

/** Returns the table of targets with the ratios of some runs. Ratios below their target are bold. */
export function targetsTable(runs: readonly Results[]): string {
  const sizes = runs.map(({ dataset: { listings = 0 } = {} }) => listings.toLocaleString("en"));
  const head = targetedPeers.flatMap((peer) => [`${labels[peer]}: target`, ...sizes]);
  const rows = Object.entries(targets).map(([title, target]) => [
    title,
    ...targetedPeers.flatMap((peer) => [
      formatNumber(target[peer]),
      ...runs.map((run) => ratioCell(ratioIn(run, title, peer), target[peer])),
    ]),
  ]);
  return markdownTable([["case", ...head], ...rows]);
}

function ratioCell(ratio: number | undefined, target: number | undefined): string {
  return target !== undefined && ratio !== undefined && ratio < target
    ? `**${formatNumber(ratio)}**`
    : formatNumber(ratio);
}
