/** How cost grows with the listings: a power of their number, fitted over the runs of several sizes. */
import { peerNames } from "../settings.ts";
import { type Results, valueIn } from "./results.ts";
import { formatNumber, markdownTable } from "./tables.ts";

/** What is fitted, by the name of the measurement, with its unit. */
const costs: readonly (readonly [name: string, unit: string])[] = [
  ...[
    ...["search: default page", "search: make, model, price", "search: state", "search: radius 50"],
    ...[
      "search: two features",
      "search: snapshot",
      "facets: sidebar, state",
      "facets: all 30",
      "facets: all 30, state",
    ],
    ...["facets: median price by make", "details: VIN", "life: start-up to the first answer"],
    ...["life: publish to the first answer", "life: build the serving files"],
  ].map((name) => [name, "ms"] as const),
  ["memory of the service after start", "MiB"],
  ["peak memory of the service", "MiB"],
];

interface Point {
  readonly listings: number;
  readonly cost: number;
}

/** Returns a table of costs by size, with the exponent for each server that was measured in two sizes or more. */
export function growthTable(runs: readonly Results[]): string {
  const sizes = [...new Set(runs.flatMap(({ dataset }) => dataset?.listings ?? []))];
  const servers = ["carquet", ...peerNames].filter((server) =>
    costs.some(([name, unit]) => exponentOf(pointsOf(runs, name, server, unit)) !== undefined),
  );
  const rows = costs.map(([name, unit]) => {
    const own = pointsOf(runs, name, "carquet", unit);
    return [
      `${name}, ${unit}`,
      ...sizes.map((size) => formatNumber(own.findLast(({ listings }) => listings === size)?.cost)),
      ...servers.map((server) => formatNumber(exponentOf(pointsOf(runs, name, server, unit)))),
    ];
  });
  const heads = sizes.map((size) => `carquet, ${size.toLocaleString("en")}`);
  return markdownTable([["cost", ...heads, ...servers.map((server) => `${server}: exponent`)], ...rows]);
}

function pointsOf(runs: readonly Results[], name: string, server: string, unit: string): readonly Point[] {
  return runs.flatMap((run) => {
    const [listings, cost] = [run.dataset?.listings, valueIn(run, { name, server, unit })];
    return listings === undefined || cost === undefined ? [] : [{ listings, cost }];
  });
}

/** Returns the slope of the least-squares line through the logarithms; undefined with fewer than two sizes. */
function exponentOf(points: readonly Point[]): number | undefined {
  const pairs = points.map(({ listings, cost }) => [Math.log(listings), Math.log(cost)] as const);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  const spread = pairs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (pairs.length < 2 || spread === 0) return undefined;
  return pairs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
